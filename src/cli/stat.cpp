// loft stat: run a program, or watch one, and count.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "metric/asked.hpp"
#include "metric/run_counts.hpp"
#include "sample/ratio.hpp"
#include "sample/repeat.hpp"
#include "source/perf_events/counting.hpp"
#include "source/perf_events/open.hpp"
#include "source/several_runs.hpp"
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
  std::string runs = "1";   // a number, or "auto"
  double target_error = 0;  // in percent; 0: not asked for
  bool per_thread = false;
  bool per_core = false;
  bool whole_machine = false;
  std::string region;
  std::string by;  // "function" or "block"
  MetricFlags metrics;
  OutputFlags output;
};

// With nothing else said, an estimate that is off by 5 % is good enough not to run again.
constexpr double kDefaultTarget = 0.05;
// Windows that tell how much a multiplexed count varies, where no -I asks for others.
constexpr Nanoseconds kOwnWindow = std::chrono::milliseconds(50);

bool runs_by_need(const StatFlags& flags) { return flags.runs == "auto"; }

unsigned repeats(const StatFlags& flags) {
  return runs_by_need(flags) ? 1 : static_cast<unsigned>(parse_u64(flags.runs).value_or(1));
}

std::string runs_problem(const std::string& text) {
  const auto number = parse_u64(text);
  if (text == "auto" || (number && *number >= 1 && *number <= 10000)) return {};
  return "a number from 1 to 10000 or auto was expected";
}

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
  const bool repeated = repeats(flags) > 1 || runs_by_need(flags);
  if (repeated && (flags.command.empty() || !flags.pids.empty()))
    return usage("only a program that loft starts can be repeated", "leave out -r");
  if (repeated && (flags.interval_ms > 0 || flags.per_thread || flags.per_core))
    return usage("-r gives means of whole runs",
                 "leave out -I, --per-thread and --per-core, or -r");
  if (!flags.by.empty() && (flags.per_core || flags.interval_ms > 0 || repeated))
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

// Names as metrics and events. A list that names only events needs no metric file to be read, so
// the library is read when the first name needs it.
class Names {
 public:
  Names(const StatFlags& flags, Terminal& terminal) : flags_(flags), terminal_(terminal) {}

  Result<metric::Asked> read(event::Resolver& resolver, bool is_virtual) {
    metric::Asked asked;
    const std::string_view defaults = is_virtual ? kDefaultVirtualEvents : kDefaultEvents;
    asked.named = flags_.events.empty() ? std::vector{std::string(defaults)} : flags_.events;
    if (flags_.metrics.files.empty() && resolver.resolve_list(asked.events())) return asked;
    if (!library_) {
      LOFT_TRY(library_, load_metrics(flags_.metrics, terminal_));
    }
    LOFT_TRY(asked, metric::ask(asked.named, *library_, resolver));
    // Metrics of which nothing can be counted still have a time, and say what they lack.
    if (asked.events().empty()) asked.needed = {is_virtual ? "instructions" : "task-clock"};
    return asked;
  }

 private:
  const StatFlags& flags_;
  Terminal& terminal_;
  std::optional<metric::Library> library_;
};

// Who counts, when nobody was asked for by name: the virtual PMU, where there are no hardware
// counters and it has every event of the list. A metric that needs the time cannot have it there.
struct Chosen {
  bool is_virtual = false;
  std::string note;
};

Chosen choose_source(const StatFlags& flags, Names& names) {
  if (!flags.source.empty()) return {flags.source == "virtual", ""};
  if (!flags.region.empty()) return {true, "regions are counted by the virtual PMU, in user mode"};
  if (!flags.by.empty())
    return {true, "counts per " + flags.by + " come from the virtual PMU, in user mode"};
  if (flags.events.empty() || !flags.pids.empty() || flags.whole_machine) return {};
  const bool by_name = std::ranges::all_of(flags.events, [](const std::string& list) {
    return std::ranges::all_of(split(list, ','), [](std::string_view name) {
      return name.substr(name.starts_with('{') ? 1 : 0).starts_with(event::kVirtualPrefix);
    });
  });
  if (!by_name && source::perf_events::has_core_pmu()) return {};
  event::Resolver resolver(known_names(true));
  const auto asked = names.read(resolver, true);
  if (!asked || asked->needs_time()) return {};
  const auto events = resolver.resolve_list(asked->events());
  if (!events || !all_virtual(*events)) return {};
  if (by_name) return {true, ""};
  return {true, "this machine has no hardware counters: the virtual PMU counted, in user mode"};
}

source::Split split_of(const StatFlags& flags) {
  if (flags.by == "block") return source::Split::blocks;
  if (flags.by == "function")
    return flags.per_thread ? source::Split::thread_functions : source::Split::functions;
  if (flags.per_thread) return source::Split::threads;
  return flags.per_core ? source::Split::cpus : source::Split::none;
}

Result<source::CountRequest> make_request(const StatFlags& flags, const metric::Asked& asked,
                                          event::Resolver& resolver) {
  source::CountRequest request;
  LOFT_TRY(request.events, resolver.resolve_list(asked.events()));
  const bool has_instructions = std::ranges::any_of(request.events, [](const auto& event) {
    return sample::plain_name(event.name) == "instructions";
  });
  // Runs are aligned by instructions; where there are no counters, none is shared.
  if (runs_by_need(flags) && !has_instructions && source::perf_events::has_core_pmu())
    if (auto instructions = resolver.resolve_list("instructions"))
      std::ranges::move(*instructions, std::back_inserter(request.events));
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

// What is printed of each interval while the program runs.
auto interval_printer(const source::CountingRun& run, const metric::Asked& asked,
                      Terminal& terminal) {
  sample::RunCounts frame;
  frame.source = run.source_name();
  for (const event::Event& event : run.events())
    frame.events.push_back({event.name, event.origin, event.unit, event.scale});
  return [frame, &asked, &terminal](const sample::IntervalCounts& interval) {
    terminal.note(view::interval_text(frame, interval, asked.programs,
                                      metric::evaluate_interval(asked, frame, interval)));
    (void)terminal.flush();  // a failure shows again at the end
  };
}

// One run of the program, or one stretch of watching.
class Counter {
 public:
  // `incomplete` becomes the reason why a part of the program was not counted, if one was not.
  Counter(const StatFlags& flags, const metric::Asked& asked, bool is_virtual, Format format,
          std::optional<Error>& incomplete, Terminal& terminal)
      : flags_(flags),
        asked_(asked),
        is_virtual_(is_virtual),
        prints_intervals_(format == Format::text && flags.output.file.empty()),
        incomplete_(incomplete),
        terminal_(terminal) {}

  Result<sample::RunCounts> count(const source::CountRequest& request) const {
    LOFT_TRY(const auto run, is_virtual_ ? source::virtual_pmu::prepare(request)
                                         : source::perf_events::prepare(request));
    source::WatchOptions options;
    options.on_incomplete = [this](const Error& why) { incomplete_ = why; };
    if (flags_.interval_ms > 0) {
      options.interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags_.interval_ms * 1e6));
      if (prints_intervals_) options.on_interval = interval_printer(*run, asked_, terminal_);
    } else if (flags_.target_error > 0 || runs_by_need(flags_)) {
      options.interval = kOwnWindow;
    }
    return source::watch(*run, request, options);
  }

 private:
  const StatFlags& flags_;
  const metric::Asked& asked_;
  bool is_virtual_;
  bool prints_intervals_;
  std::optional<Error>& incomplete_;
  Terminal& terminal_;
};

// All runs as one, and the metrics that follow.
struct Outcome {
  sample::RunCounts run;
  metric::RunMetrics metrics;
};

Result<Outcome> count_all(const StatFlags& flags, const metric::Asked& asked,
                          const source::CountRequest& request, const Counter& counter) {
  std::vector<sample::RunCounts> runs;
  for (unsigned i = 0; i < repeats(flags); ++i) {
    LOFT_TRY(runs.emplace_back(), counter.count(request));
  }
  Outcome outcome{sample::merge_runs(std::move(runs)), {}};
  outcome.metrics = metric::evaluate_run(asked, outcome.run);
  if (flags.target_error > 0 || runs_by_need(flags)) {
    const double target = flags.target_error > 0 ? flags.target_error / 100 : kDefaultTarget;
    const auto uncertain = metric::uncertain(outcome.run, outcome.metrics, target);
    if (!uncertain.empty() && runs_by_need(flags)) {
      LOFT_TRY(outcome.run, source::count_in_several_runs(
                                request, std::move(outcome.run),
                                [&](const auto& part) { return counter.count(part); }));
      outcome.metrics = metric::evaluate_run(asked, outcome.run);
    } else if (!uncertain.empty()) {
      outcome.run.notes.push_back(
          fmt::format("not known to within {:g} %: {}; --runs auto runs the program again instead",
                      100 * target, join(uncertain, ", ")));
    }
    if (flags.interval_ms <= 0) outcome.run.intervals.clear();
  }
  return outcome;
}

Result<int> run_stat(const StatFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_CHECK(check(flags));
  Names names(flags, terminal);
  const Chosen chosen = choose_source(flags, names);
  event::Resolver resolver(known_names(chosen.is_virtual));
  LOFT_TRY(const auto asked, names.read(resolver, chosen.is_virtual));
  LOFT_TRY(const auto request, make_request(flags, asked, resolver));
  std::optional<Error> incomplete;
  const Counter counter(flags, asked, chosen.is_virtual, format, incomplete, terminal);
  LOFT_TRY(auto outcome, count_all(flags, asked, request, counter));
  if (!chosen.note.empty()) outcome.run.notes.push_back(chosen.note);
  const auto& [run, metrics] = outcome;
  const std::string text = format == Format::json  ? view::stat_json(run, metrics)
                           : format == Format::csv ? view::stat_csv(run, metrics)
                                                   : view::stat_text(run, metrics);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  if (incomplete) return Failure(std::move(*incomplete));
  return run.exit_status;
}

}  // namespace

void add_stat(Command& app, Action& action) {
  auto flags = std::make_shared<StatFlags>();
  auto command = app.add_subcommand("stat", "Run a program, or watch one, and count events");
  command
      ->add_option("-e,--event", flags->events,
                   "events, event sets or metrics, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  command
      ->add_option("--source", flags->source,
                   "who counts: perf_events, or virtual (exact, on any x86-64 machine)")
      ->check(one_of({"perf_events", "virtual"}));
  command->add_option("-p,--pid", flags->pids, "watch these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-I,--interval", flags->interval_ms, "print counts every so many milliseconds")
      ->check(between(1.0, 1e9));
  command
      ->add_option(
          "-r,--repeat,--runs", flags->runs,
          "run the program so often: mean and spread; auto: as often as it takes for events "
          "not to share counters, when --target-error is exceeded")
      ->check(runs_problem);
  command
      ->add_option("--target-error", flags->target_error,
                   "how far estimates may be off, in percent (with --runs auto: 5)")
      ->check(between(0.001, 100.0));
  command->add_flag("--per-thread", flags->per_thread, "also show each thread");
  command->add_option("--by", flags->by, "also show each function or basic block (virtual PMU)")
      ->check(one_of({"function", "block"}));
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
