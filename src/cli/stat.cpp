// loft stat: run a program, or watch one, and count.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/job_flags.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/source_flag.hpp"
#include "cli/threshold_flag.hpp"
#include "event/resolver.hpp"
#include "job/rank.hpp"
#include "job/summarize.hpp"
#include "machine/geometry.hpp"
#include "metric/request.hpp"
#include "metric/run_counts.hpp"
#include "roof/repeat_streams.hpp"
#include "source/choice/count.hpp"
#include "source/groups.hpp"
#include "source/region_file.hpp"
#include "source/repeat.hpp"
#include "source/virtual/event_names.hpp"
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
  SourceFlag source;
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
  std::vector<std::string> thresholds;
  std::string by;     // "function", "block" or "region"
  std::string model;  // of modelled events: "full", or sampled
  machine::GeometryTexts machine;
  MetricFlags metrics;
  OutputFlags output;
  JobFlags job;
};

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
  if (!flags.thresholds.empty() && repeated)
    return usage("--threshold is about one run", "leave out -r, or --threshold");
  if (!flags.thresholds.empty() && flags.source.asked() == sample::Source::perf_events)
    return usage("thresholds are the virtual PMU's", "use --source virtual");
  if (flags.by == "region" && (!flags.region.empty() || !flags.thresholds.empty()))
    return usage("--by region counts all of a program in parts, without thresholds",
                 "leave out --region and --threshold, or --by region");
  if (repeated && job::own_rank().value_or(job::only_rank()).size > 1)
    return usage("a rank of a parallel job cannot be repeated by itself: the others would wait",
                 "leave out -r, and start the whole job again");
  if (flags.job.is_given() &&
      (flags.command.empty() || flags.per_core || flags.per_thread || flags.interval_ms > 0 ||
       repeated || flags.by == "block" || flags.by == "region" || !flags.output.file.empty() ||
       !flags.output.format.empty()))
    return usage(
        "--job keeps the totals and functions of a program that loft starts",
        "leave out -p, --per-core, --per-thread, -I, -r, --by block and region, -o and --format");
  if (flags.by == "block" && flags.per_thread)
    return usage("blocks are counted over all threads",
                 "leave out --per-thread, or use --by function");
  return {};
}

std::optional<sample::Source> asked_source(const StatFlags& flags) {
  if (!flags.thresholds.empty()) return sample::Source::virtual_pmu;
  return flags.source.asked();
}

// Of the virtual PMU's events, those that models compute.
Result<bool> asks_for_models(const StatFlags& flags, const std::vector<event::Event>& events) {
  const auto& names = source::virtual_pmu::event_names();
  const bool asks = std::ranges::any_of(events, [&](const event::Event& event) {
    return event.encoding.is_virtual() && event.encoding.config < names.size() &&
           names[event.encoding.config].kind == event::VirtualKind::modelled;
  });
  const bool has_machine = !flags.machine.caches.empty() || !flags.machine.tlb.empty() ||
                           !flags.machine.predictor.empty() || !flags.model.empty();
  if (has_machine && !asks)
    return usage(
        "--model, --cache, --tlb and --predictor are of modelled events, and none is asked for",
        "give one with -e, such as l1d_misses, and --source virtual");
  return asks;
}

// Natively a program adds up the times of its regions itself.
bool has_native_regions(const StatFlags& flags) {
  return flags.by == "region" && flags.source.asked() == sample::Source::perf_events;
}

// Functions, blocks and regions are the virtual PMU's alone, but for times of marked regions.
event::PlainNames plain_names(const StatFlags& flags) {
  const auto source = asked_source(flags);
  if (has_native_regions(flags)) return event::PlainNames::never_virtual;
  if (source == sample::Source::virtual_pmu || !flags.region.empty() || !flags.by.empty())
    return event::PlainNames::virtual_first;
  // Without -e nobody expects a program to run twice.
  const bool is_watched = !flags.pids.empty() || flags.whole_machine || flags.per_core;
  const bool is_native = source == sample::Source::perf_events || flags.events.empty();
  return is_watched || is_native ? event::PlainNames::never_virtual : event::PlainNames::best;
}

// Thresholds, with their events among those that are counted.
Result<std::vector<source::Threshold>> read_thresholds(const StatFlags& flags,
                                                       event::Resolver& resolver,
                                                       std::vector<event::Event>& events) {
  std::vector<source::Threshold> thresholds;
  for (const std::string& text : flags.thresholds) {
    LOFT_TRY(const ThresholdText parsed, parse_threshold(text));
    LOFT_TRY(const event::Event event, resolver.resolve(parsed.event));
    if (std::ranges::count(flags.thresholds, text) > 1)
      return usage("the threshold '" + text + "' is there twice", "leave one out");
    const auto known = std::ranges::find_if(
        events, [&](const event::Event& other) { return other.counts_the_same_as(event); });
    thresholds.push_back(parsed.threshold);
    thresholds.back().event = static_cast<std::size_t>(known - events.begin());
    if (known == events.end()) events.push_back(event);
  }
  return thresholds;
}

struct Names {
  metric::Request request;
  std::vector<source::Threshold> thresholds;
};

// Events and metrics of -e, each name resolved once.
Result<Names> read_names(const StatFlags& flags, Terminal& terminal) {
  const event::PlainNames plain = plain_names(flags);
  const bool is_virtual = plain == event::PlainNames::virtual_first;
  event::Resolver resolver(source::known_names(plain));
  std::vector<std::string> lists = flags.events;
  if (lists.empty()) lists.emplace_back(is_virtual ? kDefaultVirtualEvents : kDefaultEvents);
  metric::Request request;
  if (flags.metrics.files.empty()) {
    LOFT_TRY(request, metric::read_request(lists, resolver,
                                           [&] { return load_metrics(flags.metrics, terminal); }));
  } else {
    LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
    LOFT_TRY(request, metric::read_request(lists, resolver, library));
  }
  // Metrics of which nothing can be counted still have a time, and say what they lack; a rate of
  // what the virtual PMU counts needs the time of a run without it.
  const bool has_native = std::ranges::any_of(request.events, [](const event::Event& event) {
    return event.uncountable.empty() && !event.encoding.is_virtual();
  });
  const bool lacks_time = plain == event::PlainNames::best && request.needs_time() && !has_native;
  if (request.events.empty() || lacks_time) {
    LOFT_TRY(auto event, resolver.resolve(is_virtual ? "instructions" : "task-clock"));
    request.events.push_back(std::move(event));
  }
  // Runs are aligned by instructions; where there are no counters, none is shared.
  const bool has_instructions = std::ranges::any_of(request.events, [](const event::Event& event) {
    return event.meaning == event::Meaning::instructions;
  });
  if (runs_by_need(flags) && !has_instructions)
    if (auto event = resolver.resolve("instructions"); event && event->uncountable.empty())
      request.events.push_back(*std::move(event));
  LOFT_TRY(auto thresholds, read_thresholds(flags, resolver, request.events));
  return Names{std::move(request), std::move(thresholds)};
}

source::Split split_of(const StatFlags& flags) {
  if (flags.by == "block") return source::Split::blocks;
  if (has_native_regions(flags))
    return flags.per_thread ? source::Split::threads : source::Split::none;
  if (flags.by == "region")
    return flags.per_thread ? source::Split::thread_regions : source::Split::regions;
  if (flags.by == "function")
    return flags.per_thread ? source::Split::thread_functions : source::Split::functions;
  if (flags.per_thread) return source::Split::threads;
  return flags.per_core ? source::Split::cpus : source::Split::none;
}

Result<source::CountRequest> make_request(const StatFlags& flags,
                                          const std::vector<event::Event>& events) {
  source::CountRequest request;
  request.events = events;
  request.command = flags.command;
  request.pids = flags.pids;
  request.whole_machine = flags.whole_machine;
  if (!flags.cpus.empty()) {
    LOFT_TRY(request.cpus, parse_cpu_list(flags.cpus));
  }
  request.region = flags.region;
  request.split = split_of(flags);
  if (flags.job.is_given() && asked_source(flags) == sample::Source::virtual_pmu)
    request.split = source::Split::functions;
  if (runs_by_need(flags)) {
    LOFT_TRY(request.groups, source::groups_of(events));
  }
  return request;
}

source::RepeatPolicy repeat_policy(const StatFlags& flags) {
  source::RepeatPolicy policy;
  policy.runs = repeats(flags);
  policy.until_unshared = runs_by_need(flags);
  if (flags.target_error > 0) policy.target = flags.target_error / 100;
  return policy;
}

// Counts once. Intervals are printed as they come where the result is text for a person.
class Counter {
 public:
  Counter(const StatFlags& flags, const metric::Request& names, Format format, Terminal& terminal)
      : names_(names), terminal_(terminal) {
    options_.only = asked_source(flags);
    options_.with_energy = true;
    options_.on_incomplete = [this](const Error& why) { incomplete_ = why; };
    // A rank that runs twice would wait for others that do not.
    if (!flags.job.is_given() && job::own_rank().value_or(job::only_rank()).size == 1)
      options_.streams = roof::streams_of_two_runs();
    if (flags.interval_ms > 0) {
      options_.interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags.interval_ms * 1e6));
      if (format == Format::text && flags.output.file.empty())
        options_.on_interval = [this](const auto& frame, const auto& interval) {
          print(frame, interval);
        };
    } else if (repeat_policy(flags).has_target()) {
      options_.interval = kOwnWindow;
    }
  }

  // Told at once, by whichever thread learns of it.
  void tell(const sample::ThresholdOutcome& outcome) {
    if (outcome.action != sample::ThresholdAction::print) return;
    const std::lock_guard lock(mutex_);
    terminal_.note(reached_text(names_.events[outcome.event].name, outcome));
    (void)terminal_.flush();
  }

  Result<sample::RunCounts> count(const source::CountRequest& request) {
    return source::count(request, options_);
  }

  // Why a part of the program was not counted, if one was not.
  [[nodiscard]] const std::optional<Error>& incomplete() const { return incomplete_; }

 private:
  void print(const sample::RunCounts& frame, const sample::IntervalCounts& interval) {
    const std::lock_guard lock(mutex_);
    terminal_.note(view::interval_text(frame, interval, names_.programs,
                                       metric::evaluate_interval(names_, frame, interval)));
    (void)terminal_.flush();  // a failure shows again at the end
  }

  const metric::Request& names_;
  Terminal& terminal_;
  std::mutex mutex_;  // of the terminal
  source::CountOptions options_;
  std::optional<Error> incomplete_;
};

// Counts the program as the flags say; `incomplete` is why a part of it was not counted.
Result<sample::RunCounts> count_program(const StatFlags& flags, const Names& read, Format format,
                                        std::optional<Error>& incomplete, Terminal& terminal) {
  const metric::Request& names = read.request;
  LOFT_TRY(auto request, make_request(flags, names.events));
  request.thresholds = read.thresholds;
  std::optional<core::MachineGeometry> modelled;
  LOFT_TRY(const bool has_models, asks_for_models(flags, names.events));
  if (has_models) {
    LOFT_TRY(modelled, machine::chosen_geometry(flags.machine));
    request.model = &*modelled;
    request.model_is_sampled = flags.model != "full";
  }
  std::optional<source::RegionFile> regions;
  if (has_native_regions(flags)) {
    LOFT_TRY(regions, source::RegionFile::create());
  }
  const source::RepeatPolicy policy = repeat_policy(flags);
  Counter counter(flags, names, format, terminal);
  request.on_threshold = [&](const auto& outcome) { counter.tell(outcome); };
  LOFT_TRY(auto run, source::count_repeatedly(
                         request, policy, [&](const auto& part) { return counter.count(part); },
                         [&](const sample::RunCounts& counted) {
                           return metric::uncertain(counted, metric::evaluate_run(names, counted),
                                                    policy.target_or_default());
                         }));
  if (regions) {
    run.regions = regions->regions(run);
    std::ranges::move(regions->notes(), std::back_inserter(run.notes));
  }
  incomplete = counter.incomplete();
  return run;
}

Result<int> count_rank(const StatFlags& flags, const Names& names, Terminal& terminal) {
  return run_as_rank(
      flags.job, flags.command, terminal, [&](job::RankSummary& summary) -> Result<void> {
        std::optional<Error> incomplete;
        LOFT_TRY(const auto run, count_program(flags, names, Format::json, incomplete, terminal));
        job::add_counts(run, summary);
        if (incomplete) summary.notes.push_back(to_string(*incomplete));
        return {};
      });
}

Result<int> run_stat(StatFlags flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_CHECK(check(flags));
  LOFT_TRY(const Names names, read_names(flags, terminal));
  const bool is_virtual = plain_names(flags) == event::PlainNames::virtual_first;
  const std::string warning = launcher_warning(flags.command, "loft stat", !is_virtual);
  if (!warning.empty()) terminal.note("loft: " + warning + "\n");
  if (flags.job.is_given()) return count_rank(flags, names, terminal);
  flags.output.file = own_output(flags.output.file);
  std::optional<Error> incomplete;
  LOFT_TRY(auto run, count_program(flags, names, format, incomplete, terminal));
  if (!warning.empty() && format != Format::text) run.notes.push_back(warning);
  auto metrics = metric::evaluate_run(names.request, run);
  if (flags.interval_ms <= 0) {  // they only told how certain the counts are
    run.intervals.clear();
    metrics.intervals.clear();
  }
  const std::string text = format == Format::json  ? view::stat_json(run, metrics)
                           : format == Format::csv ? view::stat_csv(run, metrics)
                                                   : view::stat_text(run, metrics);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  if (incomplete) return Failure(*incomplete);
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
  add_source_flag(*command, flags->source, "who counts, alone; virtual: exact, on any x86-64");
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
  command
      ->add_option("--by", flags->by,
                   "also show each function or basic block (virtual PMU), or each region that the "
                   "program marks")
      ->check(one_of({"function", "block", "region"}));
  command->add_option("--region", flags->region,
                      "count only inside this function and what it calls (virtual PMU)");
  command
      ->add_option("--threshold", flags->thresholds,
                   "EVENT=COUNT:ACTION: at this count snapshot, stop, print or signal[=NAME] "
                   "(virtual PMU)")
      ->allow_extra_args(false);
  command
      ->add_option("--model", flags->model,
                   "modelled events (virtual PMU): sampled, in windows of the run, estimates with "
                   "95 % intervals; full, with every instruction")
      ->check(one_of({"sampled", "full"}));
  command->add_option("--cache", flags->machine.caches,
                      "caches of the model: a machine (zen3) or L1D=48k,12:L2=1m,8");
  command->add_option("--tlb", flags->machine.tlb, "TLBs of the model: DTLB=64:STLB=2048,16");
  command->add_option("--predictor", flags->machine.predictor,
                      "branch predictor of the model: bimodal, gshare, perceptron or tage[,BITS]");
  command->add_flag("--per-core", flags->per_core, "also show each CPU");
  command->add_flag("-a,--system", flags->whole_machine, "count everything on the machine");
  command->add_option("-C,--cpu", flags->cpus, "with --system or --per-core: these CPUs (0-3,8)");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  add_job_flag(*command, flags->job);
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_stat(*flags, terminal); };
  });
}

}  // namespace loft::cli
