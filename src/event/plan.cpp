#include "event/plan.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "event/grammar.hpp"
#include "event/kernel_names.hpp"

namespace loft::event {
namespace {

using Members = std::vector<std::size_t>;

constexpr std::string_view kNoCounter = "software";

// Whose hardware counters the event takes. Software events and tracepoints take none, and the
// virtual PMU has enough for all.
std::string_view counters_of(const Event& event) {
  switch (event.encoding.kind()) {
    case PmuKind::software:
    case PmuKind::tracepoint:
    case PmuKind::breakpoint:
      return kNoCounter;
    case PmuKind::core:
    case PmuKind::device:
    case PmuKind::virtual_pmu:
      break;
  }
  return event.encoding.pmu;
}

// The place of the event among those that have a counter of their own on many PMUs; from 0.
std::optional<int> fixed_place(const Event& event) {
  if (event.encoding.type != kTypeHardware) return std::nullopt;
  switch (event.encoding.config & 0xFFFFFFFF) {
    case 0:
      return 0;  // cycles
    case 1:
      return 1;  // instructions
    case 9:
      return 2;  // ref-cycles
    default:
      return std::nullopt;
  }
}

// General counters that these need beside the fixed ones.
int general_needed(std::span<const Event> events, const Members& members, const CounterCount& has) {
  int needed = 0;
  bool taken[3] = {};
  for (const std::size_t member : members) {
    const auto place = fixed_place(events[member]);
    if (place && *place < has.fixed && !taken[*place]) {
      taken[*place] = true;
    } else if (counters_of(events[member]) != kNoCounter) {
      ++needed;
    }
  }
  return needed;
}

// Events whose ratio people read: the generic ones in pairs, and each cache's accesses and misses.
std::uint64_t ratio_key(const Event& event) {
  const std::uint64_t config = event.encoding.config & 0xFFFFFFFF;
  if (event.encoding.type == kTypeHardware) {
    static constexpr std::uint64_t kKeys[] = {1, 1, 2, 2, 3, 3};  // by PERF_COUNT_HW_*
    return config < std::size(kKeys) ? kKeys[config] : 0;
  }
  if (event.encoding.type == kTypeHwCache) return 0x100 + (config & 0xFFFF);
  return 0;
}

bool make_a_ratio(const Event& a, const Event& b) {
  return ratio_key(a) != 0 && ratio_key(a) == ratio_key(b) && a.modifiers == b.modifiers &&
         a.encoding.type == b.encoding.type && a.encoding.pmu == b.encoding.pmu;
}

class Planner {
 public:
  Planner(std::span<const Event> events, const Counters& counters)
      : events_(events), counters_(counters), placed_(events.size(), false) {}

  Result<Plan> run() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (placed_[i]) continue;
      if (events_[i].group != 0) {
        LOFT_CHECK(place_explicit(i));
      } else {
        place(with_partner(i));
      }
    }
    report_sharing();
    return std::move(plan_);
  }

 private:
  const CounterCount* known(std::string_view pmu) const {
    const auto found = counters_.of_pmu.find(pmu);
    return found == counters_.of_pmu.end() ? nullptr : &found->second;
  }

  // Software events take no counters, and the virtual PMU does not run out of them.
  bool is_unlimited(const Members& members) const {
    return std::ranges::all_of(members, [&](std::size_t member) {
      return counters_of(events_[member]) == kNoCounter || events_[member].encoding.is_virtual();
    });
  }

  bool fits(const Members& members, std::string_view pmu) const {
    if (is_unlimited(members)) return true;
    const CounterCount* has = known(pmu);
    return has != nullptr && general_needed(events_, members, *has) <= has->general;
  }

  Result<void> place_explicit(std::size_t first) {
    Members members;
    std::string_view pmu = kNoCounter;
    for (std::size_t i = first; i < events_.size(); ++i) {
      if (events_[i].group != events_[first].group) continue;
      members.push_back(i);
      placed_[i] = true;
      const std::string_view own = counters_of(events_[i]);
      if (own == kNoCounter || own == pmu) continue;
      if (pmu != kNoCounter)
        return failure(
            ErrorKind::invalid_input, "count " + names_of(members) + " as one group",
            "the PMUs " + in_quotes(pmu) + " and " + in_quotes(own) + " cannot share one",
            "put events of different PMUs into different groups");
      pmu = own;
    }
    const CounterCount* has = known(pmu);
    if (has != nullptr && !fits(members, pmu)) {
      return failure(ErrorKind::limit, "count " + names_of(members) + " as one group",
                     "it needs " + std::to_string(general_needed(events_, members, *has)) +
                         " counters of the PMU " + in_quotes(pmu) +
                         " beside its fixed ones, which has " + std::to_string(has->general),
                     "make the group smaller, or leave the braces out to take turns");
    }
    plan_.groups.push_back({std::move(members), std::string(pmu)});
    open_.push_back(false);
    return {};
  }

  // An event, and the one that makes a ratio with it when it comes later and is free.
  Members with_partner(std::size_t first) {
    Members members{first};
    placed_[first] = true;
    for (std::size_t i = first + 1; i < events_.size() && members.size() == 1; ++i) {
      if (placed_[i] || events_[i].group != 0 || !make_a_ratio(events_[first], events_[i]))
        continue;
      members.push_back(i);
      placed_[i] = true;
    }
    return members;
  }

  void place(const Members& members) {
    const std::string pmu(counters_of(events_[members.front()]));
    // A software event in a hardware group would be multiplexed with it, so it stays by itself.
    if (pmu != kNoCounter && (known(pmu) != nullptr || is_unlimited(members))) {
      for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
        if (!open_[g] || plan_.groups[g].pmu != pmu) continue;
        Members together = plan_.groups[g].members;
        together.insert(together.end(), members.begin(), members.end());
        if (!fits(together, pmu)) continue;
        plan_.groups[g].members = std::move(together);
        return;
      }
      if (members.size() > 1 && !fits(members, pmu)) {  // fewer counters than a pair needs
        for (const std::size_t member : members) place({member});
        return;
      }
    }
    plan_.groups.push_back({members, pmu});
    open_.push_back(true);
  }

  void report_sharing() {
    std::map<std::string, Members> needs;
    std::map<std::string, int> groups;
    for (const PlannedGroup& group : plan_.groups) {
      if (is_unlimited(group.members)) continue;
      Members& all = needs[group.pmu];
      all.insert(all.end(), group.members.begin(), group.members.end());
      ++groups[group.pmu];
    }
    for (const auto& [pmu, members] : needs) {
      if (known(pmu) != nullptr) {
        if (!fits(members, pmu)) plan_.multiplexed.push_back(pmu);
      } else if (groups[pmu] > 1) {
        plan_.unknown.push_back(pmu);
      }
    }
  }

  std::string names_of(const Members& members) const {
    std::vector<std::string> names;
    for (const std::size_t member : members) names.push_back(events_[member].name);
    return in_quotes("{" + join(names, ",") + "}");
  }

  std::span<const Event> events_;
  const Counters& counters_;
  std::vector<bool> placed_;
  std::vector<bool> open_;  // groups that further events may join
  Plan plan_;
};

}  // namespace

Result<Plan> plan_groups(std::span<const Event> events, const Counters& counters) {
  return Planner(events, counters).run();
}

}  // namespace loft::event
