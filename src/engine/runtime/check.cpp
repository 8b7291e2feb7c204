// Blocks of pages that are written while their code runs (protect.hpp): before such a block runs,
// its bytes are compared with those that it was made of.
#include <cstring>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/translation.hpp"

namespace loft::engine::runtime {
namespace {

// rax and rcx are spilled, and rax is the place of the bytes. Goes to `changed` unless they are
// there.
void emit_comparison(Emitter& emit, const std::uint8_t* bytes, std::uint32_t size,
                     const std::uint8_t* changed) {
  std::uint64_t expected = 0;
  std::memcpy(&expected, bytes, size);
  if (size == 8) {
    emit.put(0x48, 0x8B, 0x00);  // mov rax, [rax]
  } else if (size == 4) {
    emit.put(0x8B, 0x00);  // mov eax, [rax]
  } else {
    emit.put(0x0F, size == 2 ? 0xB7 : 0xB6, 0x00);  // movzx eax, word or byte [rax]
  }
  emit.load_value(kRcx, 0 - expected);
  emit.put(0x48, 0x8D, 0x0C, 0x01);  // lea rcx, [rcx + rax]
  emit.put(0xE3, 0x05);              // jrcxz past the jump
  emit.put(0xE9);
  emit.put_32(static_cast<std::uint32_t>(changed - (emit.at() + 4)));
}

}  // namespace

// What the block writes may be its own next instruction.
void Translation::end_behind_store() {
  for (std::uint32_t i = 0; i + 1 < block_.count; ++i) {
    InstructionFacts facts;
    const Instruction& instruction = block_.instructions[i];
    bool stores = !describe_instruction(instruction.bytes, instruction.length, facts);
    for (const MemoryAccess& access : facts.memory()) stores = stores || access.is_store;
    if (stores) return cut_block(block_, i + 1);
  }
}

void Translation::emit_check() {
  index_ = 0;
  at_pc_ = trace_->pc;
  std::uint8_t* changed = take_cold(*trace_->arena, 48);
  Emitter cold(changed);
  cold.load_value(kRcx, trace_->pc);
  cold.store_context(CTX_NEXT_PC, kRcx);
  cold.load_context(kRcx, CTX_SPILL1);
  cold.load_context(kRax, CTX_SPILL0);
  cold.jump_context(CTX_CHANGED);
  point(Point::clean);
  emit_.store_context(CTX_SPILL0, kRax);
  point(Point::ours);
  emit_.store_context(CTX_SPILL1, kRcx);
  for (std::uint32_t at = 0; at < block_.size;) {
    const std::uint32_t left = block_.size - at;
    const std::uint32_t size = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    point(Point::ours);
    emit_.load_value(kRax, trace_->pc + at);
    point(Point::branch_spilled);  // faults as the instruction would, if it cannot be read
    emit_comparison(emit_, block_.bytes + at, size, changed);
    at += size;
  }
  point(Point::ours);
  emit_.load_context(kRcx, CTX_SPILL1);
  emit_.load_context(kRax, CTX_SPILL0);
}

}  // namespace loft::engine::runtime
