#include "engine/runtime/quick_decode.hpp"

#include <cstring>

#include "engine/runtime/context.hpp"
#include "engine/runtime/opcodes.hpp"

namespace loft::engine::runtime {
namespace {

// The bytes of one instruction, read from front to back.
class InstructionReader {
 public:
  InstructionReader(const std::uint8_t* bytes, Instruction& instruction)
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
    if (opcode.form == (is_register_ ? OperandForm::memory : OperandForm::registers)) return false;
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

  struct Masks {
    std::uint32_t read = 0;
    std::uint32_t overwritten = 0;
  };

  // Of an instruction that touches no memory
  [[nodiscard]] Masks masks_of(const Opcode& opcode) const {
    const std::uint32_t rm =
        is_register_ ? register_mask(modrm_ & 7u, opcode.is_byte_rm, (rex_ & 1) != 0) : address_;
    const std::uint32_t reg = register_mask(modrm_ >> 3 & 7u, opcode.is_byte, (rex_ & 4) != 0);
    switch (opcode.use) {
      case OperandUse::both:
        return {rm | reg, 0};
      case OperandUse::rm:
        return {rm, 0};
      case OperandUse::rm_count:
        return {rm | 1u << kRcx, 0};
      case OperandUse::to_reg:
        return {rm, reg};
      case OperandUse::to_rm:
        return {reg, rm};
      case OperandUse::set_rm:
        return {0, rm};
      case OperandUse::low:
        return {0, register_mask(opcode_ & 7u, false, (rex_ & 1) != 0)};
      case OperandUse::rax:
        return {1u << kRax, 0};
      default:
        return {};
    }
  }

  void note_registers(const Opcode& opcode) {
    if (opcode.use == OperandUse::unknown) return;
    instruction_.knows_registers = true;
    const bool has_memory = opcode.has_modrm && !is_register_ && !opcode.no_memory;
    instruction_.uses_memory = has_memory || opcode.use == OperandUse::stack;
    if (instruction_.uses_memory) return;
    Masks masks = masks_of(opcode);
    if (is_short()) masks = {masks.read | masks.overwritten, 0};  // the other bits stay
    instruction_.registers_read = static_cast<std::uint16_t>(masks.read);
    instruction_.registers_overwritten =
        static_cast<std::uint16_t>(masks.overwritten & ~masks.read);
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
  return InstructionReader(from, instruction).read() && instruction.length <= available;
}

}  // namespace loft::engine::runtime
