// Which events are counted together, and what must share the counters in turns.
//
//   Counters counters;
//   counters.of_pmu["cpu"] = {.general = 6, .fixed = 3};
//   LOFT_TRY(const Plan plan, plan_groups(events, counters));
//   for (const PlannedGroup& group : plan.groups) open(group.members);
//
// Events of one group run at the same time, so their ratios hold even when groups take turns. The
// kernel cannot be asked how many counters it has for us; the caller measured or was told. For a
// PMU that it says nothing about, only pairs that make a ratio (cycles and instructions, accesses
// and misses) are put together.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::event {

struct CounterCount {
  int general = 0;  // counters that take any event
  int fixed = 0;    // further ones, for cycles, instructions and ref-cycles alone, in this order
};

struct Counters {
  std::map<std::string, CounterCount, std::less<>> of_pmu;
};

struct PlannedGroup {
  std::vector<std::size_t> members;  // indices into the events, the leader first
  std::string pmu;                   // whose counters it takes; "software" for none
};

struct Plan {
  std::vector<PlannedGroup> groups;
  std::vector<std::string> multiplexed;  // PMUs whose groups cannot all run at once
  std::vector<std::string> unknown;      // PMUs with several groups and no known number of counters
};

// Every event is in exactly one group. An explicit {a,b} stays together and alone, or is refused
// when it needs more counters than its PMU has, or counters of two PMUs.
[[nodiscard]] Result<Plan> plan_groups(std::span<const Event> events, const Counters& counters);

}  // namespace loft::event
