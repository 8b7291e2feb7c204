#include "source/choice/count.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "event/virtual_names.hpp"
#include "sample/code_details.hpp"
#include "source/energy/usage.hpp"
#include "source/groups.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using sample::Count;
using sample::RunCounts;

// The counts of a part, put in the places that its events have in the whole request.
class Places {
 public:
  Places(const std::vector<std::size_t>& events, const std::vector<std::string>& missing)
      : events_(events), missing_(missing) {}

  [[nodiscard]] std::vector<Count> spread(std::vector<Count> counts) const {
    std::vector<Count> all;
    for (const std::string& why : missing_)
      all.push_back(Count::missing(why.empty() ? "counted in another run" : why));
    for (std::size_t i = 0; i < events_.size(); ++i) all[events_[i]] = std::move(counts[i]);
    return all;
  }

  template <class Part>
  void spread(std::vector<Part>& parts) const {
    for (Part& part : parts) part.counts = spread(std::move(part.counts));
  }

  void spread_interval(sample::IntervalCounts& interval) const {
    interval.counts = spread(std::move(interval.counts));
    spread(interval.threads);
    spread(interval.cpus);
  }

 private:
  const std::vector<std::size_t>& events_;
  const std::vector<std::string>& missing_;
};

std::vector<sample::CountedEvent> missing_events(const CountRequest& request,
                                                 const std::vector<std::string>& missing) {
  std::vector<sample::CountedEvent> events;
  for (std::size_t i = 0; i < request.events.size(); ++i)
    events.push_back(sample::CountedEvent::of(request.events[i], Count::missing(missing[i])));
  return events;
}

class Counting {
 public:
  Counting(const CountRequest& request, const CountOptions& options, Assignment assignment)
      : request_(request), options_(options), assignment_(std::move(assignment)) {}

  Result<RunCounts> all() {
    std::optional<Error> first_error;
    for (std::size_t p = 0; p < assignment_.parts.size(); ++p) {
      auto run = one(assignment_.parts[p]);
      if (run) {
        add(assignment_.parts[p], *std::move(run));
        continue;
      }
      if (assignment_.parts.size() == 1 || is_of_program(run.error()))
        return Failure(std::move(run).error());
      if (!first_error) first_error = run.error();
      for (const std::size_t event : assignment_.parts[p].events)
        assignment_.missing[event] = run.error().why;
    }
    if (!whole_) return Failure(*first_error);
    for (std::size_t i = 0; i < request_.events.size(); ++i)
      if (!assignment_.missing[i].empty())
        whole_->events[i].total = Count::missing(assignment_.missing[i]);
    add_note();
    return *std::move(whole_);
  }

 private:
  // No other source runs what is no program.
  static bool is_of_program(const Error& error) {
    return error.kind == ErrorKind::no_such_command || error.kind == ErrorKind::cannot_execute;
  }

  Result<RunCounts> one(const SourcePart& part) {
    CountRequest request = request_;
    request.reads_parts_live = options_.interval.has_value();
    request.events.clear();
    for (const std::size_t event : part.events) request.events.push_back(request_.events[event]);
    for (Threshold& threshold : request.thresholds)
      threshold.event = place_in(part, threshold.event);
    LOFT_TRY(request.groups, groups_of(request.events));
    if (assignment_.parts.size() > 1) {
      LOFT_TRY(request.streams, options_.streams(!whole_));
    }
    LOFT_TRY(const auto run, part.source->prepare(request));
    WatchOptions options = watch_options(part, *run);
    // Under the engine the machine spends more than the program takes.
    const bool is_native = part.source->id == sample::Source::perf_events;
    if (!options_.with_energy || !is_native) return watch(*run, request, options);
    return watch_energy(*run, request, std::move(options));
  }

  // Where an event of the request stands among those of a part, which has it.
  static std::size_t place_in(const SourcePart& part, std::size_t event) {
    const auto found = std::ranges::find(part.events, event);
    return found == part.events.end() ? 0 : static_cast<std::size_t>(found - part.events.begin());
  }

  // Meters go around; they are read so often that none goes around twice.
  static Result<RunCounts> watch_energy(CountingRun& run, const CountRequest& request,
                                        WatchOptions options) {
    constexpr Nanoseconds kStep = std::chrono::seconds(1);
    auto energy = energy::EnergyUsage::start();
    if (!energy.has_gauges()) return watch(run, request, options);
    const bool has_intervals = options.interval.has_value();
    if (!has_intervals) options.interval = kStep;
    options.on_interval = [&energy, print = options.on_interval](const auto& interval) {
      energy.poll();
      if (print) print(interval);
    };
    LOFT_TRY(auto counts, watch(run, request, options));
    counts.energy = energy.so_far();
    if (!has_intervals) counts.intervals.clear();
    return counts;
  }

  [[nodiscard]] WatchOptions watch_options(const SourcePart& part, const CountingRun& run) const {
    WatchOptions options;
    options.interval = options_.interval;
    options.on_incomplete = options_.on_incomplete;
    if (!options_.on_interval) return options;
    RunCounts frame;
    frame.source = run.source();
    frame.events = missing_events(request_, assignment_.missing);
    for (std::size_t i = 0; i < part.events.size(); ++i)
      frame.events[part.events[i]] = sample::CountedEvent::of(run.events()[i]);
    options.on_interval = [this, &part, frame](const sample::IntervalCounts& interval) {
      sample::IntervalCounts whole = interval;
      Places(part.events, assignment_.missing).spread_interval(whole);
      options_.on_interval(frame, whole);
    };
    return options;
  }

  // The first run gives times, status and parts; a further one only counts.
  void add(const SourcePart& part, RunCounts run) {
    std::vector<sample::CountedEvent> counted = std::move(run.events);
    if (!whole_) {
      whole_ = std::move(run);
      whole_->events = missing_events(request_, assignment_.missing);
      const Places places(part.events, assignment_.missing);
      places.spread(whole_->threads);
      places.spread(whole_->cpus);
      places.spread(whole_->functions);
      places.spread(whole_->blocks);
      if (request_.details != nullptr) places.spread(request_.details->lines);
      places.spread(whole_->thread_functions);
      places.spread(whole_->regions);
      for (auto& region : whole_->regions) region.self = places.spread(std::move(region.self));
      for (auto& interval : whole_->intervals) places.spread_interval(interval);
      for (auto& outcome : whole_->thresholds) {
        outcome.event = part.events[outcome.event];
        if (!outcome.counts.empty()) outcome.counts = places.spread(std::move(outcome.counts));
      }
    } else {
      whole_->source = sample::Source::combined;
      std::ranges::move(run.notes, std::back_inserter(whole_->notes));
      if (run.exit_status != whole_->exit_status)
        whole_->notes.push_back(
            fmt::format("the program ended with status {} natively and with {} under the virtual "
                        "PMU: the two runs differ",
                        whole_->exit_status, run.exit_status));
    }
    for (std::size_t i = 0; i < part.events.size(); ++i)
      whole_->events[part.events[i]] = std::move(counted[i]);
  }

  // Who asked for the virtual PMU by name knows that it counted.
  void add_note() {
    std::vector<std::string> names;
    for (const sample::CountedEvent& event : whole_->events)
      if (event.id.encoding.is_virtual() && event.total.is_available() &&
          !event.name.starts_with(event::kVirtualPrefix))
        names.push_back(event.name);
    if (whole_->source == sample::Source::combined) {
      whole_->notes.push_back(
          "the program ran twice: natively, which gives the times, and under the virtual PMU");
    } else if (options_.only || whole_->source != sample::Source::virtual_pmu) {
      return;
    }
    if (!names.empty())
      whole_->notes.push_back("counted by the virtual PMU, in user mode: " + join(names, ", "));
  }

  const CountRequest& request_;
  const CountOptions& options_;
  Assignment assignment_;
  std::optional<RunCounts> whole_;
};

}  // namespace

Result<RunCounts> count(const CountRequest& request, const CountOptions& options) {
  const bool in_one_run = request.split != Split::none || options.interval || !options.streams;
  LOFT_TRY(auto assignment, assign_sources(request, {options.only, in_one_run}));
  return Counting(request, options, std::move(assignment)).all();
}

}  // namespace loft::source
