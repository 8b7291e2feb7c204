// A block of code that always runs as a whole, prepared for core/models.hpp.
//
//   CodeBlock block(instructions, geometry);
//   block.set_lanes(lanes);                      // where its addresses are sums of words
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/geometry.hpp"
#include "core/window.hpp"

namespace loft::core {

// One access of a block of code.
struct BlockTouch {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t instruction = 0;  // its index in the block; they ascend
  bool is_store = false;
  bool is_past = false;
};

// An access whose address is a constant and two words of what is known of an execution, one of them
// scaled. Where there is no base, it is word 0, and the constant makes up for it; where there is no
// index, its scale is 0.
struct BlockLane {
  std::uint64_t constant = 0;
  std::uint64_t ignored = 0;  // of a line used last: Cache::Recent
  std::uint32_t size = 0;
  std::uint8_t base = 0;
  std::uint8_t index = 0;
  std::uint8_t scale = 0;
  bool is_store = false;
  std::uint32_t instruction = 0;
  bool is_past = false;

  [[nodiscard, gnu::always_inline]] std::uint64_t address(const std::byte* words) const {
    std::uint64_t first = 0, second = 0;
    std::memcpy(&first, words + std::size_t{base} * 8, sizeof first);
    std::memcpy(&second, words + std::size_t{index} * 8, sizeof second);
    return constant + first + second * scale;
  }
  // `words` has eight bytes for each; `process` is what all addresses have in their upper bits.
  [[nodiscard, gnu::always_inline]] BlockTouch touch(const std::byte* words,
                                                     std::uint64_t process) const {
    return {address(words) | process, size, instruction, is_store, is_past};
  }
};

// Where a block went.
struct BlockEnd {
  bool is_known = true;  // false: nobody knows what its last instruction did, if that is a branch
  bool is_taken = false;
  std::uint64_t target = 0;
};

// Instructions that run from the first to the last.
struct CodeBlock {
  // An instruction that enters another line of code than the one before it. The first one of a
  // block may do so; it comes first.
  struct Fetch {
    std::uint64_t line = 0;
    std::uint32_t instruction = 0;
    std::uint32_t more = 0;  // lines behind that one
  };

  CodeBlock(std::vector<Instruction> code, const MachineGeometry& geometry);

  // What its end did, by where the thread went on; 0: nobody knows. `process` is added to the
  // target.
  [[nodiscard]] BlockEnd end_at(std::uint64_t next, std::uint64_t process) const {
    if (last.branch != BranchKind::conditional)
      return {next != 0, last.branch != BranchKind::none, next | process};
    const bool is_taken = next == taken_to;
    return {next != 0 && (is_taken || next == falls_to), is_taken, next | process};
  }

  // Makes the block one of `lanes`.
  void set_lanes(std::vector<BlockLane> all);

  // What is used most lies together.
  std::vector<Fetch> fetches;
  std::vector<BlockLane> lanes;  // all accesses, if `has_lanes`
  std::uint64_t last_line = 0;
  bool has_lanes = false;
  std::uint64_t address = 0;   // as the thread has it
  std::uint64_t taken_to = 0;  // of a conditional branch at the end
  std::uint64_t falls_to = 0;
  std::uint32_t branch_hash = 0;  // Tage::Outcome::hash of it
  Instruction last;
  std::vector<Instruction> instructions;
};

}  // namespace loft::core
