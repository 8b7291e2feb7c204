// loft record: samples of every thread of a program, written to perf.data.
#include <fmt/format.h>

#include <memory>

#include "base/places.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/call_flags.hpp"
#include "cli/command.hpp"
#include "cli/guarded_run.hpp"
#include "cli/job_flags.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/record_control.hpp"
#include "cli/record_windows.hpp"
#include "cli/recording_flags.hpp"
#include "cli/report.hpp"
#include "cli/source_flag.hpp"
#include "event/resolver.hpp"
#include "job/measure.hpp"
#include "job/node_run.hpp"
#include "job/rank_file.hpp"
#include "metric/request.hpp"
#include "roof/run_file.hpp"
#include "roof/work_events.hpp"
#include "source/scheduler/record.hpp"
#include "source/virtual/libraries.hpp"
#include "source/virtual/recording.hpp"
#include "view/calls.hpp"

namespace loft::cli {
namespace {

using source::scheduler::RecordRequest;
using source::scheduler::RecordResult;
using source::scheduler::StackMode;

constexpr std::uint64_t kDefaultFrequency = 999;  // of call stacks; in step with nothing
constexpr std::string_view kDefaultEvents = "page-faults,cycles,instructions";

constexpr std::string_view kDefaultOutput = "perf.data";

constexpr double kDefaultSlice = 10;          // milliseconds
constexpr double kDefaultVirtualSlice = 100;  // each has a sample per function and event

struct RecordFlags {
  SourceFlag source;
  std::string environment;
  RecordingFlags what;
  MetricFlags metrics;
  std::vector<std::string> calls;  // patterns of functions
  std::string longer;
  int life = -1;  // see run_guarded()
  bool off_cpu = false;
  std::vector<pid_t> pids;
  bool whole_machine = false;
  std::vector<std::string> command;
  std::string recorder;
  std::string control;  // a file that says what is counted
  std::string output{kDefaultOutput};
  std::string page;  // the report beside it, where one was asked for
  bool until_all_end = false;
  bool isolate = false;
  std::string cpus;
  bool is_realtime = false;
  bool is_quiet = false;
  JobFlags job;
  WindowFlags windows;
  bool node = false;  // all ranks of the job that are on this node
};

// What the kernel alone can tell is not there for a program under the virtual PMU.
Result<void> check_virtual(const RecordFlags& flags) {
  const RecordingFlags& what = flags.what;
  if (flags.pids.empty() && !flags.whole_machine && what.types.empty() && what.frequency_hz == 0 &&
      what.period == 0 && what.stacks.empty() && flags.recorder.empty() && !flags.until_all_end &&
      !flags.isolate && !flags.off_cpu)
    return {};
  return failure(
      ErrorKind::invalid_input, "record with the virtual PMU",
      "it counts programs that loft starts, and nothing but what they execute",
      "leave out -p, -a, --types, -F, -c, -g, --off-cpu, --recorder, --all and --isolate");
}

// One recorder of many ranks samples where they are, and nothing else.
Result<void> check_node(const RecordFlags& flags) {
  const RecordingFlags& what = flags.what;
  if (flags.pids.empty() && !flags.whole_machine && flags.page.empty() && what.types.empty() &&
      what.events.empty() && what.period == 0 && what.stacks.empty() && what.ring.empty() &&
      what.slice_ms <= 0 && flags.recorder.empty() && !flags.until_all_end && !flags.isolate &&
      flags.calls.empty() && flags.job.wish.full.empty() && !flags.source.is_virtual())
    return {};
  return failure(ErrorKind::invalid_input, "record the ranks of a node",
                 "it samples where they are, natively, and keeps a summary of each",
                 "give --job, -F and a command alone: srun --overlap -n $SLURM_NNODES "
                 "--ntasks-per-node=1 loft "
                 "record --job DIR --node");
}

// A summary has sums of one program alone.
Result<void> check_job(const RecordFlags& flags) {
  const auto usage = [](std::string why, std::string hint) {
    return failure(ErrorKind::invalid_input, "record a rank of a job", std::move(why),
                   std::move(hint));
  };
  if (!flags.job.is_given()) {
    if (flags.job.wish.full.empty() && !flags.node) return {};
    return usage("--full and --node are about ranks of a job", "name its folder with --job");
  }
  if (flags.node) return check_node(flags);
  if (flags.command.empty() || flags.whole_machine || !flags.page.empty())
    return usage("a rank is a program that loft starts, and its file has its name already",
                 "leave out -p, -a and -o: srun loft record --job DIR -- ./app");
  const RecordingFlags& what = flags.what;
  const bool is_detailed = !what.types.empty() || what.frequency_hz != 0 || what.period != 0 ||
                           !what.stacks.empty() || !what.ring.empty() || what.slice_ms > 0 ||
                           !flags.recorder.empty() || flags.until_all_end || flags.isolate ||
                           flags.off_cpu;
  if (is_detailed && flags.job.wish.full.empty())
    return usage("a summary has no single samples, slices and stacks",
                 "leave out -t, -F, -c, -g, --off-cpu, --types, --ring, --recorder, --all and "
                 "--isolate, or choose ranks that are recorded in full with --full");
  return {};
}

// A window is of the machine, and has samples of where it is.
Result<void> check_windows(const RecordFlags& flags) {
  if (!flags.windows.is_given()) return {};
  const RecordingFlags& what = flags.what;
  if (!flags.windows.window.empty() && flags.whole_machine && flags.command.empty() &&
      flags.output != kDefaultOutput && flags.page.empty() && !flags.job.is_given() &&
      what.types.empty() && what.events.empty() && what.period == 0 && what.stacks.empty() &&
      what.ring.empty() && what.slice_ms <= 0 && flags.recorder.empty() && flags.calls.empty() &&
      flags.control.empty() && !flags.source.is_virtual())
    return {};
  return failure(ErrorKind::invalid_input, "record windows of the machine",
                 "they have samples of everything, and go into a folder",
                 "give -F and --keep beside these alone: loft record -a --window 30s --every 10m "
                 "-o DIR");
}

// One set of events is followed by another: none takes turns, none is sampled.
Result<void> check_control(const RecordFlags& flags) {
  if (flags.control.empty()) return {};
  const RecordingFlags& what = flags.what;
  const bool has_turns = join(what.events, ",").find(';') != std::string::npos;
  const bool is_sampled = what.period > 0 || (what.frequency_hz > 0 && !what.events.empty());
  if (!has_turns && !is_sampled && !flags.source.is_virtual() && !flags.job.is_given()) return {};
  return failure(ErrorKind::invalid_input, "change events by a control file",
                 "it is for counting one set of events after the other",
                 "leave out -c, --source virtual, --job, ';' in -e, and -F with -e");
}

source::scheduler::RecordTypes types_of(const RecordFlags& flags) {
  if (flags.what.types.empty()) return {};
  const auto has = [&](const char* name) {
    return std::find(flags.what.types.begin(), flags.what.types.end(), name) !=
           flags.what.types.end();
  };
  return {has("pmu"), has("epc"), has("mig"), has("fork"), has("sched")};
}

Result<void> check(const RecordFlags& flags) {
  const auto usage = [](std::string why, std::string hint) {
    return failure(ErrorKind::invalid_input, "record", std::move(why), std::move(hint));
  };
  if (flags.command.empty() && flags.pids.empty() && !flags.whole_machine && !flags.node)
    return usage("there is nothing to record",
                 "give a program (loft record -- ./app), a process (-p PID) or the machine (-a)");
  if (flags.whole_machine && (!flags.pids.empty() || flags.until_all_end || flags.isolate))
    return usage("-a records everything that runs", "leave out -p, --all and --isolate");
  if (!flags.command.empty() && !flags.pids.empty())
    return usage("a program and -p exclude each other", "leave one of them out");
  if (!flags.longer.empty() && flags.calls.empty())
    return usage("--longer chooses single calls", "name their functions with --calls");
  if (!flags.calls.empty() && flags.whole_machine)
    return usage("calls are watched in programs, not in all that runs", "leave out -a or --calls");
  if (!flags.calls.empty() && flags.output == source::scheduler::kStandardOutput)
    return usage("calls are written at the end of a file", "name one with -o");
  if (flags.off_cpu && !types_of(flags).sched)
    return usage("--off-cpu needs every switch", "add sched to --types, or leave --types out");
  if (!flags.isolate && (!flags.cpus.empty() || flags.is_realtime))
    return usage("--cpus and --fifo say how to isolate the program", "add --isolate");
  LOFT_CHECK(check_job(flags));
  LOFT_CHECK(check_windows(flags));
  LOFT_CHECK(check_control(flags));
  return flags.source.is_virtual() ? check_virtual(flags) : Result<void>();
}

// "a,b;c,d": sets that take turns. One list is counted all at once if it can be.
Result<void> choose_events(const RecordFlags& flags, RecordRequest& request, Terminal& terminal) {
  event::Resolver resolver(known_names(flags.source.is_virtual()));
  request.events_may_be_missing = flags.what.events.empty();
  if (!flags.control.empty())
    return use_control_file(
        flags.control,
        flags.what.events.empty() ? std::string(kDefaultEvents) : join(flags.what.events, ","),
        flags.metrics, request, terminal);
  const std::string defaults = flags.source.is_virtual()
                                   ? roof::work_and_engine_event_names() + ",flops"
                                   : std::string(kDefaultEvents);
  const std::string all = flags.what.events.empty() ? defaults : join(flags.what.events, ",");
  const auto sets = split(all, ';');
  if (sets.size() > 1 && flags.source.is_virtual())
    return failure(ErrorKind::invalid_input, "record sets of events that take turns",
                   "the virtual PMU counts everything at the same time", "use commas alone");
  // -F alone samples the clock, beside slices with the usual events.
  const bool is_sampled =
      flags.what.period > 0 || (flags.what.frequency_hz > 0 && !flags.what.events.empty());
  if (sets.size() > 1 && is_sampled)
    return failure(ErrorKind::invalid_input, "sample sets of events that take turns",
                   "-c and -F sample all events of -e at the same time", "use commas alone");
  if (flags.what.period > 0 && flags.what.events.empty())
    return failure(ErrorKind::invalid_input, "sample by a count (-c)", "no event was named",
                   "name it with -e");
  for (const std::string_view set : sets) {
    LOFT_TRY(auto events, events_of(std::string(set), flags.metrics, resolver, terminal));
    if (is_sampled) {
      request.sampled = std::move(events);
      request.period = flags.what.period;
      continue;
    }
    if (sets.size() == 1)
      request.events = std::move(events);
    else
      request.turns.push_back(std::move(events));
  }
  return {};
}

// "32M": bytes, by powers of 1024.
Result<std::size_t> ring_size(const std::string& text) {
  constexpr std::string_view kPrefixes = "KMG";
  constexpr std::uint64_t kLeast = 64 << 10;
  constexpr std::uint64_t kMost = 1 << 30;
  std::string_view digits = text;
  std::uint64_t factor = 1;
  if (const auto prefix = digits.empty() ? std::string_view::npos : kPrefixes.find(digits.back());
      prefix != std::string_view::npos) {
    factor = std::uint64_t{1} << (10 * (prefix + 1));
    digits.remove_suffix(1);
  }
  const auto number = parse_u64(digits);
  if (!number || *number > kMost || *number * factor < kLeast || *number * factor > kMost)
    return failure(ErrorKind::invalid_input, "--ring " + text, "it is no size between 64K and 1G",
                   "write it like 32M");
  return *number * factor;
}

// Single calls are kept: a recording can be cut by time and thread.
Result<std::optional<sample::CallRequest>> calls_of(const RecordFlags& flags) {
  std::optional<sample::CallRequest> request;
  if (flags.calls.empty()) return request;
  request.emplace().patterns = split_patterns(flags.calls);
  request->keeps_calls = true;
  if (!flags.longer.empty()) {
    LOFT_TRY(request->longer, parse_duration(flags.longer));
  }
  return request;
}

Result<RecordRequest> make_request(const RecordFlags& flags, Terminal& terminal) {
  RecordRequest request;
  LOFT_CHECK(choose_events(flags, request, terminal));
  request.command = flags.command;
  request.pids = flags.pids;
  request.whole_machine = flags.whole_machine;
  const double usual = flags.source.is_virtual() ? kDefaultVirtualSlice : kDefaultSlice;
  const double slice_ms = flags.what.slice_ms > 0 ? flags.what.slice_ms : usual;
  request.slice = Nanoseconds(static_cast<Nanoseconds::rep>(slice_ms * 1e6));
  request.types = types_of(flags);
  request.frequency_hz = flags.what.frequency_hz;
  if (!flags.what.stacks.empty() && flags.what.frequency_hz == 0 && flags.what.period == 0)
    request.frequency_hz = kDefaultFrequency;
  if (flags.what.stacks == "fp") request.stacks = StackMode::frame_pointers;
  if (flags.what.stacks == "dwarf") request.stacks = StackMode::dwarf;
  request.off_cpu = flags.off_cpu;
  // Where a task blocks says little without who called.
  if (flags.off_cpu && flags.what.stacks.empty()) request.stacks = StackMode::frame_pointers;
  request.recorder = flags.recorder;
  if (!flags.what.ring.empty()) {
    LOFT_TRY(request.ring_bytes, ring_size(flags.what.ring));
  }
  LOFT_TRY(request.calls, calls_of(flags));
  request.life = flags.life;
  request.until_all_end = flags.until_all_end;
  if (flags.isolate) {
    request.isolation.emplace().is_realtime = flags.is_realtime;
    if (!flags.cpus.empty()) {
      LOFT_TRY(request.isolation->cpus, parse_cpu_list(flags.cpus));
    }
  }
  request.output = flags.output;
  if (const auto rank = job::own_rank())
    request.more_facts = [rank = *rank] { return job::facts_of(rank); };
  request.version = LOFT_VERSION;
  request.command_line = {"loft", "record"};
  for (const std::string& word : flags.command) request.command_line.push_back(word);
  request.on_broken = [&terminal](const Error& error) {
    terminal.note("loft: recording ends here, the program goes on: " + to_string(error) + "\n");
    (void)terminal.flush();  // nothing better can be done about it
  };
  return request;
}

std::string tasks_text(std::uint64_t tasks) {
  return with_separators(tasks) + (tasks == 1 ? " task" : " tasks");
}

std::string name_of(const std::string& output) {
  return output == source::scheduler::kStandardOutput ? "standard output" : printable(output);
}

std::string summary(const RecordResult& result, const std::string& path) {
  std::string text = fmt::format(
      "{}: {} of {} in {}: {} slices, {} switches; {} lost; watched by {}\n", name_of(path),
      with_binary_prefix(result.bytes), tasks_text(result.tasks),
      format_seconds(to_seconds(result.wall)), with_separators(result.slices),
      with_separators(result.switches), with_separators(result.lost), result.description);
  if (result.calls)
    text += fmt::format("{} of {}, {} lost; see 'loft report --calls {}'\n",
                        view::number_of(result.calls->kept, "single call"),
                        view::number_of(result.calls->functions, "function"),
                        with_separators(result.calls->lost), name_of(path));
  if (result.off_cpu)
    text +=
        fmt::format("blocked {} times, {} in all: see 'loft report --event offcpu-time --tree'{}\n",
                    with_separators(result.off_cpu->times),
                    format_seconds(static_cast<double>(result.off_cpu->blocked_ns) * 1e-9),
                    result.off_cpu->wakeups > 0 ? " and '--wakeups'" : "");
  if (result.regions > 0)
    text += fmt::format("{} marked regions; see 'loft report --regions {}'\n",
                        with_separators(result.regions), name_of(path));
  if (result.still_running > 0 && !result.broken)  // who ended since then nobody wrote down
    text += tasks_text(result.still_running) + " went on after the recording\n";
  if (result.tally.lost_tasks > 0)
    text += fmt::format("{} tasks could not be followed: the kernel had no memory\n",
                        result.tally.lost_tasks);
  if (result.tally.missed > 0)
    text += fmt::format(
        "{} times the kernel did not tell that a task got a CPU: its run time until it left, or "
        "until its slice ended, is missing\n",
        result.tally.missed);
  if (result.turns > 0)
    text += fmt::format("{} sets of events took turns: their counts are estimates\n", result.turns);
  for (const std::string& line : result.isolation) text += printable(line) + "\n";
  for (const std::string& note : result.notes) text += "note: " + printable(note) + "\n";
  return text;
}

// A page is made of a recording: that stays beside it.
RecordFlags with_page_apart(RecordFlags flags) {
  constexpr std::string_view kEnding = ".html";
  if (!flags.output.ends_with(kEnding)) return flags;
  flags.page = flags.output;
  flags.output.replace(flags.output.size() - kEnding.size(), kEnding.size(), ".data");
  return flags;
}

Result<void> take_environment(RecordFlags& flags) {
  if (flags.environment.empty()) return {};
  LOFT_TRY(const Environments all, load_environments(config_directory()));
  const auto found = all.find(flags.environment);
  if (found == all.end())
    return failure(ErrorKind::not_found, "use the environment '" + flags.environment + "'",
                   "there is none of this name", "'loft env list' shows those that there are");
  flags.what.fill_from(found->second);
  return {};
}

Result<int> record_to_file(const RecordFlags& flags, Terminal& terminal,
                           const std::function<job::Facts()>& more_facts = {}) {
  LOFT_TRY(auto request, make_request(flags, terminal));
  if (more_facts) request.more_facts = more_facts;
  const bool is_native = !flags.source.is_virtual() && !flags.command.empty();
  const auto markers =
      source::virtual_pmu::Preload::markers(is_native ? flags.command.front() : "");
  LOFT_TRY(const auto result, flags.source.is_virtual()
                                  ? source::virtual_pmu::record(request, roof::loop_features)
                                  : source::scheduler::record(request));
  if (result.calls)
    LOFT_CHECK(check_found(result.calls->functions + result.calls->not_watched, *request.calls));
  if (!flags.is_quiet) terminal.note(summary(result, flags.output));
  if (!flags.page.empty()) {
    LOFT_CHECK(write_report(flags.output, flags.page, terminal));
    if (!flags.is_quiet && !terminal.notes_is_terminal())
      terminal.note(printable(flags.page) + ": the report\n");
  }
  if (!result.broken) return result.exit_status;
  terminal.note(fmt::format("loft: {} is not the whole recording: {}\n", name_of(flags.output),
                            to_string(*result.broken)));
  return result.exit_status == 0 ? kLoftFailed : result.exit_status;
}

// Time by function, or what the virtual PMU counts in each.
Result<int> record_summary(const RecordFlags& flags, Terminal& terminal) {
  LOFT_TRY(const RecordRequest request, make_request(flags, terminal));
  if (!request.turns.empty())
    return failure(ErrorKind::invalid_input, "record a rank of a job",
                   "sets of events that take turns are of full recordings", "use commas alone");
  return run_as_rank(flags.job, flags.command, terminal, [&](job::RankSummary& summary) {
    if (flags.source.is_virtual()) return job::measure_work(flags.command, request.events, summary);
    const bool has_events = !flags.what.events.empty();
    return job::measure_time(flags.command,
                             has_events ? request.events : std::vector<event::Event>(), summary);
  });
}

Result<int> record_rank(RecordFlags flags, Terminal& terminal) {
  const job::Rank rank = job::own_rank().value_or(job::only_rank());
  LOFT_TRY(const bool is_full, job::is_full(flags.job.wish, rank));
  if (!is_full) return record_summary(flags, terminal);
  LOFT_TRY(job::RankRun run, job::RankRun::begin(flags.job.wish, flags.command));
  flags.output = run.path();
  auto recorded =
      record_to_file(flags, terminal, [&] { return job::facts_of(run.summary().rank, run.mpi()); });
  if (!recorded) run.discard();
  return recorded;
}

// All ranks of the job that are on this node, by one recorder.
Result<int> record_ranks_of_node(const RecordFlags& flags, Terminal& terminal) {
  // Where its launcher started several on the node, the first is the one.
  const auto own = job::own_rank();
  if (flags.command.empty() && own && own->local.value_or(0) > 0) return 0;
  job::NodeRequest request;
  request.folder = flags.job.wish.folder;
  request.command = flags.command;
  if (flags.what.frequency_hz != 0)
    request.period = Nanoseconds(std::chrono::seconds(1)) / flags.what.frequency_hz;
  LOFT_TRY(const job::NodeResult result, job::record_node(request));
  for (const std::string& note : result.notes) terminal.note("note: " + printable(note) + "\n");
  if (!flags.is_quiet)
    terminal.note(fmt::format("{}: {} ranks; when all nodes have ended: loft report {}\n",
                              printable(result.path), result.ranks,
                              printable(flags.job.wish.folder)));
  return result.exit_status;
}

Result<int> run_record(const RecordFlags& given, Terminal& terminal) {
  RecordFlags flags = with_page_apart(given);
  LOFT_CHECK(take_environment(flags));
  LOFT_CHECK(check(flags));
  if (flags.node) return record_ranks_of_node(flags, terminal);
  if (flags.windows.is_given())
    return record_windows(flags.windows, flags.output, flags.what.frequency_hz, flags.is_quiet,
                          terminal);
  if (const auto warning =
          launcher_warning(flags.command, "loft record", !flags.source.is_virtual());
      !warning.empty())
    terminal.note("loft: " + warning + "\n");
  const auto record = [&](int life) {
    flags.life = life;
    return flags.job.is_given() ? record_rank(flags, terminal) : record_to_file(flags, terminal);
  };
  if (!flags.job.is_given()) {
    flags.output = own_output(flags.output);
    if (!flags.page.empty()) flags.page = own_output(flags.page);
  }
  return flags.calls.empty() ? record(-1) : run_guarded("record calls", record);
}

}  // namespace

void add_record(Command& app, Action& action) {
  auto flags = std::make_shared<RecordFlags>();
  auto command = app.add_subcommand("record", "Record every thread of a program to perf.data");
  add_source_flag(*command, flags->source,
                  "who counts (default: perf_events); virtual: exact counts per function");
  add_recording_flags(*command, flags->what);
  command
      ->add_option("--calls", flags->calls,
                   "single calls of these functions, beside slices and switches: 'solve*'")
      ->allow_extra_args(false);
  command->add_option("--longer", flags->longer, "with --calls: those that took as long: 10us");
  command->add_flag("--off-cpu", flags->off_cpu,
                    "where threads block and for how long, with call stacks, and who wakes them");
  command->add_option("--env", flags->environment,
                      "take what is not given here from this environment (see loft env)");
  command->add_option("-m,--metrics", flags->metrics.files, "a file with further metrics")
      ->allow_extra_args(false);
  command->add_option("-p,--pid", flags->pids, "record these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("-a,--system", flags->whole_machine,
                    "record everything that runs on the machine, until the program ends, or until "
                    "interrupted");
  const Rule known_recorder = one_of({"bpf", "perf", "threads", "proc"});
  command
      ->add_option("--recorder", flags->recorder,
                   "the way to watch: bpf, perf, threads or proc (default: the best)")
      ->check(known_recorder);
  command->add_option("--by", flags->recorder, "")->check(known_recorder)->hide();
  command->add_option("--control", flags->control,
                      "a file that says what is counted; writing it changes the events");
  command->add_flag("--all", flags->until_all_end,
                    "go on until everything that the program started has ended");
  command->add_flag(
      "--isolate", flags->isolate,
      "keep other work away: put the program and all others on different CPUs while it runs");
  command->add_option("--cpus", flags->cpus, "with --isolate: the program's CPUs, like 2-3");
  command->add_flag("--fifo", flags->is_realtime,
                    "with --isolate: before all ordinary work (SCHED_FIFO; see the manual)");
  command->add_option("-o,--output", flags->output,
                      "the recording (default: perf.data), - for standard output, or FILE.html for "
                      "its report as well");
  add_window_flags(*command, flags->windows);
  add_job_flag(*command, flags->job);
  add_full_flag(*command, flags->job);
  command->add_flag("--node", flags->node,
                    "with --job: record all ranks of the job that are on this node, in one file");
  command->add_flag("-q,--quiet", flags->is_quiet, "print nothing when all went well");
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_record(*flags, terminal); };
  });
}

}  // namespace loft::cli
