#include "metric/run_counts.hpp"

#include <cmath>
#include <map>

#include "metric/unit.hpp"

namespace loft::metric {
namespace {

// What one count of the event is in base units.
double base_scale(const sample::CountedEvent& event) {
  const auto unit = parse_unit(event.unit);
  return event.scale * (unit ? unit->factor : 1);
}

// Under the virtual PMU the program runs slower than it is: no rate follows from its time.
Quantity time_of(const sample::RunCounts& run, double seconds) {
  if (run.source == "virtual")
    return Quantity::missing("under the virtual PMU it is the engine's, not the program's");
  if (run.wall_origin == sample::Origin::missing)
    return Quantity::missing("it is not known how long the counts took");
  return {Number::real(seconds), run.wall_origin, {}};
}

std::vector<Value> evaluate_part(const Asked& asked, CountSet counts) {
  for (const auto& [name, why] : asked.missing) counts.add(name, Quantity::missing(why));
  std::vector<Value> values;
  for (const Program& program : asked.programs) values.push_back(program.evaluate(counts));
  return values;
}

template <class Part>
std::vector<std::vector<Value>> evaluate_parts(const Asked& asked, const sample::RunCounts& run,
                                               const std::vector<Part>& parts,
                                               const Quantity& time) {
  std::vector<std::vector<Value>> values;
  if (asked.programs.empty()) return values;
  for (const Part& part : parts)
    values.push_back(evaluate_part(asked, counts_of(run, part.counts, time)));
  return values;
}

std::vector<std::optional<Interval>> event_intervals(const sample::RunCounts& run,
                                                     std::span<const GroupEstimate> groups) {
  std::vector<std::optional<Interval>> intervals(run.events.size());
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const sample::CountedEvent& event = run.events[i];
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
  Quantity quantity = Quantity::of(event.total, base_scale(event));
  if (event.spread && event.total.is_available())
    quantity.value = Number::real(event.spread->mean * base_scale(event));
  return quantity;
}

CountSet counts_of(const sample::RunCounts& run) {
  CountSet counts;
  for (const sample::CountedEvent& event : run.events) counts.add(event.name, quantity_of(event));
  counts.add("time", time_of(run, run.wall_spread ? run.wall_spread->mean : to_seconds(run.wall)));
  return counts;
}

CountSet counts_of(const sample::RunCounts& run, std::span<const sample::Count> counts,
                   Quantity time) {
  CountSet set;
  for (std::size_t i = 0; i < run.events.size(); ++i)
    set.add(run.events[i].name, Quantity::of(counts[i], base_scale(run.events[i])));
  set.add("time", std::move(time));
  return set;
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

RunMetrics evaluate_run(const Asked& asked, const sample::RunCounts& run) {
  RunMetrics metrics;
  const auto groups = estimate_groups(windows_of(run));
  CountSet counts = counts_of(run);
  for (const auto& [name, why] : asked.missing) counts.add(name, Quantity::missing(why));
  metrics.total = evaluate_all(asked.programs, counts, groups);
  metrics.events = event_intervals(run, groups);
  const Quantity wall = time_of(run, to_seconds(run.wall));
  metrics.threads = evaluate_parts(asked, run, run.threads, wall);
  metrics.cpus = evaluate_parts(asked, run, run.cpus, wall);
  metrics.functions =
      evaluate_parts(asked, run, run.functions, Quantity::missing("a function has none"));
  if (!asked.programs.empty())
    for (const sample::IntervalCounts& interval : run.intervals)
      metrics.intervals.push_back(evaluate_interval(asked, run, interval));
  return metrics;
}

std::vector<Value> evaluate_interval(const Asked& asked, const sample::RunCounts& frame,
                                     const sample::IntervalCounts& interval) {
  return evaluate_part(asked, counts_of(frame, interval.counts,
                                        time_of(frame, to_seconds(interval.end - interval.start))));
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
