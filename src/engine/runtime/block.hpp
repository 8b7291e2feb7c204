// A basic block of the program: instructions up to the first that may go elsewhere.
#pragma once

#include <cstdint>

#include "engine/runtime/instruction.hpp"

namespace loft::engine::runtime {

inline constexpr std::uint32_t kMaxInstructions = 64;
inline constexpr std::uint32_t kMaxBlockBytes = 512;
inline constexpr std::uint32_t kNoDeadFlags = ~0u;

struct Block {
  std::uint8_t bytes[kMaxBlockBytes + 16];
  Instruction instructions[kMaxInstructions];
  std::uint32_t count;
  std::uint32_t size;
};

// How many bytes of code could be read. What may only be executed is read through /proc.
long read_code(std::uint8_t* to, std::uint64_t from, long bytes);

// Decodes the instruction at the start of `bytes`, doors included. The bytes must outlive the
// result.
void decode_instruction(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available,
                        Instruction& instruction);

// Reads the block at `pc` out of the program's memory. No instruction starts at `end` or behind it,
// and none reaches behind `code_end`. There is always at least one instruction; where the memory is
// no code it is an invalid one.
void read_block(Block& block, std::uint64_t pc, std::uint64_t end, std::uint64_t code_end);

// Keeps only the first instructions.
inline void cut_block(Block& block, std::uint32_t count) {
  for (; block.count > count; --block.count)
    block.size -= block.instructions[block.count - 1].length;
}

// Before which instruction the flags may be changed, or kNoDeadFlags. Looks beyond the block's end,
// but only at code from `start` to `end`, which must not be writable.
std::uint32_t counter_position(const Block& block, std::uint64_t start, std::uint64_t end);

// Whether the flags may be changed before `pc`, with the same limits.
bool are_flags_dead(std::uint64_t pc, std::uint64_t start, std::uint64_t end);

// A general register that the block overwrites before anything reads it or could fault, or -1.
int spare_register(const Block& block);

}  // namespace loft::engine::runtime
