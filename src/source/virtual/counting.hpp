// Counting with the virtual PMU: the program runs under the engine, every event is exact.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "event/event.hpp"
#include "source/counting.hpp"

namespace loft::source::virtual_pmu {

// The event of that name ("virtual::" in front or not), if the virtual PMU has it.
[[nodiscard]] std::optional<event::Event> find_event(const std::string& name);

// Prepares the program under the engine. Only programs that loft starts can be counted; events that are
// not the virtual PMU's are reported as missing.
[[nodiscard]] Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request);

}  // namespace loft::source::virtual_pmu
