// Where the events of a request are opened: on which tasks and CPUs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/counting.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::perf_events {

struct TaskPlace {
  Place place;
  pid_t pid = 0;     // the process of the task; 0 when a whole CPU is watched
  std::string comm;  // the task's name when it was found; empty for a program yet to start
};

// All places of the request. `child` is the held program, or -1.
[[nodiscard]] Result<std::vector<TaskPlace>> places_of(const CountRequest& request, pid_t child);

// The CPUs that a request is about: those asked for, or all that are online.
[[nodiscard]] Result<CpuList> cpus_of(const CountRequest& request);

}  // namespace loft::source::perf_events
