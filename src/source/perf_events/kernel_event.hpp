// An event whose records the kernel writes itself, as a recording describes it.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loft::source::perf_events {

struct KernelEvent {
  std::string name;
  perf_event_attr attr{};
  std::vector<std::uint64_t> ids;  // one per descriptor
};

}  // namespace loft::source::perf_events
