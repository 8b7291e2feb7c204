// Where functions start that loft wants to know of: the region, or functions whose calls are
// watched. loft adds to them while the program runs, one answer per mapping of code.
#pragma once

#include <cstdint>

#include "engine/layout.hpp"

namespace loft::engine::runtime {

// The entry at this address of a mapping, or null. cache_lock() is held.
const FunctionEntry* find_entry(std::uint64_t address, std::uint32_t mapping);

}  // namespace loft::engine::runtime
