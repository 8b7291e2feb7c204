// What the loops of a program did, by the counts of its basic blocks under the virtual PMU.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roof/counted_work.hpp"
#include "roof/loops.hpp"
#include "sample/counting.hpp"

namespace loft::roof {

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

// The source line of an address in a binary; 0: not known.
struct CodeLine {
  std::string file;
  unsigned line = 0;
};
using LineAt = std::function<CodeLine(const std::string& binary, std::uint64_t address)>;

// Whether loops can be found in counts of these events.
[[nodiscard]] bool can_find_loops(std::span<const std::string> events);

// Nothing where the counts lack an event. Loops that do a thousandth of all instructions, or more,
// get their lines in the file that their header is in.
[[nodiscard]] std::vector<LoopWork> loops_of(const sample::RunCounts& counted,
                                             const LineAt& line_at = {});
// With lines by debug information of this machine.
[[nodiscard]] std::vector<LoopWork> loops_with_lines(const sample::RunCounts& counted);

}  // namespace loft::roof
