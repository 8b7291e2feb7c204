#include "metric/run_counts.hpp"

#include <map>

#include "metric/unit.hpp"

namespace loft::metric {
namespace {

// What one count of the event is in base units.
double base_scale(const sample::CountedEvent& event) {
  const auto unit = parse_unit(event.unit);
  return event.scale * (unit ? unit->factor : 1);
}

}  // namespace

CountSet counts_of(const sample::RunCounts& run) {
  CountSet counts;
  for (const sample::CountedEvent& event : run.events) {
    Quantity quantity = Quantity::of(event.total, base_scale(event));
    if (event.spread && event.total.is_available())
      quantity.value = Number::real(event.spread->mean * base_scale(event));
    counts.add(event.name, std::move(quantity));
  }
  const double seconds = run.wall_spread ? run.wall_spread->mean : to_seconds(run.wall);
  counts.add("time", Quantity::exact(Number::real(seconds)));
  return counts;
}

std::vector<GroupEstimate> spread_of(const sample::RunCounts& run) {
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
  std::vector<GroupEstimate> estimates;
  for (const auto& [key, group] : groups)
    if (auto estimate = estimate_group(group)) estimates.push_back(*std::move(estimate));
  return estimates;
}

}  // namespace loft::metric
