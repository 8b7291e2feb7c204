#include "engine/runtime/quick_decode.hpp"

#include <array>
#include <cstring>
#include <initializer_list>

namespace loft::engine::runtime {
namespace {

// What an opcode may be followed by.
enum class Immediate : std::uint8_t {
  none,
  byte,
  word,
  sized,  // 2 or 4 bytes, as the operand
  full,   // 2, 4 or 8
};

// How the operands use general registers when no memory is involved.
enum class Use : std::uint8_t {
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

enum class Form : std::uint8_t { any, memory, registers };

struct Opcode {
  bool known = false;
  bool has_modrm = false;
  Immediate immediate = Immediate::none;
  Flow flow = Flow::next;
  Use use = Use::unknown;
  Form form = Form::any;
  bool is_byte = false;       // reg is one of 8 bits
  bool is_byte_rm = false;    // so is rm
  bool no_memory = false;     // its address is only computed
  std::uint8_t prefixes = 1;  // which may stand before it: 1 none, 2 66, 4 F3, 8 F2
  std::uint16_t read = 0;     // flags
  std::uint16_t written = 0;
};

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

using Map = std::array<Opcode, 256>;

constexpr Opcode with_modrm(Use use, std::uint16_t read, std::uint16_t written,
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

constexpr Opcode plain(Use use, Immediate immediate = Immediate::none, Flow flow = Flow::next) {
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
constexpr void add_arithmetic(Map& map) {
  for (unsigned operation = 0; operation < 8; ++operation) {
    const unsigned first = operation * 8;
    const std::uint16_t read = operation == 2 || operation == 3 ? kCarry : 0;
    const std::uint16_t written = operation == 3 ? kAllOfSubtraction : kAll;
    const Opcode opcode = with_modrm(Use::both, read, written);
    map[first] = map[first + 2] = of_bytes(opcode);
    map[first + 1] = map[first + 3] = opcode;
    for (const unsigned form : {4u, 5u}) {
      Opcode& with_immediate = map[first + form];
      with_immediate = plain(Use::rax, form == 4 ? Immediate::byte : Immediate::sized);
      with_immediate.prefixes = kSizes;
      with_immediate.read = read;
      with_immediate.written = written;
    }
  }
}

constexpr Map make_first_map() {
  Map map{};
  add_arithmetic(map);
  for (unsigned i = 0; i < 8; ++i) {
    map[0x50 + i] = map[0x58 + i] = plain(Use::stack);
    map[0xB0 + i] = plain(Use::unknown, Immediate::byte);
    map[0xB8 + i] = plain(Use::low, Immediate::full);
    map[0xB8 + i].prefixes = kSizes;
  }
  for (unsigned i = 0; i < 16; ++i) {
    map[0x70 + i] = plain(Use::nothing, Immediate::byte, Flow::conditional);
    map[0x70 + i].read = flags_of_condition(i);
  }
  map[0x63] = with_modrm(Use::to_reg, 0, 0);
  map[0x63].prefixes = 1;
  map[0x68] = plain(Use::stack, Immediate::sized);
  map[0x6A] = plain(Use::stack, Immediate::byte);
  map[0x69] = with_modrm(Use::to_reg, 0, kCarry | kOverflow, Immediate::sized);
  map[0x6B] = with_modrm(Use::to_reg, 0, kCarry | kOverflow, Immediate::byte);
  map[0x84] = of_bytes(with_modrm(Use::both, 0, kAll));
  map[0x85] = with_modrm(Use::both, 0, kAll);
  map[0x88] = map[0x8A] = of_bytes(with_modrm(Use::both, 0, 0));
  map[0x89] = with_modrm(Use::to_rm, 0, 0);
  map[0x8B] = with_modrm(Use::to_reg, 0, 0);
  map[0x8D] = with_modrm(Use::to_reg, 0, 0);
  map[0x8D].form = Form::memory;
  map[0x8D].no_memory = true;
  map[0x98] = map[0x99] = plain(Use::unknown);
  map[0x98].prefixes = map[0x99].prefixes = kSizes;
  map[0xA8] = plain(Use::rax, Immediate::byte);
  map[0xA9] = plain(Use::rax, Immediate::sized);
  map[0xA9].prefixes = kSizes;
  map[0xA8].written = map[0xA9].written = kAll;
  map[0xC3] = plain(Use::stack, Immediate::none, Flow::ret);
  map[0xC9] = plain(Use::stack);
  map[0xE8] = plain(Use::stack, Immediate::sized, Flow::call);
  map[0xE9] = plain(Use::nothing, Immediate::sized, Flow::jump);
  map[0xEB] = plain(Use::nothing, Immediate::byte, Flow::jump);
  return map;
}

constexpr void add_vectors(Map& map, std::initializer_list<unsigned> opcodes, std::uint8_t prefixes,
                           Immediate immediate = Immediate::none) {
  for (const unsigned opcode : opcodes) {
    map[opcode] = with_modrm(Use::nothing, 0, 0, immediate);
    map[opcode].prefixes = prefixes;
  }
}

constexpr Map make_second_map() {
  Map map{};
  for (unsigned i = 0; i < 16; ++i) {
    map[0x40 + i] = with_modrm(Use::both, flags_of_condition(i), 0);
    map[0x80 + i] = plain(Use::nothing, Immediate::sized, Flow::conditional);
    map[0x80 + i].read = flags_of_condition(i);
    map[0x90 + i] = with_modrm(Use::rm, flags_of_condition(i), 0);
    map[0x90 + i].is_byte_rm = true;
    map[0x90 + i].prefixes = 1;
  }
  map[0x05] = plain(Use::unknown, Immediate::none, Flow::syscall);
  map[0x05].written = kAll;
  map[0x1F] = with_modrm(Use::unknown, 0, 0);
  map[0xA3] = with_modrm(Use::both, 0, kCarry);
  map[0xAF] = with_modrm(Use::both, 0, kCarry | kOverflow);
  map[0xB6] = map[0xB7] = map[0xBE] = map[0xBF] = with_modrm(Use::to_reg, 0, 0);
  map[0xB6].is_byte_rm = map[0xBE].is_byte_rm = true;
  map[0xBC] = map[0xBD] = with_modrm(Use::both, 0, kZero);
  for (const unsigned i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u})
    map[0xC8 + i] = plain(Use::unknown);  // bswap
  add_vectors(map, {0x10, 0x11, 0x51, 0x58, 0x59, 0x5A, 0x5C, 0x5D, 0x5E, 0x5F}, kEvery);
  add_vectors(map, {0x14, 0x15, 0x28, 0x29, 0x54, 0x55, 0x56, 0x57}, kSizes);
  add_vectors(map, {0x12, 0x13, 0x16, 0x17}, 2);
  for (const unsigned opcode : {0x12u, 0x13u, 0x16u, 0x17u}) map[opcode].form = Form::memory;
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
  map[0x2E] = map[0x2F] = with_modrm(Use::nothing, 0, kAll);
  map[0x6E] = with_modrm(Use::rm, 0, 0);
  map[0x7E] = with_modrm(Use::unknown, 0, 0);
  map[0x6E].prefixes = 2;
  map[0x7E].prefixes = 2 | 4;
  map[0xD7] = with_modrm(Use::unknown, 0, 0);
  map[0xD7].prefixes = 2;
  map[0xD7].form = Form::registers;
  map[0x2A] = with_modrm(Use::unknown, 0, 0);
  map[0x2C] = map[0x2D] = map[0x2A];
  map[0x2A].prefixes = map[0x2C].prefixes = map[0x2D].prefixes = 4 | 8;
  return map;
}

// Opcodes whose meaning is in the reg field of ModRM.
constexpr Opcode in_group(unsigned opcode, unsigned reg) {
  const bool is_byte = (opcode & 1) == 0;
  Opcode made;
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
      made = with_modrm(Use::rm, reg == 2 || reg == 3 ? kCarry : 0,
                        reg == 3 ? kAllOfSubtraction : kAll,
                        opcode == 0x81 ? Immediate::sized : Immediate::byte);
      break;
    case 0xC0:
    case 0xC1:
    case 0xD0:
    case 0xD1:
    case 0xD2:
    case 0xD3: {
      const bool rotates_carry = reg == 2 || reg == 3;
      if (reg == 6) return made;
      made = with_modrm(opcode >= 0xD2 ? Use::rm_count : Use::rm, rotates_carry ? kCarry : 0, 0,
                        opcode < 0xD0 ? Immediate::byte : Immediate::none);
      break;
    }
    case 0xC6:
    case 0xC7:
      if (reg != 0) return made;
      made = with_modrm(is_byte ? Use::rm : Use::set_rm, 0, 0,
                        is_byte ? Immediate::byte : Immediate::sized);
      break;
    case 0xF6:
    case 0xF7:
      if (reg == 1 || reg > 5) return made;  // an alias of test; divisions
      made = with_modrm(reg < 4 ? Use::rm : Use::unknown, 0,
                        reg == 2  ? 0
                        : reg > 3 ? kCarry | kOverflow
                                  : kAll,
                        reg != 0  ? Immediate::none
                        : is_byte ? Immediate::byte
                                  : Immediate::sized);
      break;
    case 0xFE:
    case 0xFF:
      if (reg < 2) {
        made = with_modrm(Use::rm, 0, kAll & ~kCarry);
      } else if (opcode == 0xFF && (reg == 2 || reg == 4)) {
        made = with_modrm(reg == 2 ? Use::stack : Use::rm, 0, 0);
        made.prefixes = 1;
        made.flow = reg == 2 ? Flow::call_indirect : Flow::jump_indirect;
      } else if (opcode == 0xFF && reg == 6) {
        made = with_modrm(Use::stack, 0, 0);
        made.prefixes = 1;
      }
      break;
    default:
      break;
  }
  return is_byte ? of_bytes(made) : made;
}

constexpr unsigned kGroups[] = {0x80, 0x81, 0x83, 0xC0, 0xC1, 0xC6, 0xC7, 0xD0,
                                0xD1, 0xD2, 0xD3, 0xF6, 0xF7, 0xFE, 0xFF};
using Groups = std::array<std::array<Opcode, 8>, std::size(kGroups)>;

constexpr Groups make_groups() {
  Groups groups{};
  for (unsigned group = 0; group < std::size(kGroups); ++group)
    for (unsigned reg = 0; reg < 8; ++reg) groups[group][reg] = in_group(kGroups[group], reg);
  return groups;
}

// Which group an opcode is, from 1 on, or 0.
constexpr std::array<std::uint8_t, 256> make_group_numbers() {
  std::array<std::uint8_t, 256> numbers{};
  for (unsigned group = 0; group < std::size(kGroups); ++group)
    numbers[kGroups[group]] = static_cast<std::uint8_t>(group + 1);
  return numbers;
}

constexpr Map kFirstMap = make_first_map();
constexpr Map kSecondMap = make_second_map();
constexpr Groups kGroupMap = make_groups();
constexpr std::array<std::uint8_t, 256> kGroupNumbers = make_group_numbers();

// The bytes of one instruction, read from front to back.
class Reader {
 public:
  Reader(const std::uint8_t* bytes, Instruction& instruction)
      : bytes_(bytes), instruction_(instruction) {}

  // The bytes are 15 at least.
  bool read() {
    if (is_landing_pad()) return true;
    read_prefixes();
    const Opcode* opcode = read_opcode();
    if (!opcode->known || (opcode->prefixes & prefix_) == 0) return false;
    if (opcode->has_modrm && !read_modrm(*opcode)) return false;
    if (opcode->flow != Flow::next && (has_fs_ || (rex_ != 0 && !opcode->has_modrm))) return false;
    read_immediate(*opcode);
    finish(*opcode);
    return true;
  }

 private:
  // endbr64, at the start of most functions
  bool is_landing_pad() {
    constexpr std::uint8_t kBytes[] = {0xF3, 0x0F, 0x1E, 0xFA};
    if (std::memcmp(bytes_, kBytes, sizeof kBytes) != 0) return false;
    instruction_.length = sizeof kBytes;
    instruction_.modrm_offset = sizeof kBytes - 1;
    instruction_.knows_registers = true;
    return true;
  }

  void read_prefixes() {
    if (bytes_[at_] == 0x64) {
      has_fs_ = true;
      ++at_;
    }
    switch (bytes_[at_]) {
      case 0x66:
        prefix_ = 2;
        ++at_;
        break;
      case 0xF3:
        prefix_ = 4;
        ++at_;
        break;
      case 0xF2:
        prefix_ = 8;
        ++at_;
        break;
      default:
        break;
    }
    if ((bytes_[at_] & 0xF0) == 0x40) rex_ = bytes_[at_++];
  }

  const Opcode* read_opcode() {
    opcode_ = bytes_[at_++];
    if (opcode_ == 0x0F) {
      opcode_ = bytes_[at_++];
      return &kSecondMap[opcode_];
    }
    if (const unsigned group = kGroupNumbers[opcode_])
      return &kGroupMap[group - 1][bytes_[at_] >> 3 & 7];
    return &kFirstMap[opcode_];
  }

  bool read_modrm(const Opcode& opcode) {
    instruction_.modrm_offset = static_cast<std::uint8_t>(at_);
    modrm_ = bytes_[at_++];
    is_register_ = modrm_ >> 6 == 3;
    if (opcode.form == (is_register_ ? Form::memory : Form::registers)) return false;
    if (is_register_) return true;
    const unsigned mode = modrm_ >> 6;
    const unsigned rm = modrm_ & 7;
    unsigned displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (rm == 4) {
      const unsigned sib = bytes_[at_++];
      if (mode == 0 && (sib & 7) == 5) {
        displacement = 4;
      } else {
        address_ |= 1u << ((sib & 7) | (rex_ & 1) << 3);
      }
      const unsigned index = (sib >> 3 & 7) | (rex_ & 2) << 2;
      if (index != 4) address_ |= 1u << index;
    } else if (mode == 0 && rm == 5) {
      instruction_.rip_offset = static_cast<std::uint8_t>(at_);
      displacement = 4;
    } else {
      address_ |= 1u << (rm | (rex_ & 1) << 3);
    }
    at_ += displacement;
    return true;
  }

  [[nodiscard]] bool is_wide() const { return (rex_ & 8) != 0; }
  [[nodiscard]] bool is_short() const { return prefix_ == 2 && !is_wide(); }

  void read_immediate(const Opcode& opcode) {
    immediate_ = at_;
    switch (opcode.immediate) {
      case Immediate::none:
        break;
      case Immediate::byte:
        at_ += 1;
        break;
      case Immediate::word:
        at_ += 2;
        break;
      case Immediate::sized:
        at_ += is_short() ? 2 : 4;
        break;
      case Immediate::full:
        at_ += is_wide() ? 8 : is_short() ? 2 : 4;
        break;
    }
  }

  template <class Number>
  [[nodiscard]] std::uint64_t number_at(std::uint32_t offset) const {
    Number value;
    std::memcpy(&value, bytes_ + offset, sizeof value);
    return static_cast<std::uint64_t>(std::int64_t{value});
  }

  void finish(const Opcode& opcode) {
    instruction_.length = static_cast<std::uint8_t>(at_);
    instruction_.flow = opcode.flow;
    instruction_.flags_read = opcode.read;
    instruction_.flags_written = opcode.written;
    if (opcode.flow != Flow::next && opcode.immediate != Immediate::none)
      instruction_.target = instruction_.next_pc() + (opcode.immediate == Immediate::byte
                                                          ? number_at<std::int8_t>(immediate_)
                                                          : number_at<std::int32_t>(immediate_));
    if (instruction_.rip_offset != 0)
      instruction_.rip_target =
          instruction_.next_pc() + number_at<std::int32_t>(instruction_.rip_offset);
    note_registers(opcode);
  }

  // Without REX the numbers 4 to 7 of 8 bits are the second bytes of the first four.
  [[nodiscard]] std::uint32_t register_mask(unsigned number, bool is_byte, bool is_high) const {
    if (is_byte && rex_ == 0) return 1u << (number & 3);
    return 1u << (number | (is_high ? 8 : 0));
  }

  void note_registers(const Opcode& opcode) {
    if (opcode.use == Use::unknown) return;
    instruction_.knows_registers = true;
    const bool has_memory = opcode.has_modrm && !is_register_ && !opcode.no_memory;
    instruction_.uses_memory = has_memory || opcode.use == Use::stack;
    if (instruction_.uses_memory) return;
    const std::uint32_t rm =
        is_register_ ? register_mask(modrm_ & 7u, opcode.is_byte_rm, (rex_ & 1) != 0) : address_;
    const std::uint32_t reg = register_mask(modrm_ >> 3 & 7u, opcode.is_byte, (rex_ & 4) != 0);
    const std::uint32_t low = 1u << ((opcode_ & 7) | (rex_ & 1) << 3);
    std::uint32_t read = 0;
    std::uint32_t overwritten = 0;
    switch (opcode.use) {
      case Use::both:
        read = rm | reg;
        break;
      case Use::rm:
        read = rm;
        break;
      case Use::rm_count:
        read = rm | 1u << 1;
        break;
      case Use::to_reg:
        read = rm;
        overwritten = reg;
        break;
      case Use::to_rm:
        read = reg;
        overwritten = rm;
        break;
      case Use::set_rm:
        overwritten = rm;
        break;
      case Use::low:
        overwritten = low;
        break;
      case Use::rax:
        read = 1;
        break;
      default:
        break;
    }
    if (is_short()) {  // 16 bits leave the others as they are
      read |= overwritten;
      overwritten = 0;
    }
    instruction_.registers_read = static_cast<std::uint16_t>(read);
    instruction_.registers_overwritten = static_cast<std::uint16_t>(overwritten & ~read);
  }

  const std::uint8_t* bytes_;
  Instruction& instruction_;
  std::uint32_t at_ = 0;
  std::uint32_t immediate_ = 0;
  std::uint32_t address_ = 0;  // registers of the address
  std::uint8_t opcode_ = 0;
  std::uint8_t modrm_ = 0;
  std::uint8_t rex_ = 0;
  std::uint8_t prefix_ = 1;  // as in Opcode::prefixes
  bool has_fs_ = false;
  bool is_register_ = false;
};

}  // namespace

bool decode_quickly(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available,
                    Instruction& instruction) {
  std::uint8_t padded[16] = {};
  const std::uint8_t* from = bytes;
  if (available < sizeof padded) {
    std::memcpy(padded, bytes, available);
    from = padded;
  }
  instruction = Instruction();
  instruction.pc = pc;
  instruction.bytes = bytes;
  return Reader(from, instruction).read() && instruction.length <= available;
}

}  // namespace loft::engine::runtime
