// Counts one event around an action, to see whether it counts at all.
#pragma once

#include <functional>
#include <optional>

#include "base/result.hpp"
#include "event/event.hpp"
#include "source/perf_events/group.hpp"

namespace loft::source::checks {

// An event by its numbers, for probes that must not depend on names.
event::Event numbered(std::string name, std::string pmu, std::uint32_t type, std::uint64_t config);

// What `event` counted while `action` ran, at `place`. Falls back to user mode where the kernel is
// out of bounds, as counting itself does.
[[nodiscard]] Result<perf_events::RawReading> count_during(event::Event event,
                                                           const std::function<void()>& action,
                                                           perf_events::Place place = {0, -1});

// Work that retires instructions, takes branches, touches new pages and sleeps once.
void keep_busy();
void touch_new_pages();
void sleep_a_moment();

}  // namespace loft::source::checks
