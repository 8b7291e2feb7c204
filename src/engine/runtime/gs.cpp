// Programs that use gs: the segment is the engine's while the program runs, and the program's base
// is a field of the context. An operand's address is put together in a register instead.
#include <initializer_list>

#include "engine/runtime/stop.hpp"
#include "engine/runtime/translation.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint8_t kGsPrefix = 0x65;
constexpr std::uint8_t kAddressPrefix = 0x67;

bool is_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64:
    case kGsPrefix:
    case 0x66:
    case kAddressPrefix:
    case 0xF0:
    case 0xF2:
    case 0xF3:
      return true;
    default:
      return false;
  }
}

// lea reg, [base + index * scale + displacement], of 32 bits where the program asked for that
void emit_address(Emitter& emit, int reg, const AddressParts& parts) {
  if (parts.base < 0 && parts.index < 0) {
    const auto value = static_cast<std::int64_t>(parts.displacement);
    emit.load_value(reg, parts.is_32_bit ? static_cast<std::uint32_t>(value)
                                         : static_cast<std::uint64_t>(value));
    return;
  }
  const int base = parts.base < 0 ? 5 : parts.base;
  const int index = parts.index < 0 ? 4 : parts.index;
  const int scale = parts.scale < 2 ? 0 : __builtin_ctz(parts.scale);
  if (parts.is_32_bit) emit.put(kAddressPrefix);
  emit.put(0x48 | (index >= 8 ? 2 : 0) | (base >= 8 ? 1 : 0), 0x8D,
           (parts.base < 0 ? 0x04 : 0x84) | reg << 3, scale << 6 | (index & 7) << 3 | (base & 7));
  emit.put_32(static_cast<std::uint32_t>(parts.displacement));
}

// The instruction with [reg] as its operand.
void emit_with_operand(Emitter& emit, const Instruction& instruction, const AddressParts& parts,
                       int reg) {
  const std::uint8_t* bytes = instruction.bytes;
  bool in_prefixes = true;  // behind them the same bytes mean something else
  for (std::uint32_t i = 0; i < instruction.modrm_offset; ++i) {
    in_prefixes = in_prefixes && is_prefix(bytes[i]);
    if (in_prefixes && (bytes[i] == kGsPrefix || bytes[i] == kAddressPrefix)) continue;
    const bool is_extension = parts.rex_offset != 0 && i == parts.rex_offset;
    // The bits that extend index and base: REX has them as they are, the others inverted.
    emit.put(!is_extension ? bytes[i] : parts.is_rex ? bytes[i] & ~3 : bytes[i] | 0x60);
  }
  emit.put((bytes[instruction.modrm_offset] & 0x38) | reg);
  emit.bytes(bytes + parts.immediate_offset,
             static_cast<std::size_t>(instruction.length - parts.immediate_offset));
}

}  // namespace

// rdgsbase, wrgsbase: F3 [REX] 0F AE /1 and /3
void Translation::emit_gs_base(const Instruction& instruction) {
  const std::uint8_t modrm = instruction.bytes[instruction.modrm_offset];
  const std::uint8_t before = instruction.bytes[instruction.modrm_offset - 3u];
  const std::uint8_t rex = before >> 4 == 4 ? before : 0;
  const int reg = (modrm & 7) | ((rex & 1) != 0 ? 8 : 0);
  const bool is_64_bit = (rex & 8) != 0;
  const bool is_write = (modrm >> 3 & 7) == 3;
  if (is_64_bit) {
    if (is_write) return emit_.store_context(CTX_PROGRAM_GS, reg);
    return emit_.load_context(reg, CTX_PROGRAM_GS);
  }
  emit_.put(kGsPrefix, 0x40 | (reg >= 8 ? 4 : 0), is_write ? 0x89 : 0x8B, 0x04 | (reg & 7) << 3,
            0x25);
  emit_.put_32(CTX_PROGRAM_GS);
  if (!is_write) return;
  point(Point::ours);
  emit_.store_context_value(CTX_PROGRAM_GS + 4, 0);
}

void Translation::emit_gs(const Instruction& instruction) {
  AddressParts parts{};
  if (!address_parts(instruction, parts)) {
    const std::uint8_t* opcode = instruction.bytes + instruction.modrm_offset - 1;
    if (*opcode == 0xAE) return emit_gs_base(instruction);
    return emit_.bytes(instruction.bytes, instruction.length);  // lea, nop: touch nothing
  }
  std::uint32_t used = registers_touched(instruction);
  if (stream_.is_open()) used |= 1u << block_points_[blocks_ - 1].stream_register;
  int free[2] = {-1, -1};
  for (const std::uint8_t candidate : {kRax, kRcx, kRdx, kRdi, kRsi, kRbx})
    if ((used & 1u << candidate) == 0) {
      free[1] = free[0];
      free[0] = candidate;
    }
  if (free[1] < 0)
    stop(Message("no registers are free for an operand of the gs segment at ")
             .add_place(instruction.pc));
  const auto address = static_cast<std::uint8_t>(free[0]);
  const int base = free[1];
  emit_.store_context(CTX_SPILL2, address);
  point(Point::ours);
  emit_.store_context(CTX_SPILL1, base);
  if (instruction.rip_offset != 0) {
    emit_.load_value(address, instruction.rip_target);
  } else {
    emit_address(emit_, address, parts);
  }
  emit_.load_context(base, CTX_PROGRAM_GS);
  emit_.put(0x48, 0x8D, 0x04 | address << 3, base << 3 | address);  // lea address, [address + base]
  emit_.load_context(base, CTX_SPILL1);
  point(Point::lent, address);
  emit_with_operand(emit_, instruction, parts, address);
  point(Point::lent, address);
  emit_.load_context(address, CTX_SPILL2);
}

}  // namespace loft::engine::runtime
