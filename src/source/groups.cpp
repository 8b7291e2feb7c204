#include "source/groups.hpp"

#include "event/plan.hpp"

namespace loft::source {

Result<std::vector<EventGroup>> groups_of(std::span<const event::Event> events) {
  LOFT_TRY(const event::Plan plan, event::plan_groups(events, event::Counters{}));
  std::vector<EventGroup> groups;
  for (const event::PlannedGroup& group : plan.groups)
    groups.push_back({group.members, events[group.members.front()].group != 0});
  return groups;
}

}  // namespace loft::source
