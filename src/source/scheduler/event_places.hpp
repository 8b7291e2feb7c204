// Where a recording keeps events that are changed while it is written. A recorder counts one set of
// events after the other, and an event may be in several of them; the recording has one place for
// each event, whichever set it was counted in.
//
//   EventPlaces places(recorder.counters());
//   plan.counters = places.in_recording();          // each event a set of its own
//   LOFT_CHECK(places.add_new(recorder.counters(), file));   // after each change
//   places.set_behind(file);
//   recorder.drain(places);
#pragma once

#include <vector>

#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/recording_file.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

class EventPlaces final : public TaskEventsFilter {
 public:
  explicit EventPlaces(const EventSets& counted);

  [[nodiscard]] EventSets in_recording() const;
  // Gives places to what the recorder counts since its last change.
  [[nodiscard]] Result<void> add_new(const EventSets& counted, RecordingFile& file);

  using TaskEventsFilter::take;
  // An event was wanted all the time, and counted while one of its sets was.
  void take(const Slice& slice) override;

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(const event::Event& event) const;

  std::vector<event::Event> events_;        // by place
  std::vector<std::size_t> place_of_slot_;  // aligned with the counts of the recorder's slices
  std::vector<std::size_t> set_of_slot_;
};

}  // namespace loft::source::scheduler
