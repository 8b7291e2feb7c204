// Counting with the virtual PMU: the program runs under the engine, every event is exact.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source::virtual_pmu {

// What the virtual PMU cannot do, whatever the events: running processes, machines, CPUs.
[[nodiscard]] Result<void> check(const CountRequest& request);

// Prepares the program under the engine. Only programs that loft starts can be counted; events that
// are not the virtual PMU's are reported as missing.
[[nodiscard]] Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request);

}  // namespace loft::source::virtual_pmu
