// Thresholds: a thread stops inside the block with which an event comes to a count.
//
// Each thread has a distance per threshold (layout.hpp), which is below 0. A block adds to it what
// the block counts of the event, where that is anything, right behind its counter; what only the
// run shows (iterations, lanes) is added behind the instruction. At 0 or above the thread asks
// loft, which knows the counts of all threads, and waits: loft lets it go with a new distance.
//
//   add  gs:[counter], 1           what every block has
//   add  gs:[distance], weight     blocks with the event alone
//   test byte gs:[distance + 7], 128
//   jz   ask                       back to here, in the middle of the block, when loft has answered
#pragma once

#include <cstdint>

#include "engine/layout.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// What an instruction adds to an event whenever it runs, and with each of its units.
std::int32_t fixed_weight(const InstructionFacts& facts, const EventRule& rule);
std::int32_t weight_of_unit(const Instruction& instruction, std::uint32_t unit,
                            const EventRule& rule);

// How many thresholds there are.
std::uint32_t threshold_count();
// Whether they are the program's own (alarms.hpp), not loft's.
bool is_alarm();

// What a block adds to the distance of each threshold before it runs; true when it adds anything.
bool weigh_block(const Block& block, std::uint32_t* weights);

// What a block that was recorded adds to the distance of one threshold.
std::uint64_t recorded_weight(const BlockEntry& block, std::uint32_t threshold);

// What each of an instruction's units adds to the distance of a threshold.
std::uint32_t unit_weight(const Instruction& instruction, std::uint32_t unit,
                          std::uint32_t threshold);

// A block was left in front of its instruction number `index`, and what it counted was corrected to
// what ran: so are the distances. `counted`: it had added to them already.
void correct_distances(Context* context, const BlockEntry& block, std::uint32_t index,
                       bool counted);

// Waits for loft's answer and does what it says.
void await_distance(Context* context, std::uint32_t threshold);

// What was added cannot be known here: the thread asks at the next block with an event.
void forget_distances(Context* context);

}  // namespace loft::engine::runtime
