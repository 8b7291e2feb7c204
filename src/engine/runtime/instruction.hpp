// One instruction of the program as the translator needs it: how it ends a block, what it does to
// the flags, and which of its bytes depend on where it stands.
#pragma once

#include <cstdint>

#include "engine/classify/facts.hpp"
#include "engine/runtime/door.hpp"

namespace loft::engine::runtime {

enum class Flow : std::uint8_t {
  next,           // goes on to the next instruction
  jump,           // direct
  conditional,    // jcc
  counted_loop,   // loop, loope, loopne, jrcxz, jecxz: only a short form exists
  call,           // direct
  jump_indirect,  // through a register or memory
  call_indirect,
  ret,
  syscall,
  door,     // the program speaks to the engine: alone in its block, and all flags are free
  trap,     // int3, ud2: the kernel looks at the place
  invalid,  // not decoded: faults when it is executed, or is newer than the decoder (unknown.hpp)
  refused,  // the engine cannot run it; `reason` says why
};

// The arithmetic flags as bits of rflags.
inline constexpr std::uint32_t kArithmeticFlags = 0x8D5;  // CF PF AF ZF SF OF

// Something about an instruction that only its run shows, and where to read it.
struct UnitPlan {
  Unit unit = Unit::none;
  std::uint8_t reg = 0;  // number of the mask, vector or tile register
  std::uint8_t lanes = 0;
  std::uint8_t lane_bytes = 0;  // of a vector register whose sign bits count
  std::uint8_t elements = 0;    // of mask_fold: how many the lanes repeat
  std::uint8_t left = 0;        // of tile_ops: number of the left factor
};

struct Instruction {
  std::uint64_t pc = 0;
  const std::uint8_t* bytes = nullptr;
  std::uint8_t length = 0;
  Flow flow = Flow::next;
  std::uint8_t modrm_offset = 0;
  std::uint8_t rip_offset = 0;  // of a displacement relative to rip, 0 when there is none
  std::uint32_t flags_read = 0;
  std::uint32_t flags_written = 0;  // always and wholly
  std::uint64_t target = 0;         // of a direct branch
  std::uint64_t rip_target = 0;
  std::uint16_t pop_bytes = 0;  // of ret n
  Door door{};
  const char* reason = nullptr;
  std::uint8_t unit_count = 0;
  bool units_before = false;   // the instruction destroys the mask: look before it runs
  bool changes_tiles = false;  // the tile configuration
  bool uses_gs = false;        // the segment or its base, which is the engine's while it runs
  UnitPlan units[kMaxUnits];
  // As register_use() has them, where they were easy to see. The masks are given without memory.
  bool knows_registers = false;
  bool uses_memory = false;
  std::uint16_t registers_read = 0;
  std::uint16_t registers_overwritten = 0;

  [[nodiscard]] std::uint64_t next_pc() const { return pc + length; }
  [[nodiscard]] bool ends_block() const { return flow != Flow::next; }
};

// Decodes the instruction at the start of `bytes`, whatever it is. The bytes must outlive the
// result. Doors are nops here.
Instruction decode_fully(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available);

// General registers that it reads or writes, as a mask of their numbers. Slower: looks at operands.
std::uint32_t registers_touched(const Instruction& instruction);

struct RegisterUse {
  std::uint32_t read;
  std::uint32_t overwritten;  // wholly, without being read
  bool memory;                // touches memory, so it may fault
};
RegisterUse register_use(const Instruction& instruction);

// Whether these are the first bytes of an instruction that has more.
bool is_incomplete(const std::uint8_t* bytes, std::uint32_t available);

// All that is known of it; false when it does not decode. Slower still.
bool describe_instruction(const std::uint8_t* bytes, std::uint32_t available,
                          InstructionFacts& facts);

// The explicit memory operand, as far as it says where; false when there is none.
struct AddressParts {
  int base;  // a general register, or -1
  int index;
  std::uint8_t scale;
  std::int32_t displacement;
  bool is_32_bit;
  std::uint8_t immediate_offset;  // of what follows the address in the bytes, or their length
  std::uint8_t rex_offset;  // of REX; of the second byte of VEX, EVEX, XOP; 0 when there is none
  bool is_rex;
};
bool address_parts(const Instruction& instruction, AddressParts& parts);

// Prepares the decoder; once, before the program starts.
void open_decoder();

}  // namespace loft::engine::runtime
