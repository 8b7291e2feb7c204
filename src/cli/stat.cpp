// loft stat: run a program, or watch one, and count.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "metric/evaluation.hpp"
#include "metric/run_counts.hpp"
#include "sample/repeat.hpp"
#include "source/perf_events/counting.hpp"
#include "source/perf_events/open.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"
#include "view/stat.hpp"

namespace loft::cli {
namespace {

// What is counted when nothing is asked for.
constexpr std::string_view kDefaultEvents =
    "task-clock,context-switches,cpu-migrations,page-faults,"
    "cycles,instructions,branches,branch-misses";

constexpr std::string_view kDefaultVirtualEvents =
    "instructions,branches,branches_taken,loads,stores,load_bytes,store_bytes,"
    "flops_sp,flops_dp,syscalls";

struct StatFlags {
  std::string source;
  std::vector<std::string> events;
  std::vector<pid_t> pids;
  std::vector<std::string> command;
  std::string cpus;
  double interval_ms = 0;
  unsigned repeat = 1;
  bool per_thread = false;
  bool per_core = false;
  bool whole_machine = false;
  std::string region;
  std::string by;  // "function" or "block"
  MetricFlags metrics;
  OutputFlags output;
};

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "count", std::move(why), std::move(hint));
}

Result<void> check(const StatFlags& flags) {
  if (flags.command.empty() && flags.pids.empty() && !flags.whole_machine)
    return usage(
        "there is nothing to count",
        "give a program (loft stat -- ./app), a process (-p PID) or the machine (--system)");
  if (flags.whole_machine && !flags.pids.empty())
    return usage("--system and -p exclude each other", "leave one of them out");
  if (flags.per_thread && flags.whole_machine)
    return usage("threads cannot be told apart on whole CPUs",
                 "count a program or a process with --per-thread");
  if (flags.repeat > 1 && (flags.command.empty() || !flags.pids.empty()))
    return usage("only a program that loft starts can be repeated", "leave out -r");
  if (flags.repeat > 1 && (flags.interval_ms > 0 || flags.per_thread || flags.per_core))
    return usage("-r gives means of whole runs",
                 "leave out -I, --per-thread and --per-core, or -r");
  if (!flags.by.empty() && (flags.per_core || flags.interval_ms > 0 || flags.repeat > 1))
    return usage("--by shows the parts of one whole run",
                 "leave out --per-core, -I and -r, or --by");
  if (flags.by == "block" && flags.per_thread)
    return usage("blocks are counted over all threads",
                 "leave out --per-thread, or use --by function");
  if ((!flags.by.empty() || !flags.region.empty()) && flags.source == "perf_events")
    return usage("hardware counters know CPUs and threads, not functions",
                 "use --source virtual, or sample with loft record and loft report");
  if (flags.per_thread && flags.interval_ms > 0 && flags.pids.empty())
    return usage("the threads of a started program are known when they end, not per interval",
                 "leave out -I or --per-thread, or attach with -p");
  return {};
}

Result<std::vector<source::EventGroup>> groups_of(const std::vector<event::Event>& events) {
  LOFT_TRY(const event::Plan plan, event::plan_groups(events, event::Counters{}));
  std::vector<source::EventGroup> groups;
  for (const event::PlannedGroup& group : plan.groups)
    groups.push_back({group.members, events[group.members.front()].group != 0});
  return groups;
}

bool all_virtual(const std::vector<event::Event>& events) {
  return std::ranges::all_of(events,
                             [](const auto& event) { return event.encoding.pmu == "virtual"; });
}

// Who counts, when nobody was asked for by name: the virtual PMU, where there are no hardware
// counters and it has every event of the list.
struct Chosen {
  bool is_virtual = false;
  std::string note;
};

Chosen choose_source(const StatFlags& flags) {
  if (!flags.source.empty()) return {flags.source == "virtual", ""};
  if (!flags.region.empty()) return {true, "regions are counted by the virtual PMU, in user mode"};
  if (!flags.by.empty())
    return {true, "counts per " + flags.by + " come from the virtual PMU, in user mode"};
  if (flags.events.empty() || !flags.pids.empty() || flags.whole_machine) return {};
  const auto events = event::Resolver(known_names(true)).resolve_list(join(flags.events, ","));
  if (!events || !all_virtual(*events)) return {};
  const bool by_name = std::ranges::all_of(
      *events, [](const auto& event) { return event.name.starts_with(event::kVirtualPrefix); });
  if (by_name) return {true, ""};
  if (source::perf_events::has_core_pmu()) return {};
  return {true, "this machine has no hardware counters: the virtual PMU counted, in user mode"};
}

// What -e names: events to count, and metrics to compute from them.
struct Asked {
  std::string events;
  std::vector<metric::Program> programs;
  std::vector<std::pair<std::string, std::string>> missing;  // events of metrics, and why
};

// A list that names only events needs no metric file to be read.
Result<Asked> read_names(const StatFlags& flags, bool is_virtual, event::Resolver& resolver,
                         Terminal& terminal) {
  Asked asked;
  const std::string_view defaults = is_virtual ? kDefaultVirtualEvents : kDefaultEvents;
  asked.events = flags.events.empty() ? std::string(defaults) : join(flags.events, ",");
  if (flags.metrics.files.empty() && resolver.resolve_list(asked.events)) return asked;
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  const auto available = available_events(resolver);
  NamedMetrics named = split_metrics(flags.events, library, available);
  LOFT_TRY(asked.programs, metric::compile_all(library, named.metrics, available));
  for (const std::string& name : metric::needs(asked.programs)) {
    if (const auto events = resolver.resolve_list(name)) {
      if (std::ranges::find(named.events, name) == named.events.end()) named.events.push_back(name);
    } else {
      asked.missing.emplace_back(name, events.error().why);
    }
  }
  // Metrics of which nothing can be counted still have a time, and say what they lack.
  const std::string least = is_virtual ? "instructions" : "task-clock";
  asked.events = named.events.empty() ? least : join(named.events, ",");
  return asked;
}

std::vector<metric::Evaluated> evaluate(const Asked& asked, const sample::RunCounts& run) {
  metric::CountSet counts = metric::counts_of(run);
  for (const auto& [name, why] : asked.missing) counts.add(name, metric::Quantity::missing(why));
  return metric::evaluate_all(asked.programs, counts, metric::spread_of(run));
}

source::Split split_of(const StatFlags& flags) {
  if (flags.by == "block") return source::Split::blocks;
  if (flags.by == "function")
    return flags.per_thread ? source::Split::thread_functions : source::Split::functions;
  if (flags.per_thread) return source::Split::threads;
  return flags.per_core ? source::Split::cpus : source::Split::none;
}

Result<source::CountRequest> make_request(const StatFlags& flags, const Asked& asked,
                                          event::Resolver& resolver) {
  source::CountRequest request;
  LOFT_TRY(request.events, resolver.resolve_list(asked.events));
  LOFT_TRY(request.groups, groups_of(request.events));
  request.command = flags.command;
  request.pids = flags.pids;
  request.whole_machine = flags.whole_machine;
  if (!flags.cpus.empty()) {
    LOFT_TRY(request.cpus, parse_cpu_list(flags.cpus));
  }
  request.region = flags.region;
  request.split = split_of(flags);
  return request;
}

Result<sample::RunCounts> count_once(const source::CountRequest& request, bool is_virtual,
                                     const StatFlags& flags, Format format, Terminal& terminal) {
  LOFT_TRY(const auto run, is_virtual ? source::virtual_pmu::prepare(request)
                                      : source::perf_events::prepare(request));
  source::WatchOptions options;
  if (flags.interval_ms > 0)
    options.interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags.interval_ms * 1e6));
  if (format == Format::text && flags.output.file.empty()) {
    sample::RunCounts frame;
    for (const event::Event& event : run->events())
      frame.events.push_back({event.name, event.origin, event.unit, event.scale});
    options.on_interval = [frame, &terminal](const sample::IntervalCounts& interval) {
      terminal.note(view::interval_text(frame, interval));
      (void)terminal.flush();  // a failure shows again at the end
    };
  }
  return source::watch(*run, request, options);
}

Result<int> run_stat(const StatFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_CHECK(check(flags));
  const Chosen chosen = choose_source(flags);
  event::Resolver resolver(known_names(chosen.is_virtual));
  LOFT_TRY(const auto asked, read_names(flags, chosen.is_virtual, resolver, terminal));
  LOFT_TRY(const auto request, make_request(flags, asked, resolver));
  std::vector<sample::RunCounts> runs;
  for (unsigned i = 0; i < flags.repeat; ++i) {
    LOFT_TRY(runs.emplace_back(), count_once(request, chosen.is_virtual, flags, format, terminal));
  }
  sample::RunCounts result = sample::merge_runs(std::move(runs));
  if (!chosen.note.empty()) result.notes.push_back(chosen.note);
  const auto metrics = evaluate(asked, result);
  const std::string text = format == Format::json  ? view::stat_json(result, metrics)
                           : format == Format::csv ? view::stat_csv(result, metrics)
                                                   : view::stat_text(result, metrics);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  return result.exit_status;
}

}  // namespace

void add_stat(CLI::App& app, Action& action) {
  auto flags = std::make_shared<StatFlags>();
  auto* command = app.add_subcommand("stat", "Run a program, or watch one, and count events");
  command
      ->add_option("-e,--event", flags->events,
                   "events, event sets or metrics, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  command
      ->add_option("--source", flags->source,
                   "who counts: perf_events, or virtual (exact, on any x86-64 machine)")
      ->check(CLI::IsMember({"perf_events", "virtual"}));
  command->add_option("-p,--pid", flags->pids, "watch these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-I,--interval", flags->interval_ms, "print counts every so many milliseconds")
      ->check(CLI::Range(1.0, 1e9));
  command->add_option("-r,--repeat", flags->repeat, "run the program so often; mean and spread")
      ->check(CLI::Range(1u, 10000u));
  command->add_flag("--per-thread", flags->per_thread, "also show each thread");
  command->add_option("--by", flags->by, "also show each function or basic block (virtual PMU)")
      ->check(CLI::IsMember({"function", "block"}));
  command->add_option("--region", flags->region,
                      "count only inside this function and what it calls (virtual PMU)");
  command->add_flag("--per-core", flags->per_core, "also show each CPU");
  command->add_flag("-a,--system", flags->whole_machine, "count everything on the machine");
  command->add_option("-C,--cpu", flags->cpus, "with --system or --per-core: these CPUs (0-3,8)");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_stat(*flags, terminal); };
  });
}

}  // namespace loft::cli
