// Counting with the virtual PMU: the program runs under the engine, every event is exact.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "event/virtual_names.hpp"
#include "source/counting.hpp"

namespace loft::source::virtual_pmu {

// The events it has, as the resolver takes them; empty where the engine was not built.
[[nodiscard]] const std::vector<event::VirtualName>& event_names();

// What the virtual PMU cannot do, whatever the events: running processes, machines, CPUs.
[[nodiscard]] Result<void> check(const CountRequest& request);

// Prepares the program under the engine. Only programs that loft starts can be counted; events that
// are not the virtual PMU's are reported as missing.
[[nodiscard]] Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request);

}  // namespace loft::source::virtual_pmu
