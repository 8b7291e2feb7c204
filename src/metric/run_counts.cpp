#include "metric/run_counts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "metric/unit.hpp"

namespace loft::metric {
namespace {

// What one count of the event is in base units.
double base_scale(const sample::CountedEvent& event) {
  const auto unit = parse_unit(event.unit);
  return event.scale * (unit ? unit->factor : 1);
}

// On whole CPUs the clocks of tasks run while nothing does.
bool runs_while_idle(const sample::CountedEvent& event) {
  return event.whole_machine && (event.id.meaning == event::Meaning::task_clock ||
                                 event.id.meaning == event::Meaning::cpu_clock);
}

Quantity idle_clock() {
  return Quantity::missing("on whole CPUs this clock also runs while they are idle");
}

// Under the virtual PMU the program runs slower than it is: no rate follows from its time.
Quantity time_of(const sample::RunCounts& run, double seconds) {
  if (run.has_engine_time())
    return Quantity::missing("under the virtual PMU it is the engine's, not the program's");
  if (run.wall_origin == sample::Origin::missing)
    return Quantity::missing("it is not known how long the counts took");
  return {Number::real(seconds), run.wall_origin, {}};
}

Quantity total_time_of(const sample::RunCounts& run) {
  return time_of(run, run.wall_spread ? run.wall_spread->mean : to_seconds(run.wall));
}

// The operands of metrics over one set of counts, without a look at any name.
class BoundCounts {
 public:
  BoundCounts(const Request& request, std::vector<Quantity> events, Quantity time)
      : request_(request), events_(std::move(events)), time_(std::move(time)) {}

  [[nodiscard]] std::vector<Quantity> operands(std::size_t program) const {
    std::vector<Quantity> all;
    for (const Operand& operand : request_.operands[program]) all.push_back(quantity(operand));
    return all;
  }

  // The names are those of the run's events.
  [[nodiscard]] Value evaluate(std::size_t program, const sample::RunCounts& run,
                               std::span<const GroupEstimate> groups) const {
    const auto known = operands(program);
    Value value = request_.programs[program].evaluate(known);
    if (groups.empty()) return value;
    std::vector<std::vector<std::string>> rest_on;
    for (const Operand& operand : request_.operands[program]) {
      rest_on.emplace_back();
      for (const std::size_t event : operand.events)
        rest_on.back().push_back(run.events[event].name);
    }
    return with_interval(request_.programs[program], known, rest_on, std::move(value), groups);
  }

 private:
  [[nodiscard]] Quantity quantity(const Operand& operand) const {
    if (operand.is_time) return time_;
    if (operand.events.empty()) return Quantity::missing(operand.why);
    Quantity sum = events_[operand.events.front()];
    for (std::size_t i = 1; i < operand.events.size(); ++i) {
      const Quantity& next = events_[operand.events[i]];
      if (sum.origin == sample::Origin::missing) break;
      if (next.origin == sample::Origin::missing) return next;
      const auto both = add(sum.value, next.value);
      if (!both) return Quantity::missing("the sum over its PMUs has no finite value");
      sum = {*both, weaker(sum.origin, next.origin), {}};
    }
    return sum;
  }

  const Request& request_;
  std::vector<Quantity> events_;
  Quantity time_;
};

BoundCounts bound(const Request& request, const sample::RunCounts& run,
                  std::span<const sample::Count> counts, Quantity time) {
  std::vector<Quantity> events;
  for (std::size_t i = 0; i < run.events.size(); ++i)
    events.push_back(runs_while_idle(run.events[i])
                         ? idle_clock()
                         : Quantity::of(counts[i], base_scale(run.events[i])));
  return {request, std::move(events), std::move(time)};
}

BoundCounts bound_totals(const Request& request, const sample::RunCounts& run) {
  std::vector<Quantity> events;
  for (const sample::CountedEvent& event : run.events) events.push_back(quantity_of(event));
  return {request, std::move(events), total_time_of(run)};
}

// Counts that were modelled from windows bring their range along: each is a group of its own.
std::vector<GroupEstimate> groups_of_ranges(const sample::RunCounts& run,
                                            std::span<const sample::Count> counts) {
  constexpr double kNormalPoint = 1.959964;
  constexpr std::size_t kMany = 1'000'000;  // few windows have widened the range already
  std::vector<GroupEstimate> groups;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i].is_available() || !counts[i].range) continue;
    const double value = counts[i].value();
    const double half = std::max(counts[i].range->high - value, value - counts[i].range->low) *
                        base_scale(run.events[i]);
    groups.push_back({.events = {run.events[i].name},
                      .totals = {value * base_scale(run.events[i])},
                      .covariance = {half * half / (kNormalPoint * kNormalPoint)},
                      .rare = {false},
                      .windows = kMany});
  }
  return groups;
}

std::vector<Evaluated> evaluate_totals(const Request& request, const sample::RunCounts& run,
                                       std::span<const GroupEstimate> groups) {
  const BoundCounts counts = bound_totals(request, run);
  std::vector<Evaluated> all;
  for (std::size_t p = 0; p < request.programs.size(); ++p)
    all.push_back(evaluated(request.programs[p], counts.evaluate(p, run, groups)));
  return all;
}

template <class Part>
std::vector<std::vector<Value>> evaluate_parts(const Request& request, const sample::RunCounts& run,
                                               const std::vector<Part>& parts,
                                               const Quantity& time) {
  std::vector<std::vector<Value>> values;
  if (request.programs.empty()) return values;
  for (const Part& part : parts) {
    const BoundCounts counts = bound(request, run, part.counts, time);
    const auto groups = groups_of_ranges(run, part.counts);
    auto& of_part = values.emplace_back();
    for (std::size_t p = 0; p < request.programs.size(); ++p)
      of_part.push_back(counts.evaluate(p, run, groups));
  }
  return values;
}

std::vector<std::optional<Interval>> event_intervals(const sample::RunCounts& run,
                                                     std::span<const GroupEstimate> groups) {
  std::vector<std::optional<Interval>> intervals(run.events.size());
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const sample::CountedEvent& event = run.events[i];
    if (event.total.range)
      intervals[i] =
          Interval{event.total.range->low * event.scale, event.total.range->high * event.scale};
    for (const GroupEstimate& group : groups) {
      const auto half = half_width(group, event.name);
      if (!half || event.total.origin != sample::Origin::scaled) continue;
      const double in_unit = *half / base_scale(event) * event.scale;
      intervals[i] = Interval{event.value() - in_unit, event.value() + in_unit};
    }
  }
  return intervals;
}

}  // namespace

Quantity quantity_of(const sample::CountedEvent& event) {
  if (runs_while_idle(event)) return idle_clock();
  Quantity quantity = Quantity::of(event.total, base_scale(event));
  if (event.spread && event.total.is_available())
    quantity.value = Number::real(event.spread->mean * base_scale(event));
  return quantity;
}

CountSet counts_of(const sample::RunCounts& run) {
  CountSet counts;
  for (const sample::CountedEvent& event : run.events) counts.add(event.name, quantity_of(event));
  counts.add("time", total_time_of(run));
  return counts;
}

std::vector<GroupWindows> windows_of(const sample::RunCounts& run) {
  std::map<std::vector<std::int64_t>, GroupWindows> groups;
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    if (run.events[i].total.origin != sample::Origin::scaled) continue;
    std::vector<std::int64_t> key;
    std::vector<Window> windows;
    double enabled = 0;
    for (const sample::IntervalCounts& interval : run.intervals) {
      const sample::Count& count = interval.counts[i];
      enabled += to_seconds(count.enabled);
      key.push_back(count.running.count());
      if (count.is_available())
        windows.push_back({to_seconds(count.running),
                           {static_cast<double>(count.raw) * base_scale(run.events[i])}});
    }
    if (windows.empty()) continue;
    GroupWindows& group = groups[key];
    group.events.push_back(run.events[i].name);
    group.enabled = enabled;
    if (group.windows.empty()) {
      group.windows = std::move(windows);
    } else {
      for (std::size_t w = 0; w < windows.size(); ++w)
        group.windows[w].counts.push_back(windows[w].counts[0]);
    }
  }
  std::vector<GroupWindows> windows;
  for (auto& [key, group] : groups) windows.push_back(std::move(group));
  return windows;
}

RunMetrics evaluate_run(const Request& request, const sample::RunCounts& run) {
  RunMetrics metrics;
  auto groups = estimate_groups(windows_of(run));
  std::vector<sample::Count> totals;
  for (const sample::CountedEvent& event : run.events) totals.push_back(event.total);
  std::ranges::move(groups_of_ranges(run, totals), std::back_inserter(groups));
  metrics.total = evaluate_totals(request, run, groups);
  metrics.events = event_intervals(run, groups);
  const Quantity wall = time_of(run, to_seconds(run.wall));
  metrics.threads = evaluate_parts(request, run, run.threads, wall);
  metrics.cpus = evaluate_parts(request, run, run.cpus, wall);
  metrics.functions =
      evaluate_parts(request, run, run.functions, Quantity::missing("a function has none"));
  if (!request.programs.empty())
    for (const sample::IntervalCounts& interval : run.intervals)
      metrics.intervals.push_back(evaluate_interval(request, run, interval));
  return metrics;
}

std::optional<Interval> interval_of(const sample::CountedEvent& event, const RunMetrics& metrics,
                                    std::size_t index) {
  if (!event.total.is_available()) return std::nullopt;
  if (event.spread)
    return Interval{event.spread->low * event.scale, event.spread->high * event.scale};
  return index < metrics.events.size() ? metrics.events[index] : std::nullopt;
}

std::vector<Value> evaluate_interval(const Request& request, const sample::RunCounts& frame,
                                     const sample::IntervalCounts& interval) {
  const BoundCounts counts = bound(request, frame, interval.counts,
                                   time_of(frame, to_seconds(interval.end - interval.start)));
  std::vector<Value> values;
  for (std::size_t p = 0; p < request.programs.size(); ++p)
    values.push_back(counts.evaluate(p, frame, {}));
  return values;
}

std::vector<std::string> uncertain(const sample::RunCounts& run, const RunMetrics& metrics,
                                   double target) {
  std::vector<std::string> names;
  for (const Evaluated& metric : metrics.total) {
    if (metric.value.kind != sample::Origin::scaled) continue;
    if (!metric.value.ci95 || metric.value.unreliable || exceeds(metric.value, target))
      names.push_back(metric.name);
  }
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    if (run.events[i].total.origin != sample::Origin::scaled) continue;
    const auto& interval = metrics.events[i];
    const double allowed = target * std::fabs(run.events[i].value());
    if (!interval || (interval->high - interval->low) / 2 > allowed)
      names.push_back(run.events[i].name);
  }
  return names;
}

}  // namespace loft::metric
