#include "engine/runtime/instruction.hpp"

#include <Zydis/Zydis.h>

#include "engine/classify/facts.hpp"
#include "engine/runtime/unknown.hpp"

namespace loft::engine::runtime {
namespace {

ZydisDecoder g_decoder;

Flow refused(Instruction& instruction, const char* reason) {
  instruction.reason = reason;
  return Flow::refused;
}

Flow flow_of_branch(const ZydisDecodedInstruction& decoded, Instruction& instruction) {
  const bool direct = decoded.raw.imm[0].is_relative;
  if (decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
    return refused(instruction, "a far branch");
  if (!direct && decoded.operand_width != 64)
    return refused(instruction, "an indirect branch of 16 bits");
  if (direct)
    instruction.target =
        instruction.pc + decoded.length + static_cast<std::uint64_t>(decoded.raw.imm[0].value.s);
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
      return direct ? Flow::jump : Flow::jump_indirect;
    case ZYDIS_MNEMONIC_CALL:
      return direct ? Flow::call : Flow::call_indirect;
    case ZYDIS_MNEMONIC_RET:
      if (decoded.raw.imm[0].size != 0)
        instruction.pop_bytes = static_cast<std::uint16_t>(decoded.raw.imm[0].value.u);
      return decoded.operand_width == 16 ? refused(instruction, "a return of 16 bits") : Flow::ret;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JRCXZ:
      return Flow::counted_loop;
    case ZYDIS_MNEMONIC_XBEGIN:
      return refused(instruction, "a hardware transaction");
    default:
      return Flow::conditional;
  }
}

Flow flow_of(const ZydisDecodedInstruction& decoded, Instruction& instruction) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
      return Flow::syscall;
    case ZYDIS_MNEMONIC_INT:
      if (decoded.raw.imm[0].value.u != 0x80) return Flow::trap;  // the others all fault
      [[fallthrough]];
    case ZYDIS_MNEMONIC_SYSENTER:
      return refused(instruction, "a system call by int or sysenter");
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return refused(instruction, "a return from an interrupt");
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return Flow::trap;
    default:
      return decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE
                 ? Flow::next
                 : flow_of_branch(decoded, instruction);
  }
}

bool leaves_flags_when_count_is_zero(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
      return true;
    default:
      return (decoded.attributes &
              (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  }
}

bool is_logic(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_AND || mnemonic == ZYDIS_MNEMONIC_OR ||
         mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_TEST;
}

void note_flags(const ZydisDecodedInstruction& decoded, Instruction& instruction) {
  const ZydisAccessedFlags* flags = decoded.cpu_flags;
  if (flags == nullptr) return;
  instruction.flags_read = flags->tested & kArithmeticFlags;
  if (leaves_flags_when_count_is_zero(decoded)) return;
  // What a manual calls undefined is unchanged on some CPUs; AF after logic is 0 on all.
  const std::uint32_t undefined = is_logic(decoded.mnemonic) ? flags->undefined : 0;
  instruction.flags_written =
      (flags->modified | flags->set_0 | flags->set_1 | undefined) & kArithmeticFlags;
  if (decoded.mnemonic == ZYDIS_MNEMONIC_CMPXCHG || decoded.mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
      decoded.mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B)
    instruction.flags_written &= 0x40;  // the last two change ZF alone
}

bool is_repeated(const ZydisDecodedInstruction& decoded) {
  return decoded.meta.category == ZYDIS_CATEGORY_STRINGOP ||
                 decoded.meta.category == ZYDIS_CATEGORY_IOSTRINGOP
             ? (decoded.attributes &
                (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0
             : false;
}

bool is_gather_or_scatter(const ZydisDecodedInstruction& decoded) {
  return decoded.meta.category == ZYDIS_CATEGORY_AVX2GATHER ||
         decoded.meta.category == ZYDIS_CATEGORY_GATHER ||
         decoded.meta.category == ZYDIS_CATEGORY_SCATTER;
}

bool may_be_masked(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
      return true;
    default:
      return is_gather_or_scatter(decoded) || decoded.meta.category == ZYDIS_CATEGORY_AMX_TILE ||
             (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && decoded.raw.evex.aaa != 0);
  }
}

bool is_state_move(ZydisInstructionCategory category, ZydisMnemonic mnemonic) {
  return (category == ZYDIS_CATEGORY_XSAVE || category == ZYDIS_CATEGORY_XSAVEOPT) &&
         mnemonic != ZYDIS_MNEMONIC_XGETBV && mnemonic != ZYDIS_MNEMONIC_XSETBV;
}

UnitPlan plan_of(const InstructionFacts& facts, const UnitSource& source) {
  const int number =
      source.unit == Unit::tile_ops ? facts.tiles[0] : ZydisRegisterGetId(source.reg);
  return {source.unit,     static_cast<std::uint8_t>(number),
          source.lanes,    source.lane_bytes,
          source.elements, static_cast<std::uint8_t>(facts.tiles[1])};
}

bool changes_tiles(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_LDTILECFG:
    case ZYDIS_MNEMONIC_TILERELEASE:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
      return true;
    default:
      return false;
  }
}

bool destroys_mask(const InstructionFacts& facts, const UnitSource& source) {
  if (source.unit >= Unit::tile_rows) return false;
  const int number = ZydisRegisterGetId(source.reg);
  const bool is_opmask = source.unit <= Unit::mask_fold;
  const std::uint32_t written =
      is_opmask ? facts.registers.written.opmask : facts.registers.written.vector;
  return (written >> number & 1) != 0;
}

// Most instructions show all they do in their bytes; classify() is asked about the others only.
void note_units(const ZydisDecodedInstruction& decoded, Instruction& instruction) {
  if (is_repeated(decoded)) {
    if (decoded.address_width != 64) {
      instruction.flow = refused(instruction, "a string instruction with 32-bit addresses");
      return;
    }
    instruction.unit_count = 1;
    instruction.units[0].unit = Unit::iterations;
  } else if (is_state_move(decoded.meta.category, decoded.mnemonic)) {
    instruction.unit_count = 1;
    instruction.units[0].unit = Unit::state_bytes;
  } else if (may_be_masked(decoded)) {
    ZydisDecodedInstruction again;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g_decoder, instruction.bytes, instruction.length,
                                             &again, operands)))
      return;
    const InstructionFacts facts = classify(again, operands);
    for (const UnitSource& source : facts.unit_sources()) {
      instruction.units[instruction.unit_count++] = plan_of(facts, source);
      if (destroys_mask(facts, source)) instruction.units_before = true;
    }
  }
}

// Plain operands are rewritten (gs.cpp); for the rest nobody has met a program.
void note_gs(const ZydisDecodedInstruction& decoded, Instruction& instruction) {
  const bool loads_selector =
      (decoded.mnemonic == ZYDIS_MNEMONIC_MOV && decoded.opcode == 0x8E &&
       decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && decoded.raw.modrm.reg == 5) ||
      (decoded.mnemonic == ZYDIS_MNEMONIC_POP && decoded.opcode == 0xA9 &&
       decoded.opcode_map == ZYDIS_OPCODE_MAP_0F) ||
      decoded.mnemonic == ZYDIS_MNEMONIC_LGS;
  if (loads_selector) instruction.flow = refused(instruction, "a load of the gs selector");
  instruction.uses_gs = (decoded.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) != 0 ||
                        decoded.mnemonic == ZYDIS_MNEMONIC_RDGSBASE ||
                        decoded.mnemonic == ZYDIS_MNEMONIC_WRGSBASE;
  if (!instruction.uses_gs || instruction.flow == Flow::refused) return;
  const bool has_modrm = (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
  if (instruction.flow != Flow::next || instruction.unit_count != 0 || !has_modrm ||
      decoded.mnemonic == ZYDIS_MNEMONIC_POP)
    instruction.flow = refused(instruction, "this use of the gs segment");
}

// Their manuals call the result undefined where there is none. Processors keep the old value.
bool may_keep_result(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_BSF || mnemonic == ZYDIS_MNEMONIC_BSR ||
         mnemonic == ZYDIS_MNEMONIC_LAR || mnemonic == ZYDIS_MNEMONIC_LSL;
}

std::uint32_t mask_of(ZydisRegister reg) {
  const ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15) return 0;
  return 1u << (wide - ZYDIS_REGISTER_RAX);
}

}  // namespace

void open_decoder() {
  ZydisDecoderInit(&g_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

Instruction decode_fully(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available) {
  Instruction instruction;
  instruction.pc = pc;
  instruction.bytes = bytes;
  ZydisDecodedInstruction decoded;
  ZydisDecoderContext context;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeInstruction(&g_decoder, &context, bytes, available, &decoded))) {
    instruction.flow = Flow::invalid;
    instruction.length = length_of_unknown(bytes, available);
    return instruction;
  }
  instruction.length = decoded.length;
  instruction.flow = flow_of(decoded, instruction);
  if ((decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0) {
    instruction.modrm_offset = decoded.raw.modrm.offset;
    if (decoded.raw.modrm.mod == 0 && decoded.raw.modrm.rm == 5) {
      instruction.rip_offset = decoded.raw.disp.offset;
      instruction.rip_target =
          instruction.next_pc() + static_cast<std::uint64_t>(decoded.raw.disp.value);
    }
  }
  if (instruction.rip_offset != 0 && decoded.address_width == 32)
    instruction.flow = refused(instruction, "an operand relative to eip");
  instruction.changes_tiles = changes_tiles(decoded.mnemonic);
  note_flags(decoded, instruction);
  note_units(decoded, instruction);
  note_gs(decoded, instruction);
  return instruction;
}

bool is_incomplete(const std::uint8_t* bytes, std::uint32_t available) {
  ZydisDecodedInstruction decoded;
  ZydisDecoderContext context;
  return ZydisDecoderDecodeInstruction(&g_decoder, &context, bytes, available, &decoded) ==
         ZYDIS_STATUS_NO_MORE_DATA;
}

bool describe_instruction(const std::uint8_t* bytes, std::uint32_t available,
                          InstructionFacts& facts) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g_decoder, bytes, available, &decoded, operands)))
    return false;
  facts = classify(decoded, operands);
  return true;
}

bool address_parts(const Instruction& instruction, AddressParts& parts) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g_decoder, instruction.bytes, instruction.length,
                                           &decoded, operands)))
    return false;
  const auto number = [](ZydisRegister reg) {
    const std::uint32_t mask = mask_of(reg);
    return mask == 0 ? -1 : __builtin_ctz(mask);
  };
  for (int i = 0; i < decoded.operand_count_visible; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    parts.base = number(operand.mem.base);
    parts.index = number(operand.mem.index);
    parts.scale = operand.mem.scale;
    parts.displacement = static_cast<std::int32_t>(operand.mem.disp.value);
    parts.is_32_bit = decoded.address_width == 32;
    parts.immediate_offset =
        decoded.raw.imm[0].size != 0 ? decoded.raw.imm[0].offset : decoded.length;
    parts.is_rex = decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    parts.rex_offset = 0;
    if (parts.is_rex && (decoded.attributes & ZYDIS_ATTRIB_HAS_REX) != 0)
      parts.rex_offset = decoded.raw.rex.offset;
    if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && decoded.raw.vex.size == 3)
      parts.rex_offset = static_cast<std::uint8_t>(decoded.raw.vex.offset + 1);
    if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
      parts.rex_offset = static_cast<std::uint8_t>(decoded.raw.evex.offset + 1);
    if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
      parts.rex_offset = static_cast<std::uint8_t>(decoded.raw.xop.offset + 1);
    return operand.mem.type == ZYDIS_MEMOP_TYPE_MEM;
  }
  return false;
}

std::uint32_t registers_touched(const Instruction& instruction) {
  const RegisterUse use = register_use(instruction);
  return use.read | use.overwritten;
}

RegisterUse register_use(const Instruction& instruction) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  RegisterUse use{0, 0, false};
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g_decoder, instruction.bytes, instruction.length,
                                           &decoded, operands))) {
    use.read = 0xFFFF;
    use.memory = true;
    return use;
  }
  for (int i = 0; i < decoded.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      use.read |= mask_of(operand.mem.base) | mask_of(operand.mem.index);
      use.memory = use.memory || operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
    } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const bool whole = operand.actions == ZYDIS_OPERAND_ACTION_WRITE && operand.size >= 32 &&
                         !may_keep_result(decoded.mnemonic);
      (whole ? use.overwritten : use.read) |= mask_of(operand.reg.value);
    }
  }
  use.overwritten &= ~use.read;
  return use;
}

}  // namespace loft::engine::runtime
