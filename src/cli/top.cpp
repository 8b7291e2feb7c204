// loft top: every core, live.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/metric_library.hpp"
#include "cli/source_flag.hpp"
#include "event/resolver.hpp"
#include "machine/file.hpp"
#include "metric/request.hpp"
#include "model/roofline.hpp"
#include "source/choice/sources.hpp"
#include "source/perf_events/open.hpp"
#include "top/frame_text.hpp"
#include "top/msr_counters.hpp"
#include "top/session.hpp"

namespace loft::cli {
namespace {

// What is counted when nothing is asked for: what the kernel counts, and what hardware does where
// there are counters.
constexpr std::string_view kDefaultEvents = "context-switches,cpu-migrations,page-faults";
constexpr std::string_view kDefaultHardware = ",cycles,instructions,branch-misses,IPC";

constexpr std::string_view kRegisters = "msr";  // a source of this command alone

struct TopFlags {
  std::vector<std::string> events;
  std::string cores;
  int monitor_cpu = -1;
  double interval_ms = 1000;
  std::uint64_t samples = 0;
  bool batch = false;
  std::string format = "table";
  std::string control;
  std::string send;
  int to = 0;
  std::string listen;
  bool is_public = false;
  SourceFlag source;
  std::string record;
  MetricFlags metrics;
};

std::string events_of(const TopFlags& flags) {
  if (!flags.events.empty()) return join(flags.events, ",");
  std::string events(kDefaultEvents);
  if (source::perf_events::has_core_pmu()) events += kDefaultHardware;
  return events;
}

Result<CpuList> chosen_cores(const TopFlags& flags) {
  LOFT_TRY(const CpuList online, online_cpus());
  if (flags.cores.empty()) return online;
  LOFT_TRY(const CpuList wanted, parse_cpu_list(flags.cores));
  for (const int cpu : wanted)
    if (!std::ranges::binary_search(online, cpu))
      return failure(ErrorKind::invalid_input, fmt::format("watch CPU {}", cpu), "it is not online",
                     "CPUs online here: " + format_cpu_list(online));
  return wanted;
}

Result<std::optional<top::ListenAddress>> chosen_address(const TopFlags& flags) {
  if (flags.listen.empty()) return std::nullopt;
  LOFT_TRY(auto address, top::parse_listen_address(flags.listen));
  if (!address.is_loopback() && !flags.is_public)
    return failure(ErrorKind::invalid_input, "listen on '" + flags.listen + "'",
                   "other machines could read along there", "add --public if they shall");
  return address;
}

// One core's roofs, where this machine has been measured.
void add_roofline(top::ScreenOptions& screen, const TopFlags& flags) {
  const auto machine = machine::load(flags.metrics.machine);
  if (machine)
    screen.roofline = model::roofline_of(*machine, {.threads = 1});
  else
    screen.why_no_roofline = to_string(machine.error());
}

// Prints samples as they come.
class BatchPrinter {
 public:
  BatchPrinter(std::string format, Terminal& terminal)
      : format_(std::move(format)), terminal_(terminal) {
    if (format_ == "csv") terminal_.print(top::csv_header());
  }

  // Whether the other side still reads.
  bool print(const top::Frame& frame) {
    if (format_ == "none") return true;
    if (format_ == "table" && frame.number == 1)
      for (const std::string& note : top::missing_notes(frame))
        terminal_.note("note: " + note + "\n");
    terminal_.print(format_ == "json"  ? top::frame_json(frame)
                    : format_ == "csv" ? top::frame_csv(frame)
                                       : table_.rows(frame));
    return terminal_.flush();
  }

 private:
  std::string format_;
  Terminal& terminal_;
  top::FrameTable table_;
};

Result<int> send_change(const TopFlags& flags) {
  LOFT_CHECK(top::send_request({flags.cores, flags.send},
                               flags.to > 0 ? std::optional<pid_t>(flags.to) : std::nullopt));
  return 0;
}

// Without those who look up names and take samples.
Result<top::SessionOptions> session_options(const TopFlags& flags) {
  top::SessionOptions options;
  LOFT_TRY(options.monitor.cores, chosen_cores(flags));
  LOFT_TRY(options.listen, chosen_address(flags));
  options.monitor.cpu = flags.monitor_cpu;
  options.monitor.interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags.interval_ms * 1e6));
  options.events = events_of(flags);
  options.samples = flags.samples;
  options.control_folder = flags.control;
  if (!flags.record.empty())
    options.recording.emplace(flags.record, LOFT_VERSION, std::vector<std::string>{"loft", "top"});
  if (flags.source.word == kRegisters)
    options.monitor.open = [](metric::Request request, int cpu) {
      return top::open_by_registers(std::move(request), cpu);
    };
  if (!flags.batch || options.listen) add_roofline(options.screen, flags);
  return options;
}

Result<int> run_top(const TopFlags& flags, Terminal& terminal) {
  if (!flags.send.empty()) return send_change(flags);
  if (flags.source.is_virtual())
    return failure(ErrorKind::unsupported, "watch cores with the virtual PMU",
                   "it counts programs that loft starts, not cores", "leave out --source virtual");
  LOFT_TRY(auto options, session_options(flags));
  event::Resolver resolver(source::known_names());
  // What metric files complain about must not be printed over the live screen: read them first.
  std::optional<metric::Library> library;
  if (!flags.batch) {
    LOFT_TRY(library, load_metrics(flags.metrics, terminal));
  }
  options.read_names = [&](const std::string& events) {
    return library ? metric::read_request({events}, resolver, *library)
                   : metric::read_request({events}, resolver,
                                          [&] { return load_metrics(flags.metrics, terminal); });
  };
  options.note = [&](const std::string& text) {
    terminal.note("note: " + text + "\n");
    (void)terminal.flush();  // a failure shows again at the end
  };
  BatchPrinter printer(flags.batch ? flags.format : "none", terminal);
  if (flags.batch) options.on_frame = [&](const top::Frame& frame) { return printer.print(frame); };
  top::Session session(std::move(options));
  LOFT_CHECK(session.run());
  return 0;
}

void add_flags(Command& command, TopFlags& flags) {
  command.add_flag("--batch", flags.batch, "print samples instead of showing a live screen");
  command.add_option("-n,--samples", flags.samples, "end after so many samples")
      ->check(between(1, 1'000'000'000));
  command.add_option("-i,--interval", flags.interval_ms, "milliseconds between samples")
      ->check(between(1.0, 1e9))
      ->capture_default_str();
  command
      .add_option("-e,--event", flags.events,
                  "events, event sets or metrics, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  command.add_option("-C,--cores", flags.cores, "these CPUs alone (0-3,8)");
  command
      .add_option("--monitor-cpu", flags.monitor_cpu,
                  "where loft itself runs between readings (the last of the cores)")
      ->check(between(0, 65535));
  command.add_option("--format", flags.format, "form of the samples: table, csv, json or none")
      ->check(one_of({"table", "csv", "json", "none"}))
      ->capture_default_str();
  add_source_flag(command, flags.source, "who counts (msr: the core's registers, as root)",
                  {std::string(kRegisters)});
  command.add_option("--record", flags.record,
                     "also write a perf.data in which each core is a thread");
  command.add_option("--control", flags.control,
                     "a folder with a file for each core (cpu0, ...) that says what it counts");
  command.add_option("--send", flags.send,
                     "have a running loft top count these events, on --cores or all");
  command.add_option("--to", flags.to, "with --send: the process, where several run")
      ->check(between(1, 1 << 30));
  command.add_option("--listen", flags.listen,
                     "serve a page and metrics for Prometheus at this ADDRESS:PORT");
  command.add_flag("--public", flags.is_public, "with --listen: other machines may read, too");
}

}  // namespace

void add_top(Command& app, Action& action) {
  auto flags = std::make_shared<TopFlags>();
  auto command = app.add_subcommand("top", "Watch every core, live: rates, metrics, watts");
  add_flags(*command, *flags);
  add_metric_flags(*command, flags->metrics);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_top(*flags, terminal); };
  });
}

}  // namespace loft::cli
