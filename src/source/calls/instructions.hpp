// The instructions of a function, as far as moving them needs to know.
//
//   if (const auto code = decode_all(bytes, address)) use(code->back().kind);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"

namespace loft::source::calls {

enum class InstructionKind : std::uint8_t {
  plain,             // goes on behind itself
  padding,           // does nothing: nop, int3
  conditional_jump,  // to `target`, or on
  short_loop,        // loop, jrcxz: to `target` near by, or on; has no form that reaches further
  jump,              // to `target`
  indirect_jump,
  call,  // of `target`
  indirect_call,
  ret,
  ret_and_pop,  // ret with an operand
  end,          // ud2, hlt: nothing comes behind it
  fixed,        // must stay where it is: system calls, transactions, what nobody knows
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  InstructionKind kind = InstructionKind::plain;
  bool is_rip_relative = false;
  bool is_lea = false;
  bool is_add = false;
  bool has_memory = false;
  bool has_index = false;            // of its memory operand: an element of a table
  bool uses_stack_pointer = false;   // as the base of its memory operand
  std::uint8_t displacement_at = 0;  // where its four bytes are, if it is relative to rip
  std::uint8_t modrm_at = 0;
  std::uint8_t condition = 0;  // of a conditional jump: the low bits of its opcode
  std::uint64_t target = 0;    // of a direct branch; of a rip-relative operand, its address

  [[nodiscard]] std::uint64_t end() const { return address + length; }
  // Whether what follows it is reached through it.
  [[nodiscard]] bool falls_through() const {
    switch (kind) {
      case InstructionKind::jump:
      case InstructionKind::indirect_jump:
      case InstructionKind::ret:
      case InstructionKind::ret_and_pop:
      case InstructionKind::end:
        return false;
      default:
        return true;
    }
  }
  [[nodiscard]] bool is_direct_jump() const {
    return kind == InstructionKind::jump || kind == InstructionKind::conditional_jump ||
           kind == InstructionKind::short_loop;
  }
};

// One instruction at the start of `bytes`; nothing where there is none.
[[nodiscard]] std::optional<Instruction> decode(Bytes bytes, std::uint64_t address);

// All of them; nothing where some bytes are no instruction.
[[nodiscard]] std::optional<std::vector<Instruction>> decode_all(Bytes bytes,
                                                                 std::uint64_t address);

// Behind `address`, how many bytes are padding, `most` at most.
[[nodiscard]] std::size_t padding_size(Bytes bytes, std::size_t most);

}  // namespace loft::source::calls
