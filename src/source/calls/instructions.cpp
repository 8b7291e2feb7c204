#ifdef LOFT_HAS_ENGINE

#include "source/calls/instructions.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>

namespace loft::source::calls {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder instance = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return instance;
}

bool is_padding(const ZydisDecodedInstruction& instruction) {
  return instruction.mnemonic == ZYDIS_MNEMONIC_NOP || instruction.mnemonic == ZYDIS_MNEMONIC_INT3;
}

InstructionKind kind_of_jump(const ZydisDecodedInstruction& instruction, bool is_direct) {
  if (instruction.meta.category == ZYDIS_CATEGORY_COND_BR) {
    switch (instruction.mnemonic) {
      case ZYDIS_MNEMONIC_LOOP:
      case ZYDIS_MNEMONIC_LOOPE:
      case ZYDIS_MNEMONIC_LOOPNE:
      case ZYDIS_MNEMONIC_JCXZ:
      case ZYDIS_MNEMONIC_JECXZ:
      case ZYDIS_MNEMONIC_JRCXZ:
        return InstructionKind::short_loop;
      case ZYDIS_MNEMONIC_XBEGIN:
        return InstructionKind::fixed;
      default:
        return is_direct ? InstructionKind::conditional_jump : InstructionKind::fixed;
    }
  }
  if (instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
      instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
    return InstructionKind::fixed;
  return is_direct ? InstructionKind::jump : InstructionKind::indirect_jump;
}

InstructionKind kind_of(const ZydisDecodedInstruction& instruction, bool is_direct) {
  if (is_padding(instruction)) return InstructionKind::padding;
  const bool is_far = instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
      return kind_of_jump(instruction, is_direct);
    case ZYDIS_CATEGORY_CALL:
      if (is_far) return InstructionKind::fixed;
      return is_direct ? InstructionKind::call : InstructionKind::indirect_call;
    case ZYDIS_CATEGORY_RET:
      if (is_far || instruction.mnemonic != ZYDIS_MNEMONIC_RET) return InstructionKind::fixed;
      return instruction.raw.imm[0].size != 0 ? InstructionKind::ret_and_pop : InstructionKind::ret;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
      return InstructionKind::fixed;
    default:
      break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return InstructionKind::end;
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_XEND:
      return InstructionKind::fixed;
    default:
      return InstructionKind::plain;
  }
}

bool has_stack_base(const ZydisDecodedInstructionRaw& raw) {
  return raw.modrm.mod != 3 && raw.modrm.rm == 4 && raw.sib.base == 4 && raw.rex.B == 0;
}

// Index 4 means none, but for r12.
bool has_index(const ZydisDecodedInstructionRaw& raw) {
  return raw.modrm.mod != 3 && raw.modrm.rm == 4 && (raw.sib.index != 4 || raw.rex.X != 0);
}

}  // namespace

std::optional<Instruction> decode(Bytes bytes, std::uint64_t address) {
  ZydisDecodedInstruction decoded;
  if (ZYAN_FAILED(
          ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &decoded)))
    return std::nullopt;
  const bool is_direct = decoded.raw.imm[0].size != 0 && decoded.raw.imm[0].is_relative != 0;
  Instruction result;
  result.address = address;
  result.length = decoded.length;
  result.kind = kind_of(decoded, is_direct);
  result.is_add = decoded.mnemonic == ZYDIS_MNEMONIC_ADD;
  result.is_lea = decoded.mnemonic == ZYDIS_MNEMONIC_LEA;
  const bool has_modrm = (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
  if (has_modrm) {
    result.modrm_at = decoded.raw.modrm.offset;
    result.has_memory = decoded.raw.modrm.mod != 3;
    result.has_index = has_index(decoded.raw);
    result.uses_stack_pointer = has_stack_base(decoded.raw);
  }
  if (has_modrm && decoded.raw.modrm.mod == 0 && decoded.raw.modrm.rm == 5) {
    result.is_rip_relative = true;
    result.displacement_at = decoded.raw.disp.offset;
    result.target = result.end() + static_cast<std::uint64_t>(decoded.raw.disp.value);
  }
  if (is_direct) {
    result.target = result.end() + static_cast<std::uint64_t>(decoded.raw.imm[0].value.s);
    result.condition = decoded.opcode & 15u;
  }
  return result;
}

std::optional<std::vector<Instruction>> decode_all(Bytes bytes, std::uint64_t address) {
  std::vector<Instruction> code;
  code.reserve(bytes.size() / 4 + 1);
  while (!bytes.empty()) {
    const auto next = decode(bytes, address);
    if (!next) return std::nullopt;
    code.push_back(*next);
    bytes = bytes.subspan(next->length);
    address += next->length;
  }
  return code;
}

std::size_t padding_size(Bytes bytes, std::size_t most) {
  std::size_t size = 0;
  while (size < most && size < bytes.size()) {
    const auto next = decode(bytes.subspan(size), 0);
    if (!next || next->kind != InstructionKind::padding) break;
    size += next->length;
  }
  return std::min(size, most);
}

}  // namespace loft::source::calls

#endif
