// Events of PMUs that count for a whole package, counted beside a program's own.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "sample/counting.hpp"
#include "source/perf_events/layout.hpp"

namespace loft::source::perf_events {

class MachineCounters {
 public:
  // Opens event `i` of the layout on the CPUs that its PMU names; where that fails, the layout says
  // why it is missing.
  void open(Layout& layout, std::size_t i);

  [[nodiscard]] Result<void> enable() const;

  // Sum over the CPUs of the event; nothing when it is not among these.
  [[nodiscard]] std::optional<sample::Count> read(std::size_t event) const;

 private:
  struct Counter {
    std::size_t event;
    Group group;
  };
  std::vector<Counter> counters_;
};

}  // namespace loft::source::perf_events
