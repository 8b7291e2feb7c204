#include "source/scheduler/wanted_events.hpp"

#include <linux/perf_event.h>

#include <algorithm>

#include "base/fd.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::scheduler {
namespace {

// Every slice has these already.
bool is_in_every_slice(const event::Event& event) {
  return event.encoding.type == PERF_TYPE_SOFTWARE &&
         (event.encoding.config == PERF_COUNT_SW_TASK_CLOCK ||
          event.encoding.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
          event.encoding.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

bool exists(event::Event event) {
  event.modifiers.kernel = event.modifiers.hypervisor = false;  // permission is not the question
  perf_event_attr attr = perf_events::make_attr(event, {});
  return Fd(std::max(-1, perf_events::open_raw(attr, {0, -1}, -1))).is_open();
}

Result<std::vector<event::Event>> wanted(const std::vector<event::Event>& events,
                                         bool may_be_missing) {
  std::vector<event::Event> some;
  for (const event::Event& event : events) {
    if (is_in_every_slice(event)) continue;
    if (!event.cpus.empty())
      return failure(ErrorKind::invalid_input, "record '" + event.name + "'",
                     "it counts the whole machine, not a task",
                     "leave it to 'loft stat', or record energy with --types epc");
    if (may_be_missing && !exists(event)) continue;
    some.push_back(event);
  }
  return some;
}

}  // namespace

Result<EventSets> choose_sets(const RecordRequest& request) {
  const bool may_be_missing = request.events_may_be_missing;
  if (request.next_events) {
    EventSets sets;
    LOFT_TRY(auto at_once, choose_at_once(request.events, may_be_missing));
    sets.add_set(std::move(at_once), true);
    return sets;
  }
  LOFT_TRY(const auto events, wanted(request.events, may_be_missing));
  std::vector<std::vector<event::Event>> turns;
  for (const auto& set : request.turns) {
    LOFT_TRY(turns.emplace_back(), wanted(set, may_be_missing));
  }
  return plan_sets(events, turns, {perf_events::fit_together, exists});
}

Result<std::vector<event::Event>> choose_at_once(const std::vector<event::Event>& events,
                                                 bool may_be_missing) {
  LOFT_TRY(const auto some, wanted(events, may_be_missing));
  std::vector<event::Event> once;
  for (const event::Event& event : some)
    if (std::ranges::find(once, event.name, &event::Event::name) == once.end())
      once.push_back(event);
  if (once.empty())
    return failure(ErrorKind::invalid_input, "count events by a control file",
                   "it names none that slices do not have anyway");
  std::vector<event::Event> sharing;
  std::ranges::copy_if(once, std::back_inserter(sharing), needs_counter);
  if (sharing.size() < 2 || perf_events::fit_together(sharing)) return once;
  return failure(ErrorKind::limit, "count events by a control file",
                 "there are not enough counters for all of them at once", "name fewer");
}

}  // namespace loft::source::scheduler
