// Which events are counted when. Those that need no counter, or for which there are enough, are
// counted all the time. More events than counters become sets that take turns, with instructions
// counted all along: by what a task did while a set had its turn the rest is known.
//
//   LOFT_TRY(const EventSets sets, plan_sets(events, {}, trials));
//
// How many counters there are cannot be asked. What fits is found out by counting for a moment.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::source::scheduler {

// A stretch of EventSets::events that is counted at the same time.
struct EventSet {
  std::size_t first = 0;
  std::size_t size = 0;
  bool takes_turns = false;
};

struct EventSets {
  std::vector<event::Event> events;  // in the order of a slice's counts, set by set
  std::vector<EventSet> sets{1};     // the first: events that need no counter, thus never share one
  std::optional<std::size_t> work;   // where sets take turns: the event that counts instructions

  [[nodiscard]] bool take_turns() const;
  [[nodiscard]] std::size_t set_of(std::size_t event) const;
  void add_set(std::vector<event::Event> members, bool takes_turns);
  void drop_last_set();
  // The set that consists of these events, by their names.
  [[nodiscard]] std::optional<std::size_t> find_set(const std::vector<event::Event>& members) const;
  // As a user counts who may not look into the kernel: in user mode, without what happens
  // elsewhere.
  [[nodiscard]] EventSets in_user_mode() const;
};

// What is found out by trying.
struct Trials {
  std::function<bool(const std::vector<event::Event>&)> fit_together;  // events of one PMU
  std::function<bool(const event::Event&)> counts;                     // there is such a counter
};

// `events` are counted all the time if they can be; {a,b} stay together. Each of `turns` is a set
// that takes turns with the others, whether it has to or not; what is in several of them is always
// counted.
[[nodiscard]] Result<EventSets> plan_sets(const std::vector<event::Event>& events,
                                          const std::vector<std::vector<event::Event>>& turns,
                                          const Trials& trials);

// Whether the event takes a counter of a PMU: software events and tracepoints do not.
[[nodiscard]] bool needs_counter(const event::Event& event);

}  // namespace loft::source::scheduler
