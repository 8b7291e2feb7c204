#include "engine/runtime/opcodes.hpp"

#include <initializer_list>

namespace loft::engine::runtime {
namespace {

constexpr std::uint16_t kCarry = 0x1;
constexpr std::uint16_t kZero = 0x40;
constexpr std::uint16_t kOverflow = 0x800;
constexpr std::uint16_t kAll = 0x8D5;
constexpr std::uint16_t kAllOfSubtraction = kAll & ~0x10;  // with borrow: the decoder leaves AF out
constexpr std::uint8_t kSizes = 3;                         // alone, or with 66
constexpr std::uint8_t kEvery = 15;

constexpr std::uint16_t flags_of_condition(unsigned condition) {
  constexpr std::uint16_t kFlags[8] = {0x800, 0x1, 0x40, 0x41, 0x80, 0x4, 0x880, 0x8C0};
  return kFlags[condition / 2 % 8];
}

constexpr Opcode with_modrm(OperandUse use, std::uint16_t read, std::uint16_t written,
                            Immediate immediate = Immediate::none) {
  Opcode opcode;
  opcode.known = true;
  opcode.has_modrm = true;
  opcode.immediate = immediate;
  opcode.use = use;
  opcode.prefixes = kSizes;
  opcode.read = read;
  opcode.written = written;
  return opcode;
}

constexpr Opcode plain(OperandUse use, Immediate immediate = Immediate::none,
                       Flow flow = Flow::next) {
  Opcode opcode;
  opcode.known = true;
  opcode.immediate = immediate;
  opcode.use = use;
  opcode.flow = flow;
  return opcode;
}

constexpr Opcode of_bytes(Opcode opcode) {
  opcode.is_byte = true;
  opcode.is_byte_rm = true;
  return opcode;
}

// add, or, adc, sbb, and, sub, xor, cmp in their six forms each
constexpr void add_arithmetic(OpcodeMap& map) {
  for (unsigned operation = 0; operation < 8; ++operation) {
    const unsigned first = operation * 8;
    const std::uint16_t read = operation == 2 || operation == 3 ? kCarry : 0;
    const std::uint16_t written = operation == 3 ? kAllOfSubtraction : kAll;
    const Opcode opcode = with_modrm(OperandUse::both, read, written);
    map[first] = map[first + 2] = of_bytes(opcode);
    map[first + 1] = map[first + 3] = opcode;
    for (const unsigned form : {4u, 5u}) {
      Opcode& with_immediate = map[first + form];
      with_immediate = plain(OperandUse::rax, form == 4 ? Immediate::byte : Immediate::sized);
      with_immediate.prefixes = kSizes;
      with_immediate.read = read;
      with_immediate.written = written;
    }
  }
}

constexpr OpcodeMap make_first_map() {
  OpcodeMap map{};
  add_arithmetic(map);
  for (unsigned i = 0; i < 8; ++i) {
    map[0x50 + i] = map[0x58 + i] = plain(OperandUse::stack);
    map[0xB0 + i] = plain(OperandUse::unknown, Immediate::byte);
    map[0xB8 + i] = plain(OperandUse::low, Immediate::full);
    map[0xB8 + i].prefixes = kSizes;
  }
  for (unsigned i = 0; i < 16; ++i) {
    map[0x70 + i] = plain(OperandUse::nothing, Immediate::byte, Flow::conditional);
    map[0x70 + i].read = flags_of_condition(i);
  }
  map[0x63] = with_modrm(OperandUse::to_reg, 0, 0);
  map[0x63].prefixes = 1;
  map[0x68] = plain(OperandUse::stack, Immediate::sized);
  map[0x6A] = plain(OperandUse::stack, Immediate::byte);
  map[0x69] = with_modrm(OperandUse::to_reg, 0, kCarry | kOverflow, Immediate::sized);
  map[0x6B] = with_modrm(OperandUse::to_reg, 0, kCarry | kOverflow, Immediate::byte);
  map[0x84] = of_bytes(with_modrm(OperandUse::both, 0, kAll));
  map[0x85] = with_modrm(OperandUse::both, 0, kAll);
  map[0x88] = map[0x8A] = of_bytes(with_modrm(OperandUse::both, 0, 0));
  map[0x89] = with_modrm(OperandUse::to_rm, 0, 0);
  map[0x8B] = with_modrm(OperandUse::to_reg, 0, 0);
  map[0x8D] = with_modrm(OperandUse::to_reg, 0, 0);
  map[0x8D].form = OperandForm::memory;
  map[0x8D].no_memory = true;
  map[0x98] = map[0x99] = plain(OperandUse::unknown);
  map[0x98].prefixes = map[0x99].prefixes = kSizes;
  map[0xA8] = plain(OperandUse::rax, Immediate::byte);
  map[0xA9] = plain(OperandUse::rax, Immediate::sized);
  map[0xA9].prefixes = kSizes;
  map[0xA8].written = map[0xA9].written = kAll;
  map[0xC3] = plain(OperandUse::stack, Immediate::none, Flow::ret);
  map[0xC9] = plain(OperandUse::stack);
  map[0xE8] = plain(OperandUse::stack, Immediate::sized, Flow::call);
  map[0xE9] = plain(OperandUse::nothing, Immediate::sized, Flow::jump);
  map[0xEB] = plain(OperandUse::nothing, Immediate::byte, Flow::jump);
  return map;
}

constexpr void add_vectors(OpcodeMap& map, std::initializer_list<unsigned> opcodes,
                           std::uint8_t prefixes, Immediate immediate = Immediate::none) {
  for (const unsigned opcode : opcodes) {
    map[opcode] = with_modrm(OperandUse::nothing, 0, 0, immediate);
    map[opcode].prefixes = prefixes;
  }
}

constexpr void add_all_vectors(OpcodeMap& map) {
  add_vectors(map, {0x10, 0x11, 0x51, 0x58, 0x59, 0x5A, 0x5C, 0x5D, 0x5E, 0x5F}, kEvery);
  add_vectors(map, {0x14, 0x15, 0x28, 0x29, 0x54, 0x55, 0x56, 0x57}, kSizes);
  add_vectors(map, {0x12, 0x13, 0x16, 0x17}, 2);
  for (const unsigned opcode : {0x12u, 0x13u, 0x16u, 0x17u}) map[opcode].form = OperandForm::memory;
  add_vectors(map, {0x6F, 0x7F}, 1 | 2 | 4);
  add_vectors(map, {0x6C, 0x6D}, 2);
  for (unsigned opcode = 0x60; opcode <= 0x6B; ++opcode) add_vectors(map, {opcode}, 2);
  add_vectors(map, {0x74, 0x75, 0x76}, 2);
  for (unsigned opcode = 0xD1; opcode <= 0xFE; ++opcode) {
    if (opcode == 0xD6 || opcode == 0xD7 || opcode == 0xE6 || opcode == 0xE7 || opcode == 0xF0 ||
        opcode == 0xF7)
      continue;
    add_vectors(map, {opcode}, 2);
  }
  add_vectors(map, {0x70}, 2 | 4 | 8, Immediate::byte);
  add_vectors(map, {0xC6}, kSizes, Immediate::byte);
  add_vectors(map, {0xD6}, 2);
  map[0x2E] = map[0x2F] = with_modrm(OperandUse::nothing, 0, kAll);
  map[0x6E] = with_modrm(OperandUse::rm, 0, 0);
  map[0x7E] = with_modrm(OperandUse::unknown, 0, 0);
  map[0x6E].prefixes = 2;
  map[0x7E].prefixes = 2 | 4;
  map[0xD7] = with_modrm(OperandUse::unknown, 0, 0);
  map[0xD7].prefixes = 2;
  map[0xD7].form = OperandForm::registers;
  map[0x2A] = with_modrm(OperandUse::unknown, 0, 0);
  map[0x2C] = map[0x2D] = map[0x2A];
  map[0x2A].prefixes = map[0x2C].prefixes = map[0x2D].prefixes = 4 | 8;
}

constexpr OpcodeMap make_second_map() {
  OpcodeMap map{};
  for (unsigned i = 0; i < 16; ++i) {
    map[0x40 + i] = with_modrm(OperandUse::both, flags_of_condition(i), 0);
    map[0x80 + i] = plain(OperandUse::nothing, Immediate::sized, Flow::conditional);
    map[0x80 + i].read = flags_of_condition(i);
    map[0x90 + i] = with_modrm(OperandUse::rm, flags_of_condition(i), 0);
    map[0x90 + i].is_byte_rm = true;
    map[0x90 + i].prefixes = 1;
  }
  map[0x05] = plain(OperandUse::unknown, Immediate::none, Flow::syscall);
  map[0x05].written = kAll;
  map[0x1F] = with_modrm(OperandUse::unknown, 0, 0);
  map[0xA3] = with_modrm(OperandUse::both, 0, kCarry);
  map[0xAF] = with_modrm(OperandUse::both, 0, kCarry | kOverflow);
  map[0xB6] = map[0xB7] = map[0xBE] = map[0xBF] = with_modrm(OperandUse::to_reg, 0, 0);
  map[0xB6].is_byte_rm = map[0xBE].is_byte_rm = true;
  map[0xBC] = map[0xBD] = with_modrm(OperandUse::both, 0, kZero);
  for (const unsigned i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u})
    map[0xC8 + i] = plain(OperandUse::unknown);  // bswap
  add_all_vectors(map);
  return map;
}

// Shifts and rotations by an immediate, by 1 and by cl
constexpr Opcode shift(unsigned opcode, unsigned reg) {
  if (reg == 6) return {};
  const bool rotates_carry = reg == 2 || reg == 3;
  return with_modrm(opcode >= 0xD2 ? OperandUse::rm_count : OperandUse::rm,
                    rotates_carry ? kCarry : 0, 0,
                    opcode < 0xD0 ? Immediate::byte : Immediate::none);
}

// test, not, neg, mul, imul
constexpr Opcode unary(bool is_byte, unsigned reg) {
  if (reg == 1 || reg > 5) return {};  // an alias of test; divisions
  if (reg == 0)
    return with_modrm(OperandUse::rm, 0, kAll, is_byte ? Immediate::byte : Immediate::sized);
  if (reg == 2) return with_modrm(OperandUse::rm, 0, 0);
  if (reg == 3) return with_modrm(OperandUse::rm, 0, kAll);
  return with_modrm(OperandUse::unknown, 0, kCarry | kOverflow);
}

// inc, dec; and call, jmp, push where the operand is no byte
constexpr Opcode last_group(bool is_byte, unsigned reg) {
  if (reg < 2) return with_modrm(OperandUse::rm, 0, kAll & ~kCarry);
  if (is_byte || (reg != 2 && reg != 4 && reg != 6)) return {};
  Opcode made = with_modrm(reg == 4 ? OperandUse::rm : OperandUse::stack, 0, 0);
  made.prefixes = 1;
  if (reg == 2) made.flow = Flow::call_indirect;
  if (reg == 4) made.flow = Flow::jump_indirect;
  return made;
}

constexpr Opcode in_group(unsigned opcode, unsigned reg) {
  const bool is_byte = (opcode & 1) == 0;
  switch (opcode & 0xFE) {
    case 0x80:
    case 0x82:
      return with_modrm(OperandUse::rm, reg == 2 || reg == 3 ? kCarry : 0,
                        reg == 3 ? kAllOfSubtraction : kAll,
                        opcode == 0x81 ? Immediate::sized : Immediate::byte);
    case 0xC6:
      if (reg != 0) return {};
      return with_modrm(is_byte ? OperandUse::rm : OperandUse::set_rm, 0, 0,
                        is_byte ? Immediate::byte : Immediate::sized);
    case 0xF6:
      return unary(is_byte, reg);
    case 0xFE:
      return last_group(is_byte, reg);
    default:
      return shift(opcode, reg);
  }
}

constexpr std::array<unsigned, kOpcodeGroups> kGroups{
    0x80, 0x81, 0x83, 0xC0, 0xC1, 0xC6, 0xC7, 0xD0, 0xD1, 0xD2, 0xD3, 0xF6, 0xF7, 0xFE, 0xFF};
constexpr OpcodeGroups make_groups() {
  OpcodeGroups groups{};
  for (unsigned group = 0; group < kGroups.size(); ++group)
    for (unsigned reg = 0; reg < 8; ++reg) {
      const Opcode opcode = in_group(kGroups[group], reg);
      groups[group][reg] = kGroups[group] % 2 == 0 ? of_bytes(opcode) : opcode;
    }
  return groups;
}

// Which group an opcode is, from 1 on, or 0.
constexpr std::array<std::uint8_t, 256> make_group_numbers() {
  std::array<std::uint8_t, 256> numbers{};
  for (unsigned group = 0; group < kGroups.size(); ++group)
    numbers[kGroups[group]] = static_cast<std::uint8_t>(group + 1);
  return numbers;
}

}  // namespace

constinit const OpcodeMap kFirstMap = make_first_map();
constinit const OpcodeMap kSecondMap = make_second_map();
constinit const OpcodeGroups kGroupMap = make_groups();
constinit const std::array<std::uint8_t, 256> kGroupNumbers = make_group_numbers();

}  // namespace loft::engine::runtime
