// Which basic block an instruction of a run under the engine belongs to.
//
//   BlockFinder finder(run.shared(), functions);
//   finder.learn();                               // what ran until now
//   const auto number = finder.find(block, address);
//   finder.blocks()[number].code;
//
// The engine's own blocks may overlap: one that starts in the middle of another. A basic block here
// starts where any of them starts, so each instruction is in one. Code that was rewritten at the
// same place is a block of its own.
#pragma once

#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tally.hpp"
#include "source/counting.hpp"
#include "source/virtual/functions.hpp"

namespace loft::source::virtual_pmu {

class BlockFinder {
 public:
  struct Block {
    std::uint32_t function = 0;  // of the FunctionFinder
    std::uint64_t address = 0;   // in the binary
    std::span<const std::uint8_t> code;
  };

  BlockFinder(const engine::Shared& shared, FunctionFinder& functions)
      : shared_(shared), functions_(functions) {}

  void learn();
  [[nodiscard]] std::uint32_t find(const engine::BlockEntry& block, std::uint64_t address);
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  // What these events counted in each block of all threads so far; blocks that counted nothing are
  // left out.
  [[nodiscard]] Result<std::vector<engine::PartTally::Row>> counts(
      engine::Tally& tally, std::vector<engine::EventIndex> events);

 private:
  struct Part {
    std::uint64_t end = 0;
    std::uint32_t block = 0;
  };

  void divide(const engine::BlockEntry& block);
  std::uint32_t intern(const engine::BlockEntry& block, std::uint64_t start, std::uint64_t end);

  const engine::Shared& shared_;
  FunctionFinder& functions_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> starts_;  // mapping, address
  std::vector<Block> blocks_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::uint64_t divided_ = ~std::uint64_t{0};  // the code offset of the block that parts_ is of
  std::vector<Part> parts_;
};

// Where the block lies, its code, and where it goes on; without counts.
[[nodiscard]] sample::BlockCounts describe(const BlockFinder::Block& block,
                                           const FunctionFinder::Function& function);

}  // namespace loft::source::virtual_pmu
