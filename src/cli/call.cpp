// loft call: every call of the functions that match a pattern, counted one by one.
#include <fmt/format.h>

#include <memory>

#include "base/text.hpp"
#include "cli/call_flags.hpp"
#include "cli/call_outputs.hpp"
#include "cli/command.hpp"
#include "cli/guarded_run.hpp"
#include "cli/job_flags.hpp"
#include "event/resolver.hpp"
#include "job/summarize.hpp"
#include "roof/call_runs.hpp"
#include "source/calls/counters.hpp"
#include "source/calls/native.hpp"
#include "source/scheduler/call_file.hpp"
#include "source/virtual/calls.hpp"
#include "view/calls.hpp"

namespace loft::cli {
namespace {

struct CallFlags {
  std::vector<std::string> patterns;
  std::string program;  // stays empty: `command` has it
  std::string dso;
  std::vector<std::string> events;
  std::vector<pid_t> pids;
  std::string longer;
  std::string duration;
  unsigned depth = 0;
  bool only_counts = false;
  std::uint64_t rows = 20;
  double budget = 0;  // in percent; 0: not asked for
  std::string tables;
  std::string source = "auto";
  std::vector<std::string> command;
  OutputFlags output;
  JobFlags job;
};

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "watch calls", std::move(why), std::move(hint));
}

// A recording keeps single calls; so does whatever shows them.
bool keeps_calls(const CallFlags& flags) {
  return !flags.longer.empty() || flags.depth != 0 || flags.tables == "list";
}

Result<sample::CallRequest> make_request(const CallFlags& flags) {
  sample::CallRequest request;
  request.patterns = split_patterns(flags.patterns);
  request.dso = flags.dso;
  for (const std::string& list : flags.events)
    for (const auto name : split(list, ',')) request.events.emplace_back(name);
  if (!flags.longer.empty()) {
    LOFT_TRY(request.longer, parse_duration(flags.longer));
  }
  request.depth = flags.depth;
  request.only_counts = flags.only_counts;
  request.keeps_calls = keeps_calls(flags);
  request.has_budget = flags.budget > 0;
  if (request.has_budget) request.budget = flags.budget / 100;
  return request;
}

// The time is best taken natively, and there are no counters that could count beside it.
bool runs_twice(const CallFlags& flags) {
  return flags.source == "auto" && flags.pids.empty() && !flags.events.empty();
}

// A rank runs once, while the others wait for it.
Result<void> check_job(const CallFlags& flags) {
  if (flags.job.is_given() &&
      (flags.command.empty() || keeps_calls(flags) || !flags.tables.empty() ||
       !flags.output.file.empty() || !flags.output.format.empty()))
    return usage("--job keeps sums of the functions of a program that loft starts",
                 "leave out -p, --longer, --depth, --show, -o and --format");
  const auto rank = job::own_rank();
  const bool is_rank = flags.job.is_given() || (rank && rank->size > 1);
  if (is_rank && runs_twice(flags))
    return usage("a rank of a parallel job runs once, while the others wait for it",
                 "count with --source virtual, or leave out -e for the times");
  return {};
}

Result<void> check(const CallFlags& flags) {
  if (flags.patterns.empty())
    return usage("no function was named", "write a pattern before --: loft call 'solve*' -- ./app");
  if (flags.command.empty() && flags.pids.empty())
    return usage("there is nothing to watch",
                 "give a program (loft call 'solve*' -- ./app) or a process (-p PID)");
  if (!flags.command.empty() && !flags.pids.empty())
    return usage("a program and -p exclude each other", "leave one of them out");
  if (!flags.pids.empty() && flags.source == "virtual")
    return usage("the virtual PMU counts programs that loft starts", "leave out --source virtual");
  if (flags.only_counts &&
      (flags.source == "virtual" || !flags.events.empty() || keeps_calls(flags)))
    return usage("--only-counts counts calls natively, and nothing else",
                 "leave out --source, -e, --longer, --depth and --show");
  if (!flags.duration.empty() && flags.pids.empty())
    return usage("--for is about processes that run already", "leave it out");
  return check_job(flags);
}

// Energy is no event: it leaves the list of them.
bool take_energy(sample::CallRequest& request) { return std::erase(request.events, "energy") != 0; }

// Counters of the processor for all of the events.
Result<std::shared_ptr<source::calls::Counters>> counters_for(
    const std::vector<std::string>& names) {
  event::Resolver resolver;
  std::vector<event::Event> events;
  for (const std::string& name : names) {
    LOFT_TRY(event::Event event, resolver.resolve(name));
    events.push_back(std::move(event));
  }
  auto counters = std::make_shared<source::calls::PerfCounters>(std::move(events));
  LOFT_CHECK(counters->check());
  return counters;
}

// Natively in one run, where the processor has counters for all of the events; else the time is
// taken natively, and the virtual PMU counts in a second run.
Result<sample::CallRun> count(const CallFlags& flags, sample::CallRequest request, int life) {
  if (flags.source == "virtual") return source::virtual_pmu::count_calls(request, flags.command);
  source::calls::NativeCalls calls;
  calls.meters.energy = take_energy(request);
  if (!request.events.empty()) {
    auto counters = counters_for(request.events);
    const bool may_repeat = flags.source == "auto" && flags.pids.empty();
    if (!counters && may_repeat)
      return roof::count_calls_twice(request, flags.command, roof::Heard::once, calls.meters);
    if (!counters) {
      counters.error().hint = "count them with --source virtual, in a program that loft starts";
      return Failure(counters.error());
    }
    calls.meters.counters = *std::move(counters);
  }
  calls.request = request;
  calls.command = flags.command;
  calls.processes = flags.pids;
  calls.life = life;
  if (!flags.duration.empty()) {
    LOFT_TRY(calls.most, parse_duration(flags.duration));
  }
  return source::calls::watch_calls(calls);
}

bool is_recording(const OutputFlags& output) {
  return output.format.empty() && output.file.ends_with(".data");
}

Result<void> keep(const sample::CallRun& run, const CallFlags& flags, Terminal& terminal) {
  source::scheduler::RecordingFacts facts;
  facts.version = LOFT_VERSION;
  facts.command_line = {"loft", "call"};
  facts.command_line.insert(facts.command_line.end(), flags.patterns.begin(), flags.patterns.end());
  facts.command_line.emplace_back("--");
  facts.command_line.insert(facts.command_line.end(), flags.command.begin(), flags.command.end());
  LOFT_CHECK(source::scheduler::write_calls(flags.output.file, run, std::move(facts)));
  terminal.note(fmt::format("loft: {} kept in {}; see 'loft report --calls {}'\n",
                            view::number_of(run.calls.size(), "call"), flags.output.file,
                            flags.output.file));
  return {};
}

Result<int> call_rank(const CallFlags& flags, int life, Terminal& terminal) {
  LOFT_TRY(const sample::CallRequest request, make_request(flags));
  return run_as_rank(flags.job, flags.command, terminal,
                     [&](job::RankSummary& summary) -> Result<void> {
                       LOFT_TRY(const sample::CallRun run, count(flags, request, life));
                       LOFT_CHECK(check_found(run.functions.size(), request));
                       job::add_calls(run, summary);
                       return {};
                     });
}

Result<int> count_and_show(const CallFlags& flags, const Output<ShownCalls>* form, int life,
                           Terminal& terminal) {
  LOFT_TRY(const sample::CallRequest request, make_request(flags));
  LOFT_TRY(const sample::CallRun run, count(flags, request, life));
  LOFT_CHECK(check_found(run.functions.size(), request));
  if (form == nullptr) {
    LOFT_CHECK(keep(run, flags, terminal));
    return run.end.shell_status();
  }
  const ShownCalls shown{run, {tables_named(flags.tables), flags.rows}};
  LOFT_CHECK(write_output(*form, shown, flags.output, Stream::notes, terminal));
  return run.end.shell_status();
}

Result<int> run_call(CallFlags flags, Terminal& terminal) {
  const Output<ShownCalls>* form = nullptr;
  if (!is_recording(flags.output)) {
    LOFT_TRY(form, choose_output(call_outputs(), flags.output));
  }
  LOFT_CHECK(check(flags));
  const auto warning = launcher_warning(
      flags.command, "loft call '" + join(flags.patterns, "' '") + "'", flags.source != "virtual");
  if (!warning.empty()) terminal.note("loft: " + warning + "\n");
  if (!flags.job.is_given()) flags.output.file = own_output(flags.output.file);
  return run_guarded("watch calls", [&](int life) {
    return flags.job.is_given() ? call_rank(flags, life, terminal)
                                : count_and_show(flags, form, life, terminal);
  });
}

}  // namespace

void add_call(Command& app, Action& action) {
  auto flags = std::make_shared<CallFlags>();
  auto command =
      app.add_subcommand("call", "Count each call of the functions that match a pattern");
  command->add_option("--dso", flags->dso, "only functions of binaries with such a name: 'libm*'");
  command
      ->add_option(
          "-e,--event", flags->events,
          "events counted per call, comma-separated, up to 4; energy: what the machine used")
      ->allow_extra_args(false);
  command->add_option("-p,--pid", flags->pids, "watch these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--for", flags->duration, "with -p: watch for so long (10s)");
  command->add_option("--longer", flags->longer, "keep single calls that took as long: 10us");
  command->add_option("--depth", flags->depth, "keep single calls with fewer watched ones around");
  command
      ->add_option("--budget", flags->budget,
                   "leave a function alone whose watching takes more percent of the time (native)")
      ->check(between(0.001, 100.0));
  command->add_flag("--only-counts", flags->only_counts,
                    "count how often each function is called, and nothing else: cheaper (native)");
  command->add_option("--show", flags->tables, "one table: functions, slowest, tree or list")
      ->check(one_of(table_names()));
  command->add_option("--top", flags->rows, "rows of each table (20)");
  command
      ->add_option("--source", flags->source,
                   "who counts: native, the time; virtual, exact counts; auto: with -e, both in "
                   "two runs")
      ->check(one_of({"auto", "native", "virtual"}));
  add_job_flag(*command, flags->job);
  add_output_flags(*command, flags->output, forms_of(call_outputs()));
  command
      ->add_option("patterns", flags->patterns,
                   "functions, each a word or separated by commas: 'solve*' 'Matrix::*'")
      ->required()
      ->allow_extra_args(true);  // flags may stand between them
  // All words come with the patterns; without another place for them the parser refuses "--".
  command->add_option("command", flags->program, "the program and its arguments, after --");
  command->callback([flags, command, &action] {
    flags->command = take_after_dashes(flags->patterns, command.words_after_dashes());
    action = [flags](Terminal& terminal) { return run_call(*flags, terminal); };
  });
}

}  // namespace loft::cli
