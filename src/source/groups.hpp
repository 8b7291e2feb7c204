// Events in the groups that are counted at the same time: where it is not known how many counters a
// PMU has, those of {a,b}, and pairs that make a ratio.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source {

// Each event is in exactly one group. Fails for {a,b} that no group can hold.
[[nodiscard]] Result<std::vector<EventGroup>> groups_of(std::span<const event::Event> events);

}  // namespace loft::source
