#include "cli/stat_flags.hpp"

#include "job/rank.hpp"

namespace loft::cli {
namespace {

std::string runs_problem(const std::string& text) {
  const auto number = parse_u64(text);
  if (text == "auto" || (number && *number >= 1 && *number <= 10000)) return {};
  return "a number from 1 to 10000 or auto was expected";
}

}  // namespace

Failure stat_usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "count", std::move(why), std::move(hint));
}

Result<void> check(const StatFlags& flags) {
  if (flags.command.empty() && flags.pids.empty() && !flags.whole_machine)
    return stat_usage(
        "there is nothing to count",
        "give a program (loft stat -- ./app), a process (-p PID) or the machine (--system)");
  if (flags.whole_machine && !flags.pids.empty())
    return stat_usage("--system and -p exclude each other", "leave one of them out");
  if (flags.per_thread && flags.whole_machine)
    return stat_usage("threads cannot be told apart on whole CPUs",
                      "count a program or a process with --per-thread");
  const bool repeated = repeats(flags) > 1 || runs_by_need(flags);
  if (repeated && (flags.command.empty() || !flags.pids.empty()))
    return stat_usage("only a program that loft starts can be repeated", "leave out -r");
  if (repeated && (flags.interval_ms > 0 || flags.per_thread || flags.per_core))
    return stat_usage("-r gives means of whole runs",
                      "leave out -I, --per-thread and --per-core, or -r");
  if (!flags.by.empty() && (flags.per_core || flags.interval_ms > 0 || repeated))
    return stat_usage("--by shows the parts of one whole run",
                      "leave out --per-core, -I and -r, or --by");
  if (!flags.thresholds.empty() && repeated)
    return stat_usage("--threshold is about one run", "leave out -r, or --threshold");
  if (!flags.thresholds.empty() && flags.source.asked() == sample::Source::perf_events)
    return stat_usage("thresholds are the virtual PMU's", "use --source virtual");
  if (flags.sharing &&
      (flags.source.asked() == sample::Source::perf_events || flags.model == "sampled" ||
       !flags.region.empty() || flags.by == "region" || repeated))
    return stat_usage("--sharing is a model of every instruction of one run, by the virtual PMU",
                      "leave out --source counters, --model sampled, --region, --by region and -r");
  if (flags.by == "region" && (!flags.region.empty() || !flags.thresholds.empty()))
    return stat_usage("--by region counts all of a program in parts, without thresholds",
                      "leave out --region and --threshold, or --by region");
  if (repeated && job::own_rank().value_or(job::only_rank()).size > 1)
    return stat_usage(
        "a rank of a parallel job cannot be repeated by itself: the others would wait",
        "leave out -r, and start the whole job again");
  if (flags.job.is_given() &&
      (flags.command.empty() || flags.per_core || flags.per_thread || flags.interval_ms > 0 ||
       repeated || (!flags.by.empty() && flags.by != "function") || !flags.output.file.empty() ||
       !flags.output.format.empty()))
    return stat_usage(
        "--job keeps the totals and functions of a program that loft starts",
        "leave out -p, --per-core, --per-thread, -I, -r, --by but function, -o and --format");
  if ((flags.by == "block" || flags.by == "line") && flags.per_thread)
    return stat_usage("blocks and lines are counted over all threads",
                      "leave out --per-thread, or use --by function");
  return {};
}

void add_stat_flags(Command& command, StatFlags& flags) {
  command
      .add_option("-e,--event", flags.events,
                  "events, event sets or metrics, comma-separated; {a,b} are counted together")
      ->allow_extra_args(false);
  add_source_flag(command, flags.source,
                  "who counts, alone; virtual: exact, on any x86-64; counters,virtual: both, "
                  "side by side",
                  {std::string(kBothSources)});
  command.add_option("-p,--pid", flags.pids, "watch these running processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("-I,--interval", flags.interval_ms, "print counts every so many milliseconds")
      ->check(between(1.0, 1e9));
  command
      .add_option(
          "-r,--repeat,--runs", flags.runs,
          "run the program so often: mean and spread; auto: as often as it takes for events "
          "not to share counters, when --target-error is exceeded")
      ->check(runs_problem);
  command
      .add_option("--target-error", flags.target_error,
                  "how far estimates may be off, in percent (with --runs auto: 5)")
      ->check(between(0.001, 100.0));
  command.add_flag("--per-thread", flags.per_thread, "also show each thread");
  command
      .add_option("--by", flags.by,
                  "also show each function, basic block or source line (virtual PMU), or each "
                  "region that the program marks")
      ->check(one_of({"function", "block", "line", "region"}));
  command.add_flag("--sharing", flags.sharing,
                   "show which cache lines threads pass to each other, and the variables and "
                   "functions that do it; by a model of every instruction (virtual PMU)");
  command.add_option("--region", flags.region,
                     "count only inside this function and what it calls (virtual PMU)");
  command
      .add_option("--threshold", flags.thresholds,
                  "EVENT=COUNT:ACTION: at this count snapshot, stop, print or signal[=NAME] "
                  "(virtual PMU)")
      ->allow_extra_args(false);
  command
      .add_option("--model", flags.model,
                  "modelled events (virtual PMU): sampled, in windows of the run, estimates with "
                  "95 % intervals; full, with every instruction")
      ->check(one_of({"sampled", "full"}));
  command.add_option("--cache", flags.machine.caches,
                     "caches of the model: a machine (zen3) or L1D=48k,12:L2=1m,8");
  command.add_option("--tlb", flags.machine.tlb, "TLBs of the model: DTLB=64:STLB=2048,16");
  command.add_option("--predictor", flags.machine.predictor,
                     "branch predictor of the model: bimodal, gshare, perceptron or tage[,BITS]");
  command.add_flag("--per-core", flags.per_core, "also show each CPU");
  command.add_flag("-a,--system", flags.whole_machine, "count everything on the machine");
  command.add_option("-C,--cpu", flags.cpus, "with --system or --per-core: these CPUs (0-3,8)");
}

}  // namespace loft::cli
