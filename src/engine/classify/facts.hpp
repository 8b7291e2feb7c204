// Everything static about one instruction, from its decoded form:
//
//   const InstructionFacts facts = classify(instruction, operands);
//   block.kinds.push_back(kinds.intern(facts.kind));        // what it counts as (kind.hpp)
//   free &= ~(facts.registers.read.general | facts.registers.written.general);
//   for (const MemoryAccess& access : facts.memory()) ...    // what it touches, in order
//   for (const UnitSource& unit : facts.unit_sources()) ...  // what to count while it runs
//
// Nothing here allocates or fails: what the decoder accepts, classify() describes.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <span>

#include "engine/classify/kind.hpp"

namespace loft::engine {

// The arithmetic flags, as they stand in rflags.
inline constexpr std::uint32_t kStatusFlags = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF |
                                              ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
                                              ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;

// Bits of rflags.
struct FlagUse {
  std::uint32_t read = 0;
  std::uint32_t written = 0;    // always set to a defined value
  std::uint32_t undefined = 0;  // undefined by the manuals, but never the old value on processors
  std::uint32_t maybe = 0;  // written, or the old value kept (shift by cl, rep cmps, bt's others)
};

// Sets of registers by number: bit 4 of `general` is rsp, bit n of `vector` is xmm/ymm/zmm n.
struct RegisterSet {
  std::uint16_t general = 0;
  std::uint32_t vector = 0;
  std::uint8_t opmask = 0;
  std::uint8_t tile = 0;
  bool x87_or_mmx = false;
};

struct RegisterFacts {
  RegisterSet read;
  RegisterSet written;            // at least partly, at least sometimes
  std::uint16_t overwritten = 0;  // general registers whose old value is gone for certain
};

inline constexpr std::uint16_t general_bit(int number) {
  return static_cast<std::uint16_t>(1u << number);
}
inline constexpr int kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;

// The number of a general-purpose register of any size (ah is part of rax), or -1.
[[nodiscard]] int general_number(ZydisRegister reg);
// The number of an xmm, ymm or zmm register, or -1.
[[nodiscard]] int vector_number(ZydisRegister reg);

// How the places that an access touches follow from its address
//   segment base + base + index * scale + displacement,
// which is formed from the registers as they are before the instruction and cut to `address_bits`.
enum class Pattern : std::uint8_t {
  plain,       // `size` bytes at the address
  masked,      // element i, `size` bytes each, at address + i * size, for each set bit or sign i
  packed,      // as many elements of `size` bytes, from the address on, as bits are set (compress,
               // expand)
  any_lane,    // `size` bytes at the address if any bit is set (masked broadcast)
  vector,      // element i at base + index[i] * scale + displacement, for each set bit or sign i
  repeated,    // `size` bytes; the address register moves by ±size (direction flag), count in rcx
  bit_string,  // the `size` bytes that hold bit number `bit` (signed): see bit_string_offset()
  cache_line,  // the line of 64 bytes that holds the address
  tile_rows,   // row i at base + displacement + i * index * scale
  state,       // an xsave area
  enter_copy,  // `size` bytes each: load [rbp-8i], store [rsp-8-8i], for i = 1 .. count
};

struct MemoryAccess {
  bool is_store = false;
  Pattern pattern = Pattern::plain;
  AddressForm form = AddressForm::none;
  ZydisRegister segment = ZYDIS_REGISTER_NONE;  // fs, gs or none: others have base 0
  ZydisRegister base = ZYDIS_REGISTER_NONE;     // rip: the address of the next instruction
  ZydisRegister index = ZYDIS_REGISTER_NONE;    // al for xlat: zero-extended
  ZydisRegister bit = ZYDIS_REGISTER_NONE;      // of bit_string: the register with the bit number
  std::uint8_t scale = 0;
  std::uint8_t address_bits = 64;
  std::uint8_t index_bytes = 0;  // of one element of a vector index: 4 or 8
  std::uint8_t lanes = 0;        // elements that the mask governs, or copies of enter_copy
  std::uint16_t size = 0;        // bytes of the access, or of one element
  std::int64_t displacement = 0;
};

// What the engine reads, before the instruction runs, to know the units of `kind.units[i]`.
struct UnitSource {
  Unit unit = Unit::none;
  ZydisRegister reg = ZYDIS_REGISTER_NONE;  // opmask, vector, count register (rcx, ecx) or tile
  std::uint8_t lanes = 0;                   // how many of its bits or elements count
  std::uint8_t lane_bytes = 0;              // size of an element whose sign bit counts
  std::uint8_t elements = 0;                // of mask_fold: how many the lanes repeat
};

struct InstructionFacts {
  static constexpr std::size_t kMaxAccesses = 6;

  Kind kind;
  FlagUse flags;
  RegisterFacts registers;
  std::uint8_t length = 0;
  bool is_rip_relative = false;  // has a rip-relative operand, lea and prefetch included
  bool uses_fs = false;          // an operand relative to fs, or fs or its base itself
  bool uses_gs = false;
  bool ends_block = false;     // branch, system call, interrupt, or what may not fall through
  bool is_privileged = false;  // faults in user mode
  std::uint8_t access_count = 0;
  std::uint8_t unit_count = 0;
  std::array<MemoryAccess, kMaxAccesses> accesses;
  std::array<UnitSource, kMaxUnits> sources;
  std::array<std::int8_t, 3> tiles{};  // of a tile product: result, left, right

  [[nodiscard]] std::span<const MemoryAccess> memory() const {
    return {accesses.data(), access_count};
  }
  [[nodiscard]] std::span<const UnitSource> unit_sources() const {
    return {sources.data(), unit_count};
  }
};

[[nodiscard]] InstructionFacts classify(const ZydisDecodedInstruction& instruction,
                                        const ZydisDecodedOperand* operands);

// Lanes that repeat `elements` of memory, as the elements that at least one of them loads.
[[nodiscard]] inline std::uint64_t fold_lanes(std::uint64_t lanes, unsigned count,
                                              unsigned elements) {
  std::uint64_t folded = 0;
  for (unsigned at = 0; at < count; at += elements) folded |= lanes >> at;
  return folded & ((1ull << elements) - 1);
}

// Bytes to add to the address of a bit_string access: the bit number, in an operand of
// `operand_bytes`, is signed and selects a word before or after the address.
[[nodiscard]] inline std::int64_t bit_string_offset(std::int64_t bit, unsigned operand_bytes) {
  const unsigned shift = operand_bytes == 2 ? 4 : operand_bytes == 4 ? 5 : 6;
  return (bit >> shift) * static_cast<std::int64_t>(operand_bytes);
}

}  // namespace loft::engine
