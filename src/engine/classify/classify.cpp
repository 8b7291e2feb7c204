#include "engine/classify/describe.hpp"
#include "engine/classify/isa.hpp"

namespace loft::engine {
namespace detail {

bool is_repeated(const Subject& subject) {
  if (subject.has(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
    return true;
  // repne before movs, stos or lods repeats as rep does, though the manuals reserve it.
  const auto& raw = subject.instruction.raw;
  for (ZyanU8 i = 0; i < raw.prefix_count; ++i)
    if (raw.prefixes[i].value == 0xF2 || raw.prefixes[i].value == 0xF3) return true;
  return false;
}

bool is_exchange_called_pause(const Subject& subject) {
  return subject.is(ZYDIS_MNEMONIC_PAUSE) && subject.has(ZYDIS_ATTRIB_HAS_REX) &&
         subject.instruction.raw.rex.B != 0;
}

UnitSource iterations_of(const Subject& subject) {
  const bool narrow = subject.instruction.address_width == 32;
  return {.unit = Unit::iterations, .reg = narrow ? ZYDIS_REGISTER_ECX : ZYDIS_REGISTER_RCX};
}

ZydisRegister governing_mask(const Subject& subject) {
  const auto& mask = subject.instruction.avx.mask;
  const bool governed =
      mask.mode != ZYDIS_MASK_MODE_INVALID && mask.mode != ZYDIS_MASK_MODE_DISABLED;
  return governed && mask.reg != ZYDIS_REGISTER_K0 ? mask.reg : ZYDIS_REGISTER_NONE;
}

void add_per_unit(InstructionFacts& facts, const UnitSource& source, Measure measure, int amount) {
  std::size_t slot = 0;
  while (slot < facts.unit_count && facts.sources[slot].unit != source.unit) ++slot;
  if (slot == kMaxUnits) return;
  if (slot == facts.unit_count) {
    facts.sources[slot] = source;
    facts.kind.units[slot].unit = source.unit;
    ++facts.unit_count;
  }
  auto& total = facts.kind.units[slot].each[measure];
  total = static_cast<std::int16_t>(total + amount);
}

unsigned vector_bits(const Subject& subject) {
  if (subject.instruction.avx.vector_length != 0) return subject.instruction.avx.vector_length;
  unsigned bits = 0;
  for (const ZydisDecodedOperand& operand : subject.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const ZydisRegisterClass kind = ZydisRegisterGetClass(operand.reg.value);
    if (kind == ZYDIS_REGCLASS_XMM) return 128;
    if (kind == ZYDIS_REGCLASS_MMX) bits = 64;
  }
  return bits;
}

}  // namespace detail

InstructionFacts classify(const ZydisDecodedInstruction& instruction,
                          const ZydisDecodedOperand* operands) {
  const detail::Subject subject{instruction, operands, facts_of(instruction.mnemonic),
                                ZydisMnemonicGetString(instruction.mnemonic)};
  InstructionFacts facts;
  facts.length = instruction.length;
  facts.is_privileged = subject.mnemonic.is_privileged;
  facts.kind.set(Attribute::mnemonic, instruction.mnemonic);
  facts.kind.set(Attribute::isa, isa_family(instruction.meta.isa_set));
  facts.kind.fixed[Measure::instructions] = 1;
  detail::describe_class(subject, facts);
  detail::describe_memory(subject, facts);
  detail::describe_flops(subject, facts);
  detail::describe_registers(subject, facts);
  detail::describe_flags(subject, facts);
  return facts;
}

}  // namespace loft::engine
