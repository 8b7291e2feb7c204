// loft top: every core, live.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/metric_library.hpp"
#include "event/resolver.hpp"
#include "metric/request.hpp"
#include "source/choice/sources.hpp"
#include "source/perf_events/open.hpp"
#include "top/frame_text.hpp"
#include "top/monitor.hpp"

namespace loft::cli {
namespace {

// What is counted when nothing is asked for: what the kernel counts, and what hardware does where
// there are counters.
constexpr std::string_view kDefaultEvents = "context-switches,cpu-migrations,page-faults";
constexpr std::string_view kDefaultHardware = ",cycles,instructions,branch-misses,IPC";

struct TopFlags {
  std::vector<std::string> events;
  std::string cores;
  int monitor_cpu = -1;
  double interval_ms = 1000;
  std::uint64_t samples = 0;
  bool batch = false;
  std::string format = "table";
  MetricFlags metrics;
};

// Names are looked up once when monitoring begins, and for each change.
class Names {
 public:
  Names(const TopFlags& flags, Terminal& terminal)
      : flags_(flags), terminal_(terminal), resolver_(source::known_names()) {}

  Result<metric::Request> read(const std::vector<std::string>& lists) {
    return metric::read_request(lists, resolver_,
                                [&] { return load_metrics(flags_.metrics, terminal_); });
  }

  Result<metric::Request> read_flags() {
    if (!flags_.events.empty()) return read(flags_.events);
    std::string list(kDefaultEvents);
    if (source::perf_events::has_core_pmu()) list += kDefaultHardware;
    return read({list});
  }

 private:
  const TopFlags& flags_;
  Terminal& terminal_;
  event::Resolver resolver_;
};

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

// Prints samples as they come.
class BatchPrinter {
 public:
  BatchPrinter(std::string format, Terminal& terminal)
      : format_(std::move(format)), terminal_(terminal) {
    if (format_ == "csv") terminal_.print(top::csv_header());
  }

  // Whether the other side still reads.
  bool print(const top::Frame& frame) {
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

Result<int> run_top(const TopFlags& flags, Terminal& terminal) {
  LOFT_TRY(const CpuList cores, chosen_cores(flags));
  Names names(flags, terminal);
  LOFT_TRY(const metric::Request request, names.read_flags());
  const auto interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags.interval_ms * 1e6));
  LOFT_TRY(auto monitor,
           top::Monitor::start({.cores = cores, .cpu = flags.monitor_cpu, .interval = interval},
                               request));
  BatchPrinter printer(flags.format, terminal);
  LOFT_CHECK(monitor.run({.samples = flags.samples,
                          .on_frame = [&](const top::Frame& f) { return printer.print(f); }}));
  return 0;
}

}  // namespace

void add_top(Command& app, Action& action) {
  auto flags = std::make_shared<TopFlags>();
  auto command = app.add_subcommand("top", "Watch every core, live: rates, metrics, watts");
  command->add_flag("--batch", flags->batch, "print samples instead of showing a live screen");
  command->add_option("-n,--samples", flags->samples, "end after so many samples")
      ->check(between(1, 1'000'000'000));
  command->add_option("-i,--interval", flags->interval_ms, "milliseconds between samples")
      ->check(between(1.0, 1e9))
      ->capture_default_str();
  command
      ->add_option("-e,--event", flags->events,
                   "events, event sets or metrics, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  command->add_option("-C,--cores", flags->cores, "these CPUs alone (0-3,8)");
  command
      ->add_option("--monitor-cpu", flags->monitor_cpu,
                   "where loft itself runs between readings (the last of the cores)")
      ->check(between(0, 65535));
  command->add_option("--format", flags->format, "form of the samples: table, csv or json")
      ->check(one_of({"table", "csv", "json"}))
      ->capture_default_str();
  add_metric_flags(*command, flags->metrics);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_top(*flags, terminal); };
  });
}

}  // namespace loft::cli
