// perf_event_open with an explanation for each way in which it fails.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <optional>

#include "base/fd.hpp"
#include "base/places.hpp"
#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::source::perf_events {

// Where an event is opened: on a task (cpu -1 for wherever it runs) or on a CPU (pid -1).
struct Place {
  pid_t pid = 0;
  int cpu = -1;
};

// Opens without explanation; on failure the value is -errno.
int open_raw(perf_event_attr& attr, Place place, int group_fd);

// Opens `attr`. When the process has used up its descriptors, raises its soft limit to the hard
// one and tries again.
[[nodiscard]] Result<Fd> open_event(perf_event_attr& attr, const event::Event& event, Place place,
                                    const Fd& group = {});

// Why perf_event_open failed with `number` for this event at this place, and what to do.
Error explain_open_failure(int number, const event::Event& event, Place place, bool in_group,
                           const SystemRoot& root = {});

// The value of kernel.perf_event_paranoid; nothing when it cannot be read.
std::optional<int> paranoid_level(const SystemRoot& root = {});

// Whether a core PMU exists, by looking for one among the PMUs that the kernel publishes.
bool has_core_pmu(const SystemRoot& root = {});

}  // namespace loft::source::perf_events
