// loft stat: run a program, or watch one, and count.
#include <fmt/format.h>

#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "sample/repeat.hpp"
#include "source/perf_events/counting.hpp"
#include "source/watch.hpp"
#include "view/stat.hpp"

namespace loft::cli {
namespace {

// What is counted when nothing is asked for.
constexpr std::string_view kDefaultEvents =
    "task-clock,context-switches,cpu-migrations,page-faults,"
    "cycles,instructions,branches,branch-misses";

struct StatFlags {
  std::vector<std::string> events;
  std::vector<pid_t> pids;
  std::vector<std::string> command;
  std::string cpus;
  double interval_ms = 0;
  unsigned repeat = 1;
  bool per_thread = false;
  bool per_core = false;
  bool whole_machine = false;
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

Result<source::CountRequest> make_request(const StatFlags& flags) {
  LOFT_CHECK(check(flags));
  source::CountRequest request;
  event::Resolver resolver;
  const std::string list =
      flags.events.empty() ? std::string(kDefaultEvents) : join(flags.events, ",");
  LOFT_TRY(request.events, resolver.resolve_list(list));
  LOFT_TRY(request.groups, groups_of(request.events));
  request.command = flags.command;
  request.pids = flags.pids;
  request.whole_machine = flags.whole_machine;
  if (!flags.cpus.empty()) {
    LOFT_TRY(request.cpus, parse_cpu_list(flags.cpus));
  }
  request.split = flags.per_thread ? source::Split::threads
                  : flags.per_core ? source::Split::cpus
                                   : source::Split::none;
  return request;
}

Result<sample::RunCounts> count_once(const source::CountRequest& request, const StatFlags& flags,
                                     Format format, Terminal& terminal) {
  LOFT_TRY(const auto run, source::perf_events::prepare(request));
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
  LOFT_TRY(const auto request, make_request(flags));
  std::vector<sample::RunCounts> runs;
  for (unsigned i = 0; i < flags.repeat; ++i) {
    LOFT_TRY(runs.emplace_back(), count_once(request, flags, format, terminal));
  }
  const sample::RunCounts result = sample::merge_runs(std::move(runs));
  const std::string text = format == Format::json  ? view::stat_json(result)
                           : format == Format::csv ? view::stat_csv(result)
                                                   : view::stat_text(result);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  return result.exit_status;
}

}  // namespace

void add_stat(CLI::App& app, Action& action) {
  auto flags = std::make_shared<StatFlags>();
  auto* command = app.add_subcommand("stat", "Run a program, or watch one, and count events");
  command
      ->add_option("-e,--event", flags->events,
                   "events or event sets, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  command->add_option("-p,--pid", flags->pids, "watch these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-I,--interval", flags->interval_ms, "print counts every so many milliseconds")
      ->check(CLI::Range(1.0, 1e9));
  command->add_option("-r,--repeat", flags->repeat, "run the program so often; mean and spread")
      ->check(CLI::Range(1u, 10000u));
  command->add_flag("--per-thread", flags->per_thread, "also show each thread");
  command->add_flag("--per-core", flags->per_core, "also show each CPU");
  command->add_flag("-a,--system", flags->whole_machine, "count everything on the machine");
  command->add_option("-C,--cpu", flags->cpus, "with --system or --per-core: these CPUs (0-3,8)");
  add_output_flags(*command, flags->output);
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_stat(*flags, terminal); };
  });
}

}  // namespace loft::cli
