// The events that the virtual PMU has, as the resolver takes them: exact ones, then modelled ones.
#pragma once

#include <vector>

#include "event/virtual_names.hpp"

namespace loft::source::virtual_pmu {

// Empty where the engine was not built.
[[nodiscard]] const std::vector<event::VirtualName>& event_names();

}  // namespace loft::source::virtual_pmu
