// Class, width, operand size and branch kind of an instruction.
#include "engine/classify/describe.hpp"

namespace loft::engine::detail {
namespace {

using C = InsnClass;

bool has_operand_class(const Subject& subject, ZydisRegisterClass wanted) {
  for (const ZydisDecodedOperand& operand : subject.all())
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetClass(operand.reg.value) == wanted)
      return true;
  return false;
}

bool is_indirect(const Subject& subject) {
  return subject.instruction.operand_count > 0 &&
         subject.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

bool is_exchange_with_memory(const Subject& subject) {
  if (!subject.is(ZYDIS_MNEMONIC_XCHG)) return false;
  return subject.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
         subject.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool is_vector_class(C value) { return value >= C::fp_arith && value <= C::scatter; }

C class_of(const Subject& subject) {
  const ZydisInstructionCategory category = subject.instruction.meta.category;
  const C named = subject.mnemonic.insn_class;
  // movsd and cmpsd name a string and an SSE2 instruction each.
  if (category == ZYDIS_CATEGORY_STRINGOP) return C::string;
  if (subject.has(ZYDIS_ATTRIB_HAS_LOCK) || is_exchange_with_memory(subject)) return C::atomic;
  if (is_exchange_called_pause(subject)) return C::int_move;
  if (named == C::jump && is_indirect(subject)) return C::indirect_jump;
  if (named == C::call && is_indirect(subject)) return C::indirect_call;
  const bool vectors = is_vector_class(named) || named == C::crypto;
  if (vectors && has_operand_class(subject, ZYDIS_REGCLASS_MMX) &&
      !has_operand_class(subject, ZYDIS_REGCLASS_XMM))
    return C::mmx;
  return named;
}

Width width_of(const Subject& subject, C value) {
  if (value == C::amx_compute || value == C::amx_move) return Width::tile;
  if (value == C::mmx || value == C::amd3dnow) return Width::bits64;
  if (!is_vector_class(value) && value != C::crypto) return Width::none;
  if (subject.mnemonic.is_scalar) return Width::scalar;
  switch (vector_bits(subject)) {
    case 512:
      return Width::bits512;
    case 256:
      return Width::bits256;
    default:
      return Width::bits128;
  }
}

OperandSize operand_size_of(const Subject& subject, C value) {
  const bool general = value <= C::string || value == C::atomic;
  if (!general) return OperandSize::none;
  switch (subject.instruction.operand_width) {
    case 8:
      return OperandSize::bits8;
    case 16:
      return OperandSize::bits16;
    case 32:
      return OperandSize::bits32;
    default:
      return OperandSize::bits64;
  }
}

BranchKind branch_of(C value) {
  switch (value) {
    case C::cond_branch:
      return BranchKind::conditional;
    case C::loop_branch:
      return BranchKind::loop;
    case C::jump:
      return BranchKind::jump;
    case C::indirect_jump:
      return BranchKind::indirect_jump;
    case C::call:
      return BranchKind::call;
    case C::indirect_call:
      return BranchKind::indirect_call;
    case C::ret:
      return BranchKind::ret;
    default:
      return BranchKind::none;
  }
}

bool is_non_temporal(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  return name.starts_with("movnt") || name == "maskmovdqu" || name == "maskmovq" ||
         name.starts_with("movdir");
}

void describe_branch(InstructionFacts& facts) {
  const BranchKind branch = branch_of(facts.kind.insn_class());
  facts.kind.set(Attribute::branch, branch);
  if (branch == BranchKind::none) return;
  if (branch != BranchKind::conditional && branch != BranchKind::loop) {
    facts.kind.fixed[Measure::taken] = 1;
    return;
  }
  facts.kind.fixed[Measure::not_taken] = 1;
  add_per_unit(facts, {.unit = Unit::taken}, Measure::taken, 1);
  add_per_unit(facts, {.unit = Unit::taken}, Measure::not_taken, -1);
}

// Arithmetic, logic, shifts, bits and comparisons. Vectors of smaller elements count as those of 64
// bits: that is what a unit does in the same time.
std::int16_t integer_operations(const Kind& kind) {
  const C value = kind.insn_class();
  if (value >= C::int_arith && value <= C::int_compare) return 1;
  if (value < C::simd_arith || value > C::simd_shift) return 0;
  switch (static_cast<Width>(kind.get(Attribute::width))) {
    case Width::bits512:
      return 8;
    case Width::bits256:
      return 4;
    case Width::bits128:
      return 2;
    default:
      return 1;
  }
}

bool ends_block(const Subject& subject, C value) {
  if (branch_of(value) != BranchKind::none) return true;
  switch (value) {
    case C::syscall:
    case C::interrupt:
    case C::transaction:
      return true;
    default:
      return subject.mnemonic.is_privileged;
  }
}

}  // namespace

void describe_class(const Subject& subject, InstructionFacts& facts) {
  const C value = class_of(subject);
  Kind& kind = facts.kind;
  kind.set(Attribute::insn_class, value);
  kind.set(Attribute::width, width_of(subject, value));
  kind.set(Attribute::operand_size, operand_size_of(subject, value));
  if (is_vector_class(value) || value == C::amx_compute)
    kind.set(Attribute::precision, subject.mnemonic.precision);
  kind.set(Attribute::locked, value == C::atomic);
  kind.set(Attribute::masked, governing_mask(subject) != ZYDIS_REGISTER_NONE);
  kind.set(Attribute::non_temporal, is_non_temporal(subject.name));
  if (value == C::string) {
    const bool repeated = is_repeated(subject);
    kind.set(Attribute::repeated, repeated);
    if (repeated)
      add_per_unit(facts, iterations_of(subject), Measure::iterations, 1);
    else
      kind.fixed[Measure::iterations] = 1;
  }
  kind.fixed[Measure::int_ops] = integer_operations(kind);
  describe_branch(facts);
  facts.ends_block = ends_block(subject, value);
}

}  // namespace loft::engine::detail
