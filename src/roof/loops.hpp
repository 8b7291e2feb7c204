// The loops of a function, found in the basic blocks that ran and in how often control went from
// one to another.
//
//   FlowGraph graph;
//   graph.blocks = {{.address = 0x1000, .end = 0x1010, .count = 1},
//                   {.address = 0x1010, .end = 0x1020, .count = 100}};
//   graph.edges = {{0, 1, 1}, {1, 1, 99}};
//   const std::vector<Loop> loops = find_loops(graph);    // one: header 1, 100 iterations, 1 entry
//
// A loop is a set of blocks that reach each other. Its header is where it is entered most often.
// Inner loops are found in what is left without the edges back to the header. So loops that are
// entered in several places have their iterations counted, too, and a function whose entry is not
// known (it was attached to, or jumped into) needs no special case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace loft::roof {

struct FlowBlock {
  std::uint64_t address = 0;  // in the binary
  std::uint64_t end = 0;      // behind its last instruction
  std::uint64_t count = 0;    // how often it ran
};

struct FlowEdge {
  std::size_t from = 0;  // indices of blocks
  std::size_t to = 0;
  std::uint64_t count = 0;
};

struct FlowGraph {
  std::vector<FlowBlock> blocks;
  std::vector<FlowEdge> edges;  // only those that were taken
};

struct Loop {
  std::size_t header = 0;
  std::vector<std::size_t> blocks;    // rising, those of inner loops included
  std::optional<std::size_t> parent;  // the loop around it; stands before it in the list
  int depth = 1;                      // 1: in no other
  std::uint64_t iterations = 0;       // how often the header ran
  std::uint64_t entries = 0;          // of them, how often from outside

  // Iterations per entry; nothing where no entry was seen.
  [[nodiscard]] std::optional<double> trips() const;
};

// Outer loops before inner ones, by address of the header among equals.
[[nodiscard]] std::vector<Loop> find_loops(const FlowGraph& graph);

}  // namespace loft::roof
