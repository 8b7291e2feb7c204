#include "engine/runtime/block.hpp"

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

void read_block(Block& block, std::uint64_t pc, std::uint64_t end) {
  const std::uint64_t wanted = end - pc < kMaxBlockBytes ? end - pc : kMaxBlockBytes;
  const long got = engine_safe_copy(block.bytes, reinterpret_cast<const void*>(pc), static_cast<long>(wanted));
  const auto available = static_cast<std::uint32_t>(got);
  block.count = 0;
  block.size = 0;
  while (block.count < kMaxInstructions) {
    const Instruction instruction =
        decode_instruction(pc + block.size, block.bytes + block.size, available - block.size);
    // Behind the first one, what does not decode is left to a block of its own.
    if (instruction.flow == Flow::invalid && block.count != 0) return;
    if (instruction.flow == Flow::refused && block.count != 0) return;
    block.instructions[block.count++] = instruction;
    block.size += instruction.length;
    if (instruction.ends_block()) return;
  }
}

std::uint32_t counter_position(const Block& block) {
  std::uint32_t best = kNoDeadFlags;
  std::uint32_t dead = 0;  // flags that are written before they are read, seen from behind
  for (std::uint32_t i = block.count; i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    dead = (dead | instruction.flags_written) & ~instruction.flags_read;
    if (dead == kArithmeticFlags) best = i;
  }
  return best;
}

int spare_register(const Block& block) {
  std::uint32_t read = 0;
  for (std::uint32_t i = 0; i < block.count && i < 12; ++i) {
    const RegisterUse use = register_use(block.instructions[i]);
    if (use.memory) return -1;
    read |= use.read;
    const std::uint32_t spare = use.overwritten & ~read & ~(1u << 4 | 1u << 12);  // not rsp, r12
    if (spare != 0) return __builtin_ctz(spare);
  }
  return -1;
}

}  // namespace loft::engine::runtime
