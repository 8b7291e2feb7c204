#include "source/perf_events/machine_counters.hpp"

#include "source/perf_events/combine.hpp"

namespace loft::source::perf_events {

using sample::Count;

void MachineCounters::open(Layout& layout, std::size_t i) {
  for (const int cpu : layout.events[i].cpus) {
    Counter counter{i, {}};
    auto added = counter.group.add(layout.events[i], Place{-1, cpu}, AttrOptions{});
    if (!added) {
      layout.missing[i] = std::move(added).error();
      return;
    }
    counters_.push_back(std::move(counter));
  }
}

Result<void> MachineCounters::enable() const {
  for (const Counter& counter : counters_) LOFT_CHECK(counter.group.enable());
  return {};
}

std::optional<Count> MachineCounters::read(std::size_t event) const {
  std::optional<Count> sum;
  for (const Counter& counter : counters_) {
    if (counter.event != event) continue;
    const auto value = counter.group.read();
    const Count part = value ? count_of(value->front()) : Count::missing(to_string(value.error()));
    if (sum)
      *sum += part;
    else
      sum = part;
  }
  return sum;
}

}  // namespace loft::source::perf_events
