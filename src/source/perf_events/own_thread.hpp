// Counters of the calling thread, for programs that measure parts of themselves.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "source/counting.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/user_read.hpp"

namespace loft::source::perf_events {

class OwnThreadCounters {
 public:
  // At least one event must be countable; the others are missing in the readings, with their
  // reason.
  [[nodiscard]] static Result<OwnThreadCounters> open(const std::vector<event::Event>& events,
                                                      const std::vector<EventGroup>& groups);

  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> stop();

  // Aligned with events(). Costs a few nanoseconds an event where the hardware can be read
  // directly, a system call a group elsewhere.
  [[nodiscard]] Result<std::vector<sample::Count>> read() const;

  [[nodiscard]] const std::vector<event::Event>& events() const { return tried_.layout.events; }

 private:
  OwnThreadCounters(TriedLayout tried) : tried_(std::move(tried)) {}

  TriedLayout tried_;
  std::vector<std::vector<UserReader>> readers_;  // aligned with the groups and their members
};

}  // namespace loft::source::perf_events
