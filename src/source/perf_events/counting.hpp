// Counting with perf_events: hardware, software, tracepoint, uncore and energy events of the
// kernel.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source::perf_events {

// What the kernel cannot do, whatever the events: functions, blocks, regions.
[[nodiscard]] Result<void> check(const CountRequest& request);

// Opens everything. An event that this machine cannot count is reported as missing in the readings;
// when none can be counted, the first one's explanation is the error.
[[nodiscard]] Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request);

}  // namespace loft::source::perf_events
