// Masks as a signal found them: in the state that the kernel saved with its frame.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "engine/runtime/instruction.hpp"

namespace loft::engine::runtime {

// One bit for each lane that is set: of an opmask register, or the signs of a vector's lanes.
std::uint64_t opmask_of(const ucontext_t& user, unsigned number);
std::uint64_t signs_of(const ucontext_t& user, unsigned number, unsigned lanes, unsigned lane_bytes,
                       bool is_mmx);

// Where a tile load or store that did not end goes on; 0 when it starts from its first row.
unsigned tile_start_row(const ucontext_t& user);

// What an instruction with this plan would count if it started now.
std::uint64_t lanes_of(const ucontext_t& user, const UnitPlan& plan);

}  // namespace loft::engine::runtime
