// Which bits of rflags an instruction reads, sets, and may leave alone.
#include "engine/classify/describe.hpp"

namespace loft::engine::detail {
namespace {

bool is_shift_or_rotate(const Subject& subject) {
  return subject.mnemonic.insn_class == InsnClass::int_shift &&
         subject.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

// A count of zero leaves all flags alone; rotations through the carry take it modulo 9 or 17.
bool shift_may_do_nothing(const Subject& subject) {
  if (!is_shift_or_rotate(subject)) return false;
  for (const ZydisDecodedOperand& operand : subject.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) continue;
    const ZyanU64 count = operand.imm.value.u & (subject.instruction.operand_width == 64 ? 63 : 31);
    const bool through_carry = subject.is(ZYDIS_MNEMONIC_RCL) || subject.is(ZYDIS_MNEMONIC_RCR);
    return count == 0 || (through_carry && count != 1);
  }
  return true;  // by cl
}

// Most instructions that leave a flag undefined keep its old value on some processor: AMD's
// multiplications do, and Intel's bit tests. Additions and logic never do.
bool keeps_undefined_flags(const Subject& subject) {
  switch (subject.mnemonic.insn_class) {
    case InsnClass::int_arith:
    case InsnClass::int_logic:
    case InsnClass::int_compare:
      return false;
    default:
      return true;
  }
}

bool writes_flags_sometimes(const Subject& subject) {
  for (const ZydisDecodedOperand& operand : subject.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    if (ZydisRegisterGetClass(operand.reg.value) != ZYDIS_REGCLASS_FLAGS) continue;
    return (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
  }
  return false;
}

// Flags that the manuals say are written and the decoder does not list.
std::uint32_t unlisted_flags(const Subject& subject) {
  switch (subject.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPS:
    case ZYDIS_MNEMONIC_VTESTPD:
      return kStatusFlags;
    default:
      return 0;
  }
}

}  // namespace

void describe_flags(const Subject& subject, InstructionFacts& facts) {
  const ZydisAccessedFlags* said = subject.instruction.cpu_flags;
  if (said == nullptr) return;
  FlagUse& flags = facts.flags;
  flags.read = said->tested;
  flags.written = said->modified | said->set_0 | said->set_1 | unlisted_flags(subject);
  flags.undefined = said->undefined & ~flags.written;
  if (keeps_undefined_flags(subject)) {
    flags.maybe = flags.undefined;
    flags.undefined = 0;
  }
  if (shift_may_do_nothing(subject) || writes_flags_sometimes(subject) ||
      facts.kind.get(Attribute::repeated) != 0) {
    flags.maybe |= flags.written | flags.undefined;
    flags.written = flags.undefined = 0;
  }
  // The kernel, and a handler of the signal, see all flags and give them back.
  const InsnClass value = facts.kind.insn_class();
  if (value == InsnClass::syscall || value == InsnClass::interrupt) {
    flags.read |= kStatusFlags;
    flags.written &= ~kStatusFlags;
  }
}

}  // namespace loft::engine::detail
