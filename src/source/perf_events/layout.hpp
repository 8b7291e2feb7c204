// How the wanted events really fit on this machine, found out by opening them once.
//
// Permission may leave only user mode, a PMU may lack an event, a group may be too large. All of
// that shows at the first place where the events are opened; every other place then repeats it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "source/counting.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/group.hpp"

namespace loft::source::perf_events {

struct Layout {
  std::vector<event::Event> events;              // with the modifiers that permission left
  std::vector<std::optional<Error>> missing;     // why an event cannot be counted
  std::vector<std::vector<std::size_t>> groups;  // indices into `events`, none of them missing

  // The explanation shown in place of a value.
  [[nodiscard]] std::string why_missing(std::size_t event) const;

  // Fails when nothing is left to count, with the first event's explanation.
  [[nodiscard]] Result<void> require_some() const;

  // A note about events that lost the kernel's part, compared with those that were `wanted`.
  [[nodiscard]] std::optional<std::string> permission_note(
      const std::vector<event::Event>& wanted) const;
};

// Groups opened at one place, aligned with Layout::groups.
using OpenGroups = std::vector<Group>;

struct TriedLayout {
  Layout layout;
  OpenGroups groups;  // already opened at the place that was tried
};

// Whether these events can have counters at the same time, tried on the calling thread for a
// moment. True where the trial fails for another reason: opening them then gives the error.
[[nodiscard]] bool fit_together(const std::vector<event::Event>& events);

// Adds an event as it is, or in user mode alone where the kernel is out of bounds; `event` then
// says so. Not for events that happen in the kernel: in user mode they would read 0.
[[nodiscard]] Result<void> add_permitted(Group& group, event::Event& event, Place place,
                                         const AttrOptions& options);

// Opens `groups` of `events` at `place` and adapts where the kernel refuses.
// Fails only for reasons that concern all events (no such process, no descriptors).
[[nodiscard]] Result<TriedLayout> try_layout(const std::vector<event::Event>& events,
                                             const std::vector<EventGroup>& groups, Place place,
                                             const AttrOptions& options);

// Opens a layout that was tried at another place.
[[nodiscard]] Result<OpenGroups> open_layout(const Layout& layout, Place place,
                                             const AttrOptions& options);

}  // namespace loft::source::perf_events
