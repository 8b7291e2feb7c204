// Running totals of the events that are counted per call.
//
// A block adds to them what it counts, right behind its counter; what only the run shows
// (iterations, lanes) is added with the sums of that. So a total is exact wherever a function is
// entered or left. Each block has one of several lanes, by its number: the next block's addition
// does not wait for this one's.
#pragma once

#include <cstdint>

#include "engine/layout.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// What a block adds to each total before it runs.
void weigh_totals(const Block& block, std::int32_t* totals);

// A block was left in front of its instruction number `index`. What was added is corrected by
// `rounds` whole blocks and the instructions that ran.
void correct_totals(Context* context, const BlockEntry& block, std::uint32_t index, int rounds);

// So many units of an instruction were counted elsewhere than in its code. Nothing where calls are
// not watched.
void add_unit_totals(Context* context, const Instruction& instruction, std::uint32_t unit,
                     std::uint64_t count);

}  // namespace loft::engine::runtime
