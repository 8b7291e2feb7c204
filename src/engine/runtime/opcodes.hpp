// What the quick decoder knows of an opcode, as tables.
#pragma once

#include <array>
#include <cstdint>

#include "engine/runtime/instruction.hpp"

namespace loft::engine::runtime {

// What an opcode may be followed by.
enum class Immediate : std::uint8_t {
  none,
  byte,
  sized,  // 2 or 4 bytes, as the operand
  full,   // 2, 4 or 8
};

// How the operands use general registers when no memory is involved.
enum class OperandUse : std::uint8_t {
  unknown,
  nothing,   // no general register: vectors alone, or no operands
  both,      // rm and reg are read
  rm,        // rm is read
  rm_count,  // rm and cl
  to_reg,    // rm is read, reg is overwritten
  to_rm,     // reg is read, rm is overwritten
  set_rm,    // rm is overwritten
  low,       // the register in the opcode is overwritten
  rax,       // rax is read
  stack,     // memory, whatever the operands are
};

enum class OperandForm : std::uint8_t { any, memory, registers };

struct Opcode {
  bool known = false;
  bool has_modrm = false;
  Immediate immediate = Immediate::none;
  Flow flow = Flow::next;
  OperandUse use = OperandUse::unknown;
  OperandForm form = OperandForm::any;
  bool is_byte = false;       // reg is one of 8 bits
  bool is_byte_rm = false;    // so is rm
  bool no_memory = false;     // its address is only computed
  std::uint8_t prefixes = 1;  // which may stand before it: 1 none, 2 66, 4 F3, 8 F2
  std::uint16_t read = 0;     // flags
  std::uint16_t written = 0;
};

// Opcodes of one byte, and those behind 0F. Unknown ones are not `known`.
using OpcodeMap = std::array<Opcode, 256>;
extern const OpcodeMap kFirstMap;
extern const OpcodeMap kSecondMap;

// Opcodes whose meaning is in the reg field of ModRM: which group one is, from 1 on, or 0.
constexpr std::size_t kOpcodeGroups = 15;
using OpcodeGroups = std::array<std::array<Opcode, 8>, kOpcodeGroups>;
extern const std::array<std::uint8_t, 256> kGroupNumbers;
extern const OpcodeGroups kGroupMap;

}  // namespace loft::engine::runtime
