// Which registers an instruction reads and writes, those included that the decoder does not list.
#include "engine/classify/describe.hpp"

namespace loft {
namespace engine {

int general_number(ZydisRegister reg) {
  switch (reg) {
    case ZYDIS_REGISTER_AH:
      return kRax;
    case ZYDIS_REGISTER_CH:
      return kRcx;
    case ZYDIS_REGISTER_DH:
      return kRdx;
    case ZYDIS_REGISTER_BH:
      return kRbx;
    default:
      break;
  }
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return -1;
  return whole - ZYDIS_REGISTER_RAX;
}

int vector_number(ZydisRegister reg) {
  switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
      return ZydisRegisterGetId(reg);
    default:
      return -1;
  }
}

}  // namespace engine

namespace engine::detail {
namespace {

constexpr std::uint32_t kAllVectors = 0xFFFFFFFFu;
constexpr std::uint32_t kLowVectors = 0x0000FFFFu;

template <class T>
void set_bit(T& set, int number) {
  set = static_cast<T>(set | (T{1} << number));
}

void add(RegisterSet& set, ZydisRegister reg) {
  if (const int number = general_number(reg); number >= 0) return set_bit(set.general, number);
  if (const int number = vector_number(reg); number >= 0) return set_bit(set.vector, number);
  switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_MASK:
      return set_bit(set.opmask, ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_TMM:
      return set_bit(set.tile, ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
      set.x87_or_mmx = true;
      return;
    default:
      if (reg >= ZYDIS_REGISTER_X87CONTROL && reg <= ZYDIS_REGISTER_X87TAG) set.x87_or_mmx = true;
  }
}

void add_register_operand(const Subject& subject, const ZydisDecodedOperand& operand,
                          RegisterFacts& use) {
  const ZydisRegister reg = operand.reg.value;
  const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  const bool for_certain = (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
  const bool general = general_number(reg) >= 0;
  // A write of 32 bits clears the upper half; one of 8 or 16 keeps the rest.
  const bool whole = general && operand.size >= 32;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) add(use.read, reg);
  if (!writes) return;
  add(use.written, reg);
  if (!for_certain || (general && !whole)) add(use.read, reg);
  if (whole && for_certain)
    use.overwritten =
        static_cast<std::uint16_t>(use.overwritten | general_bit(general_number(reg)));
  // The low 16 bits of a bit scan's zero are the destination's own: it is kept.
  if (subject.is(ZYDIS_MNEMONIC_BSF) || subject.is(ZYDIS_MNEMONIC_BSR)) {
    add(use.read, reg);
    use.overwritten = 0;
  }
}

void read_and_write(RegisterFacts& use, std::initializer_list<int> numbers) {
  for (const int number : numbers) {
    set_bit(use.read.general, number);
    set_bit(use.written.general, number);
  }
}

void add_string_registers(const Subject& subject, RegisterFacts& use) {
  const std::string_view name = subject.name;
  const bool source = name.starts_with("movs") || name.starts_with("cmps") ||
                      name.starts_with("lods") || name.starts_with("outs");
  const bool target = name.starts_with("movs") || name.starts_with("cmps") ||
                      name.starts_with("stos") || name.starts_with("scas") ||
                      name.starts_with("ins");
  if (source) read_and_write(use, {kRsi});
  if (target) read_and_write(use, {kRdi});
  if (is_repeated(subject)) read_and_write(use, {kRcx});
  if (name.starts_with("lods")) read_and_write(use, {kRax});
  use.overwritten = 0;
}

void add_all_vectors(RegisterSet& set, std::uint32_t vectors) {
  set.vector |= vectors;
  set.opmask = vectors == kAllVectors ? 0xFF : set.opmask;
  set.tile = vectors == kAllVectors ? 0xFF : set.tile;
  set.x87_or_mmx = true;
}

// Registers that system calls take and change, by the kernel's convention.
void add_system_call(RegisterFacts& use) {
  for (const int number : {kRax, kRdi, kRsi, kRdx, 10, 8, 9}) set_bit(use.read.general, number);
  for (const int number : {kRax, kRcx, 11}) set_bit(use.written.general, number);
}

void add_unlisted(const Subject& subject, RegisterFacts& use) {
  const std::string_view name = subject.name;
  switch (subject.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
      read_and_write(use, {kRax});
      break;
    case ZYDIS_MNEMONIC_VZEROALL:
    case ZYDIS_MNEMONIC_VZEROUPPER:
      use.written.vector |= kLowVectors;
      break;
    case ZYDIS_MNEMONIC_EMMS:
    case ZYDIS_MNEMONIC_FEMMS:
      use.written.x87_or_mmx = true;
      break;
    case ZYDIS_MNEMONIC_VP2INTERSECTD:
    case ZYDIS_MNEMONIC_VP2INTERSECTQ:
      set_bit(use.written.opmask, ZydisRegisterGetId(subject.operands[0].reg.value) ^ 1);
      break;
    default:
      break;
  }
  if (is_exchange_called_pause(subject)) read_and_write(use, {kRax, 8});
  if (name.starts_with("fxsave")) add_all_vectors(use.read, kLowVectors);
  if (name.starts_with("fxrstor")) add_all_vectors(use.written, kLowVectors);
  if (name.starts_with("xsave")) add_all_vectors(use.read, kAllVectors);
  if (name.starts_with("xrstor")) add_all_vectors(use.written, kAllVectors);
  if (subject.mnemonic.insn_class == InsnClass::syscall) add_system_call(use);
  if (subject.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
      subject.instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87)
    use.read.x87_or_mmx = use.written.x87_or_mmx = true;
}

}  // namespace

void describe_registers(const Subject& subject, InstructionFacts& facts) {
  RegisterFacts& use = facts.registers;
  for (const ZydisDecodedOperand& operand : subject.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      add(use.read, operand.mem.base);
      add(use.read, operand.mem.index);
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    add_register_operand(subject, operand, use);
    if ((operand.attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4) != 0)
      use.read.vector |= 0xFu << (vector_number(operand.reg.value) & ~3);
    if (operand.reg.value == ZYDIS_REGISTER_FS) facts.uses_fs = true;
    if (operand.reg.value == ZYDIS_REGISTER_GS) facts.uses_gs = true;
  }
  if (facts.kind.insn_class() == InsnClass::string) add_string_registers(subject, use);
  add_unlisted(subject, use);
  if (subject.name.ends_with("fsbase")) facts.uses_fs = true;
  if (subject.name.ends_with("gsbase") || subject.is(ZYDIS_MNEMONIC_SWAPGS)) facts.uses_gs = true;
}

}  // namespace engine::detail
}  // namespace loft
