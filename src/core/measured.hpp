// What `loft machine` measured of a core, as parameters of the timing model.
//
//   CoreParameters core = *core_parameters("zen3");
//   apply_measured(core, "dram_latency_cycles", 574);   // dram_latency is 574 now, and measured
//
// Names are those of the section "core" of a machine file (docs/machine.md).
#pragma once

#include <cstddef>
#include <string_view>

#include "core/parameters.hpp"

namespace loft::core {

// How many parameters it sets: none for a name that the model has no use for, or a value that no
// core has.
std::size_t apply_measured(CoreParameters& core, std::string_view name, double value);

}  // namespace loft::core
