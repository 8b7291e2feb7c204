#include "source/scheduler/event_sets.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/text.hpp"
#include "event/grammar.hpp"
#include "event/plan.hpp"

namespace loft::source::scheduler {
namespace {

using Events = std::vector<event::Event>;

bool counts_instructions(const event::Event& event) {
  return event.encoding.type == PERF_TYPE_HARDWARE &&
         (event.encoding.config & 0xFFFFFFFF) == PERF_COUNT_HW_INSTRUCTIONS;
}

bool has(const Events& events, const event::Event& event) {
  return std::ranges::any_of(events, [&](const auto& e) { return e.counts_the_same_as(event); });
}

Events without_repeats(const Events& events) {
  Events once;
  for (const event::Event& event : events)
    if (!has(once, event)) once.push_back(event);
  return once;
}

Events joined(Events events, const Events& more) {
  events.insert(events.end(), more.begin(), more.end());
  return events;
}

// Instructions of the modes and the PMU that an event is counted in.
event::Event instructions_beside(const event::Event& other) {
  event::Event event;
  event.encoding = {other.encoding.pmu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
  event.modifiers = other.modifiers;
  event.modifiers.precise = 0;
  event.name = "instructions";
  if (!event.modifiers.kernel) event.name += ":u";
  if (!event.modifiers.user) event.name += ":k";
  return event;
}

Failure too_large(const Events& events) {
  std::vector<std::string> names;
  for (const event::Event& event : events) names.push_back(event.name);
  return failure(ErrorKind::limit,
                 "count " + event::in_quotes(join(names, ",")) + " at the same time",
                 "they are more events than the PMU has counters, one of which is for instructions",
                 "make the set smaller");
}

class Planner {
 public:
  explicit Planner(const Trials& trials) : fits_(trials.fit_together), counts_(trials.counts) {}

  Result<EventSets> with_turns(const Events& asked, const std::vector<Events>& turns) {
    Events always = asked;
    std::vector<Events> own;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      Events rest;
      for (const event::Event& event : without_repeats(turns[i])) {
        const bool is_everywhere =
            counts_instructions(event) ||
            std::ranges::count_if(turns, [&](const Events& set) { return has(set, event); }) > 1;
        (is_everywhere ? always : rest).push_back(event);
      }
      if (!rest.empty()) own.push_back(std::move(rest));
    }
    always = without_repeats(always);
    add_work(always, own);
    place_always(always);
    const Events beside = with_counters(always);
    for (Events& set : own) {
      if (!fits_by_pmu(joined(beside, with_counters(set)))) return too_large(set);
      std::ranges::stable_partition(set, needs_counter);  // one of them leads the others
      turning_.push_back(std::move(set));
    }
    return finish();
  }

  Result<EventSets> by_need(const Events& asked) {
    const Events events = without_repeats(asked);
    std::map<std::string, Events> of_pmu;
    std::vector<std::string> pmus;  // in the order of the list
    for (const event::Event& event : events) {
      if (!needs_counter(event)) {
        plain_.push_back(event);
        continue;
      }
      if (of_pmu[event.encoding.pmu].empty()) pmus.push_back(event.encoding.pmu);
      of_pmu[event.encoding.pmu].push_back(event);
    }
    for (const std::string& pmu : pmus) {
      if (of_pmu[pmu].size() == 1 || fits_(of_pmu[pmu])) {
        always_.push_back(of_pmu[pmu]);
      } else {
        LOFT_CHECK(share_counters(of_pmu[pmu]));
      }
    }
    return finish();
  }

 private:
  static Events with_counters(const Events& events) {
    Events some;
    std::ranges::copy_if(events, std::back_inserter(some), needs_counter);
    return some;
  }

  // Beside sets of hardware events instructions are counted, asked for or not.
  void add_work(Events& always, const std::vector<Events>& sets) const {
    if (std::ranges::any_of(always, counts_instructions)) return;
    for (const Events& set : sets)
      for (const event::Event& event : set)
        if (needs_counter(event)) {
          const event::Event work = instructions_beside(event);
          if (counts_(work)) always.push_back(work);
          return;
        }
  }

  // PMUs do not take counters from each other.
  bool fits_by_pmu(const Events& events) const {
    std::map<std::string, Events> of_pmu;
    for (const event::Event& event : events) of_pmu[event.encoding.pmu].push_back(event);
    return std::ranges::all_of(of_pmu, [this](const auto& entry) {
      return entry.second.size() == 1 || fits_(entry.second);
    });
  }

  void place_always(const Events& events) {
    std::map<std::string, Events> of_pmu;
    for (const event::Event& event : events)
      (needs_counter(event) ? of_pmu[event.encoding.pmu] : plain_).push_back(event);
    for (auto& [pmu, members] : of_pmu) always_.push_back(std::move(members));
  }

  // Into as few sets as the order of the list gives: each event goes to the first set with room.
  Result<void> share_counters(const Events& events) {
    Events always;
    std::ranges::copy_if(events, std::back_inserter(always), counts_instructions);
    add_work(always, {events});
    Events others;
    for (const event::Event& event : events)
      if (!counts_instructions(event)) others.push_back(event);
    if (!always.empty()) always_.push_back(always);
    LOFT_TRY(const event::Plan plan, event::plan_groups(others, {}));
    const std::size_t first = turning_.size();
    for (const event::PlannedGroup& group : plan.groups) {
      Events unit;
      for (const std::size_t member : group.members) unit.push_back(others[member]);
      if (unit.size() == 1 || fits_(joined(always, unit))) {
        put(unit, always, first);
      } else if (unit.front().group != 0) {
        return too_large(unit);
      } else {
        for (const event::Event& event : unit) put({event}, always, first);
      }
    }
    return {};
  }

  void put(const Events& unit, const Events& always, std::size_t first) {
    for (std::size_t i = first; i < turning_.size(); ++i) {
      if (!fits_(joined(always, joined(turning_[i], unit)))) continue;
      turning_[i] = joined(turning_[i], unit);
      return;
    }
    turning_.push_back(unit);
  }

  EventSets finish() {
    EventSets sets;
    sets.events = plain_;
    sets.sets.front().size = plain_.size();
    for (Events& members : always_) sets.add_set(std::move(members), false);
    // A set alone has nobody to take turns with.
    for (Events& members : turning_) sets.add_set(std::move(members), turning_.size() > 1);
    if (sets.take_turns())
      for (std::size_t i = 0; i < sets.events.size(); ++i)
        if (counts_instructions(sets.events[i]) && !sets.work) sets.work = i;
    return sets;
  }

  const std::function<bool(const Events&)>& fits_;
  const std::function<bool(const event::Event&)>& counts_;
  Events plain_;
  std::vector<Events> always_, turning_;
};

}  // namespace

bool needs_counter(const event::Event& event) {
  const std::string& pmu = event.encoding.pmu;
  return pmu != "software" && pmu != "tracepoint" && pmu != "breakpoint";
}

bool EventSets::take_turns() const {
  return std::ranges::any_of(sets, [](const EventSet& set) { return set.takes_turns; });
}

std::size_t EventSets::set_of(std::size_t event) const {
  for (std::size_t i = sets.size(); i-- > 1;)
    if (event >= sets[i].first) return i;
  return 0;
}

void EventSets::add_set(std::vector<event::Event> members, bool takes_turns) {
  sets.push_back({events.size(), members.size(), takes_turns});
  for (event::Event& member : members) events.push_back(std::move(member));
}

void EventSets::drop_last_set() {
  events.resize(sets.back().first);
  sets.pop_back();
}

std::optional<std::size_t> EventSets::find_set(const std::vector<event::Event>& members) const {
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto own = std::span(events).subspan(sets[s].first, sets[s].size);
    if (std::ranges::equal(own, members, {}, &event::Event::name, &event::Event::name)) return s;
  }
  return std::nullopt;
}

EventSets EventSets::in_user_mode() const {
  EventSets smaller;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::vector<event::Event> members;
    for (std::size_t i = sets[s].first; i < sets[s].first + sets[s].size; ++i) {
      event::Event event = events[i];
      if (event.encoding.type == PERF_TYPE_TRACEPOINT) continue;
      if (event.modifiers.kernel && event.modifiers.user) event.name += ":u";
      event.modifiers.kernel = event.modifiers.hypervisor = false;
      if (work == i) smaller.work = smaller.events.size() + members.size();
      members.push_back(std::move(event));
    }
    if (s > 0 && members.empty()) continue;
    smaller.add_set(std::move(members), sets[s].takes_turns);
    if (s == 0) smaller.sets.erase(smaller.sets.begin());  // it was there already
  }
  return smaller;
}

Result<EventSets> plan_sets(const std::vector<event::Event>& events,
                            const std::vector<std::vector<event::Event>>& turns,
                            const Trials& trials) {
  Planner planner(trials);
  return turns.empty() ? planner.by_need(events) : planner.with_turns(events, turns);
}

}  // namespace loft::source::scheduler
