// The counters of one core by its registers, in SpyMon's way: for kernels that have no perf_events,
// or whose perf is not wanted. Only the core's general counters, and none shared in turns.
//
//   LOFT_TRY(CoreSet opened, open_by_registers(request, 3));
#pragma once

#include "base/places.hpp"
#include "top/counters.hpp"

namespace loft::top {

// Fails where the registers cannot be used, are in use, or do not count in a test. Events that are
// no hardware event of the core are missing.
[[nodiscard]] Result<CoreSet> open_by_registers(metric::Request request, int cpu,
                                                const SystemRoot& root = {});

}  // namespace loft::top
