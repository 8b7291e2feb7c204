#include "cli/roof_flags.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.hpp"
#include "cli/roof_outputs.hpp"
#include "job/rank.hpp"
#include "source/file/count_recording.hpp"
#include "source/several_runs.hpp"

namespace loft::cli {
namespace {

unsigned most_runs(const RoofFlags& flags) {
  return flags.runs == "auto" ? source::kMostRuns
                              : static_cast<unsigned>(parse_u64(flags.runs).value_or(1));
}

std::string runs_problem(const std::string& text) {
  const auto number = parse_u64(text);
  if (text == "auto" || (number && *number >= 1 && *number <= source::kMostRuns)) return {};
  return fmt::format("a number from 1 to {} or auto was expected", source::kMostRuns);
}

roof::BytesAt bytes_of(const RoofFlags& flags) {
  if (flags.model == "levels") return roof::BytesAt::levels;
  return flags.model == "dram" ? roof::BytesAt::memory : roof::BytesAt::core;
}

bool is_recording_wanted(const RoofFlags& flags) {
  const auto output = choose_output(roof_outputs(), flags.output);
  return output && ((*output)->needs & kIsRecording) != 0;
}

// A program is never run by mistake: what stands before -- is a recording, or an error.
Result<void> check_recordings(const RoofFlags& flags) {
  if (flags.recordings.empty()) return {};
  if (!flags.command.empty())
    return roof_usage("it was given both recordings and a program",
                      "name recordings alone, or a program after --");
  for (const std::string& name : flags.recordings) {
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored))
      return failure(ErrorKind::not_found, "read '" + name + "'", "there is no such file",
                     "name a recording, or a program after --: loft roof -- " + name);
    LOFT_TRY(const bool is_recording, source::is_recording(name));
    if (!is_recording)
      return failure(ErrorKind::malformed, "read '" + name + "'",
                     "it is no recording, or its beginning is damaged",
                     "a program to run stands after --: loft roof -- " + name);
  }
  return {};
}

Result<void> check_rank(const RoofFlags& flags) {
  if (!flags.pass.empty() && (!flags.job.is_given() || flags.once))
    return roof_usage("--pass is one of the two runs of a job",
                      "name the job's folder with --job, and leave out --once");
  if (!is_rank(flags)) return {};
  if (most_runs(flags) > 1 || (flags.loops && !flags.once) || !flags.other_machine.empty())
    return roof_usage("a rank of a parallel job runs once, while the others wait for it",
                      "leave out --runs and --on, and add --once for --loops");
  if (flags.loops && flags.job.is_given())
    return roof_usage("--job keeps what functions did, not their loops",
                      "leave out --loops, or keep a recording of each rank: --once -o FILE.data");
  const bool has_output = !flags.output.file.empty() || !flags.output.format.empty();
  if (flags.job.is_given() && (has_output || flags.command.empty() || !flags.pids.empty()))
    return roof_usage(
        "--job keeps sums of a program that loft starts",
        "leave out -p, recordings, -o and --format: srun loft roof --job DIR -- ./app");
  return {};
}

}  // namespace

bool is_rank(const RoofFlags& flags) {
  const auto rank = job::own_rank();
  return flags.job.is_given() || (rank && rank->size > 1);
}

roof::Wanted wanted_of(const RoofFlags& flags) {
  roof::Wanted wanted{.functions = flags.functions, .threads = flags.by_thread, .top = flags.top};
  wanted.all_loops = flags.loops;
  wanted.what_if = flags.what_if;
  const auto output = choose_output(roof_outputs(), flags.output);
  wanted.code = output && ((*output)->needs & kShowsCode) != 0;
  if (flags.ops == "flops") wanted.ops = model::RoofKind::flops;
  if (flags.ops == "instructions") wanted.ops = model::RoofKind::instructions;
  if (flags.ops == "int") wanted.ops = model::RoofKind::integer;
  return wanted;
}

roof::Target target_of(const RoofFlags& flags) {
  return {.command = flags.command,
          .pids = flags.pids,
          .most_runs = most_runs(flags),
          .keep_going = flags.keep_going,
          .file = is_recording_wanted(flags) ? flags.output.file : std::string(),
          .bytes = bytes_of(flags)};
}

Failure roof_usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "draw a roofline", std::move(why), std::move(hint));
}

Result<void> check(const RoofFlags& flags) {
  LOFT_CHECK(check_recordings(flags));
  if (flags.recordings.empty() && flags.command.empty() && flags.pids.empty())
    return roof_usage("no program was given", "write it after --, as in: loft roof -- ./app");
  const bool is_beyond_core = flags.model != "cache";
  const bool is_virtual = flags.once || flags.source.is_virtual();
  const bool is_native = flags.source.asked() == sample::Source::perf_events;
  const bool needs_counters = is_native || !flags.pids.empty();
  if (flags.once && is_native)
    return roof_usage("the virtual PMU is no counter of the machine",
                      "leave out --once or --source perf_events");
  if (is_beyond_core && flags.once)
    return roof_usage("bytes beyond the core are modelled in a further run",
                      "leave out --once or --model");
  if (flags.model == "levels" && (is_native || !flags.pids.empty()))
    return roof_usage("bytes of every level are modelled, from a run under the virtual PMU",
                      "leave out -p and --source perf_events");
  if (!flags.pids.empty() && is_virtual)
    return roof_usage("the virtual PMU counts only what it starts itself",
                      "leave out -p, or --once and --source virtual");
  if (most_runs(flags) > 1 && (is_virtual || !flags.pids.empty()))
    return roof_usage(is_virtual ? "the virtual PMU counts everything in one run"
                                 : "only a program that loft starts can be repeated",
                      "leave out --runs");
  if (flags.loops && needs_counters)
    return roof_usage("loops are found by the virtual PMU",
                      "leave out --loops, or --source perf_events and -p");
  if (flags.ops == "int" && needs_counters)
    return roof_usage("operations on integers are counted by the virtual PMU alone",
                      "leave out --ops int, or --source perf_events and -p");
  if (!flags.calls.empty() && (flags.command.empty() || flags.once || is_rank(flags) ||
                               is_beyond_core || !flags.other_machine.empty()))
    return roof_usage("calls are measured in two more runs of a program that loft starts",
                      "leave out --calls, or -p, recordings, --once, --on, --job and --model");
  if (!flags.other_machine.empty() &&
      (needs_counters || is_beyond_core || flags.once || !flags.recordings.empty()))
    return roof_usage(
        "another machine is modelled with the virtual PMU, in further runs of a program",
        "leave out --on, or --once, --model, --source perf_events, -p and recordings");
  LOFT_CHECK(check_rank(flags));
  LOFT_TRY(const auto* output, choose_output(roof_outputs(), flags.output));
  if ((output->needs & kIsRecording) != 0 && flags.output.file.empty())
    return roof_usage("a recording needs a file", "name it with -o");
  return {};
}

void add_roof_flags(Command& command, RoofFlags& flags) {
  command.add_option("--machine", flags.machine,
                     "the machine file to use (default: this machine's)");
  command.add_option("--on", flags.other_machine,
                     "show how it would run on the machine of this file, by a model");
  add_source_flag(command, flags.source,
                  "who counts operations and bytes (default: the first that can)");
  command
      .add_option(
          "--model", flags.model,
          "cache: bytes as the core sees them, roofs of every level (default); dram: bytes "
          "that memory moves; levels: bytes at every level, a point at each; by a model in a "
          "further run, which takes long, where no counter of the machine tells them")
      ->check(one_of({"cache", "dram", "levels"}));
  command
      .add_option("--ops", flags.ops,
                  "what counts as work: flops, instructions, int (operations on integers), or what "
                  "fits the program (auto, the default): instructions where it has hardly any "
                  "floating point")
      ->check(one_of({"auto", "flops", "instructions", "int"}));
  command
      .add_option("-m,--metrics", flags.metrics.files,
                  "metrics that say which events are operations and bytes")
      ->allow_extra_args(false);
  command.add_option("--function", flags.functions, "show only functions with this in their name")
      ->allow_extra_args(false);
  command
      .add_option("--calls", flags.calls,
                  "each call of these functions as a point, instead of slices of time, by two more "
                  "runs: 'solve*'")
      ->allow_extra_args(false);
  command.add_option("--top", flags.top, "show so many functions (default: 8)")
      ->check(between(std::size_t{1}, std::size_t{1000}));
  command.add_flag("--loops", flags.loops, "also show loops that take little of the time");
  command.add_flag("--what-if", flags.what_if,
                   "also show how much faster it would be without each cause");
  command.add_flag("--per-thread", flags.by_thread, "also show each thread");
  command.add_flag("--threads", flags.by_thread, "")->hide();
  command.add_option("-p,--pid", flags.pids, "watch these running processes, with counters")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--runs", flags.runs,
                  "run the program at most so often, that events need not share counters; auto: as "
                  "often as it takes")
      ->check(runs_problem);
  command.add_flag("--once", flags.once,
                   "run the program once, under the virtual PMU, and estimate its time");
  command
      .add_option("--pass", flags.pass,
                  "with --job: measure the time in one job and the counts in another; the report "
                  "joins them by rank")
      ->check(one_of({"time", "counts"}));
  add_job_flag(command, flags.job);
  command.add_flag("--keep-going", flags.keep_going,
                   "take the counts even when the program's two runs end differently");
  add_output_flags(command, flags.output, forms_of(roof_outputs()));
  command.add_option(
      "command", flags.recordings,
      "the program and its arguments, after --; or recordings of this command; with -p a "
      "program whose end ends the watching");
}

}  // namespace loft::cli
