#include "source/scheduler/event_places.hpp"

#include <algorithm>

namespace loft::source::scheduler {

EventPlaces::EventPlaces(const EventSets& counted) : events_(counted.events) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    place_of_slot_.push_back(i);
    set_of_slot_.push_back(counted.set_of(i));
  }
}

EventSets EventPlaces::in_recording() const {
  EventSets sets;
  for (const event::Event& event : events_) sets.add_set({event}, true);
  return sets;
}

std::optional<std::size_t> EventPlaces::place_of(const event::Event& event) const {
  const auto found = std::ranges::find(events_, event.name, &event::Event::name);
  if (found == events_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - events_.begin());
}

Result<void> EventPlaces::add_new(const EventSets& counted, RecordingFile& file) {
  for (std::size_t slot = place_of_slot_.size(); slot < counted.events.size(); ++slot) {
    const event::Event& event = counted.events[slot];
    auto place = place_of(event);
    if (!place) {
      LOFT_TRY(place, file.add_counter(event));
      events_.push_back(event);
    }
    place_of_slot_.push_back(*place);
    set_of_slot_.push_back(counted.set_of(slot));
  }
  return {};
}

void EventPlaces::take(const Slice& slice) {
  std::vector<std::uint64_t> counts(events_.size());
  std::vector<SetTime> times(events_.size() + 1, SetTime{slice.run_ns, 0, 0});
  for (std::size_t slot = 0; slot < slice.counts.size() && slot < place_of_slot_.size(); ++slot) {
    const std::size_t place = place_of_slot_[slot];
    counts[place] += slice.counts[slot];
    if (set_of_slot_[slot] >= slice.sets.size()) continue;
    std::uint64_t& running = times[place + 1].running_ns;
    running = std::min(slice.run_ns, running + slice.sets[set_of_slot_[slot]].running_ns);
  }
  Slice placed = slice;
  placed.counts = counts;
  placed.sets = times;
  behind_->take(placed);
}

}  // namespace loft::source::scheduler
