// loft stat: run a program, or watch one, and count.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "cli/stat_both.hpp"
#include "cli/stat_flags.hpp"
#include "cli/threshold_flag.hpp"
#include "event/resolver.hpp"
#include "job/rank.hpp"
#include "job/summarize.hpp"
#include "metric/request.hpp"
#include "metric/run_counts.hpp"
#include "roof/repeat_streams.hpp"
#include "source/choice/count.hpp"
#include "source/groups.hpp"
#include "source/region_file.hpp"
#include "source/repeat.hpp"
#include "source/virtual/event_names.hpp"
#include "view/stat.hpp"
#include "view/stat_bars.hpp"

namespace loft::cli {
namespace {

// What is counted when nothing is asked for.
constexpr std::string_view kDefaultEvents =
    "task-clock,context-switches,cpu-migrations,page-faults,"
    "cycles,instructions,branches,branch-misses";

constexpr std::string_view kDefaultVirtualEvents =
    "instructions,branches,branches_taken,loads,stores,load_bytes,store_bytes,"
    "flops_sp,flops_dp,syscalls";

// What --sharing adds to the events.
constexpr std::string_view kSharingEvents =
    "line_transfers,true_sharing,false_sharing,line_invalidations";

// Windows that tell how much a multiplexed count varies, where no -I asks for others.
constexpr Nanoseconds kOwnWindow = std::chrono::milliseconds(50);

std::optional<sample::Source> asked_source(const StatFlags& flags) {
  if (!flags.thresholds.empty() || flags.sharing) return sample::Source::virtual_pmu;
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
    return stat_usage(
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
      return stat_usage("the threshold '" + text + "' is there twice", "leave one out");
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
  if (lists.empty() && !flags.sharing)
    lists.emplace_back(is_virtual ? kDefaultVirtualEvents : kDefaultEvents);
  if (flags.sharing) lists.emplace_back(kSharingEvents);
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
  if (flags.by == "line") return source::Split::lines;
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
  Counter(const StatFlags& flags, const metric::Request& names, bool is_text, Terminal& terminal)
      : names_(names), terminal_(terminal) {
    options_.only = asked_source(flags);
    options_.with_energy = true;
    options_.on_incomplete = [this](const Error& why) { incomplete_ = why; };
    // A rank that runs twice would wait for others that do not.
    if (!flags.job.is_given() && job::own_rank().value_or(job::only_rank()).size == 1)
      options_.streams = roof::streams_of_two_runs();
    if (flags.interval_ms > 0) {
      options_.interval = Nanoseconds(static_cast<Nanoseconds::rep>(flags.interval_ms * 1e6));
      if (is_text && flags.output.file.empty())
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
Result<sample::RunCounts> count_program(const StatFlags& flags, const Names& read, bool is_text,
                                        sample::CodeDetails& details,
                                        std::optional<Error>& incomplete, Terminal& terminal) {
  const metric::Request& names = read.request;
  LOFT_TRY(auto request, make_request(flags, names.events));
  request.thresholds = read.thresholds;
  details.wants_sharing = flags.sharing;
  request.details = &details;
  std::optional<core::MachineGeometry> modelled;
  LOFT_TRY(const bool has_models, asks_for_models(flags, names.events));
  if (has_models) {
    LOFT_TRY(modelled, machine::chosen_geometry(flags.machine));
    request.model = &*modelled;
    request.model_is_sampled = flags.model != "full" && !flags.sharing;
  }
  std::optional<source::RegionFile> regions;
  if (has_native_regions(flags)) {
    LOFT_TRY(regions, source::RegionFile::create());
  }
  const source::RepeatPolicy policy = repeat_policy(flags);
  Counter counter(flags, names, is_text, terminal);
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
        sample::CodeDetails details;
        LOFT_TRY(const auto run, count_program(flags, names, false, details, incomplete, terminal));
        job::add_counts(run, summary);
        if (incomplete) summary.notes.push_back(to_string(*incomplete));
        return {};
      });
}

// What is shown.
struct Counted {
  sample::RunCounts run;
  metric::RunMetrics metrics;
  sample::CodeDetails details;
};

std::string text(const Counted& counted) {
  return view::stat_text(counted.run, counted.metrics, counted.details);
}
std::string json(const Counted& counted) {
  return view::stat_json(counted.run, counted.metrics, counted.details);
}
std::string csv(const Counted& counted) {
  return view::stat_csv(counted.run, counted.metrics, counted.details);
}
Result<std::string> svg(const Counted& counted) {
  return view::stat_svg(counted.run, counted.metrics);
}

const std::vector<Output<Counted>> kOutputs{{{"text", {".txt"}}, whole<text>},
                                            {{"json", {".json"}}, whole<json>},
                                            {{"csv", {".csv"}}, whole<csv>},
                                            {{"svg", {".svg"}}, whole<svg>}};

// Two counts of the same, and nothing that only one of them has.
Result<int> compare_sources(const StatFlags& flags, Terminal& terminal) {
  const bool has_parts = !flags.by.empty() || flags.per_thread || flags.per_core || flags.sharing;
  if (flags.command.empty() || !flags.pids.empty() || flags.whole_machine || has_parts ||
      flags.interval_ms > 0 || repeats(flags) > 1 || runs_by_need(flags) || !flags.region.empty() ||
      !flags.thresholds.empty() || flags.job.is_given())
    return stat_usage(
        "two sources are compared by the totals of a program that loft starts",
        "leave out -p, --system, --per-thread, --per-core, --by, --sharing, --region, "
        "--threshold, --job, -I and -r");
  return run_both({.events = flags.events,
                   .command = flags.command,
                   .machine = flags.machine,
                   .is_sampled = flags.model != "full",
                   .metrics = flags.metrics,
                   .output = flags.output},
                  terminal);
}

Result<int> run_stat(StatFlags flags, Terminal& terminal) {
  if (flags.source.word == kBothSources) return compare_sources(flags, terminal);
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  const bool is_text = output->name == "text";
  LOFT_CHECK(check(flags));
  LOFT_TRY(const Names names, read_names(flags, terminal));
  const bool is_virtual = plain_names(flags) == event::PlainNames::virtual_first;
  const std::string warning = launcher_warning(flags.command, "loft stat", !is_virtual);
  if (!warning.empty()) terminal.note("loft: " + warning + "\n");
  if (flags.job.is_given()) return count_rank(flags, names, terminal);
  flags.output.file = own_output(flags.output.file);
  std::optional<Error> incomplete;
  Counted counted;
  LOFT_TRY(counted.run,
           count_program(flags, names, is_text, counted.details, incomplete, terminal));
  if (!warning.empty() && !is_text) counted.run.notes.push_back(warning);
  counted.metrics = metric::evaluate_run(names.request, counted.run);
  if (flags.interval_ms <= 0) {  // they only told how certain the counts are
    counted.run.intervals.clear();
    counted.metrics.intervals.clear();
  }
  LOFT_CHECK(write_output(*output, counted, flags.output, Stream::notes, terminal));
  if (incomplete) return Failure(*incomplete);
  return counted.run.exit_status;
}

}  // namespace

void add_stat(Command& app, Action& action) {
  auto flags = std::make_shared<StatFlags>();
  auto command = app.add_subcommand("stat", "Run a program, or watch one, and count events");
  add_stat_flags(*command, *flags);
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  add_job_flag(*command, flags->job);
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_stat(*flags, terminal); };
  });
}

}  // namespace loft::cli
