// What the loops of a program did, by the counts of its basic blocks under the virtual PMU.
#pragma once

#include <string_view>
#include <vector>

#include "roof/counted_work.hpp"
#include "roof/loops.hpp"
#include "sample/counting.hpp"

namespace loft::roof {

// Beside the events of the work, what tells how control went on behind a block.
inline constexpr std::string_view kTakenEvent = "branches_taken";

// Blocks of one function, with how often each ran and its direct branch was taken.
struct RunBlock {
  FlowBlock flow;
  std::uint64_t offset = 0;  // in the function
  std::uint64_t taken = 0;
  std::optional<std::uint64_t> target;
  bool goes_on = true;
};

// Edges of direct jumps and of blocks that go on behind their end, a call that returns included.
// Where an indirect jump went is not known: such edges are absent.
[[nodiscard]] FlowGraph graph_of(const std::vector<RunBlock>& blocks);

// Iterations per entry. Nothing unless each entry is known: what runs a block and comes from no
// known edge is a call of the function at its first block, and an indirect jump elsewhere.
[[nodiscard]] std::optional<double> trips_of(const Loop& loop, const FlowGraph& graph,
                                             const std::vector<RunBlock>& blocks);

// Nothing where the counts lack an event.
[[nodiscard]] std::vector<LoopWork> loops_of(const sample::RunCounts& counted);

}  // namespace loft::roof
