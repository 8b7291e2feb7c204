// From the events that somebody asked for to the sets that a recorder counts.
//
//   LOFT_TRY(plan.sets, choose_sets(request));
#pragma once

#include <vector>

#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/record.hpp"

namespace loft::source::scheduler {

// Without what every slice has anyway; sets that take turns where counters do not suffice.
[[nodiscard]] Result<EventSets> choose_sets(const RecordRequest& request);

// Events that are all counted at the same time, each once. An error where that cannot be.
[[nodiscard]] Result<std::vector<event::Event>> choose_at_once(
    const std::vector<event::Event>& events, bool may_be_missing = false);

}  // namespace loft::source::scheduler
