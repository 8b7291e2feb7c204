// Copies a piece of the program into the code cache, with a counter in each block.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {

// The trace that starts at `pc`, made now. With `indirect`, reachable by indirect branches. Null
// when the program may not execute at `pc`. cache_lock() is held.
Trace* translate(std::uint64_t pc, Version version, bool indirect);

// Takes back what a block counted too much when it is left at an instruction that did not run: the
// block's count goes down, and a block of the instructions that did run goes up. The number of that
// block, or 0 when none ran.
std::uint32_t uncount_rest(Context* context, const Trace& trace, std::uint32_t code_offset,
                           const MapPoint& point);

}  // namespace loft::engine::runtime
