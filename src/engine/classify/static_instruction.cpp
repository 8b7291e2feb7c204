#include "engine/classify/static_instruction.hpp"

#include <array>
#include <string_view>

namespace loft::engine {
namespace {

using C = InsnClass;
using L = LatencyClass;

struct Subject {
  const ZydisDecodedInstruction& instruction;
  const ZydisDecodedOperand* operands;
  const InstructionFacts& facts;
  std::string_view name;
};

RegisterMask mask_of(const RegisterSet& set) {
  return RegisterMask{set.general} << kGeneralBit | RegisterMask{set.vector} << kVectorBit |
         RegisterMask{set.opmask} << kOpmaskBit | RegisterMask{set.x87_or_mmx} << kX87Bit |
         RegisterMask{set.tile != 0} << kTileBit;
}

RegisterMask mask_of_flags(std::uint32_t flags) {
  RegisterMask mask = 0;
  if ((flags & ZYDIS_CPUFLAG_CF) != 0) mask |= register_bit(kCarryBit);
  if ((flags & kStatusFlags & ~std::uint32_t{ZYDIS_CPUFLAG_CF}) != 0)
    mask |= register_bit(kFlagsBit);
  if ((flags & ZYDIS_CPUFLAG_DF) != 0) mask |= register_bit(kDirectionBit);
  return mask;
}

// Registers that stand in an address and nowhere else.
RegisterMask address_registers(const Subject& subject) {
  RegisterMask in_addresses = 0;
  RegisterMask elsewhere = 0;
  for (int i = 0; i < subject.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = subject.operands[i];
    const auto add = [](RegisterMask& set, ZydisRegister reg) {
      if (const int general = general_number(reg); general >= 0)
        set |= register_bit(kGeneralBit + general);
      if (const int vector = vector_number(reg); vector >= 0)
        set |= register_bit(kVectorBit + vector);
    };
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
      add(in_addresses, operand.mem.base);
      add(in_addresses, operand.mem.index);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
               (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
      add(elsewhere, operand.reg.value);
    }
  }
  return in_addresses & ~elsewhere;
}

bool is_between_registers(const Subject& subject) {
  if (subject.instruction.operand_count_visible < 2) return false;
  for (int i = 0; i < subject.instruction.operand_count_visible; ++i)
    if (subject.operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  return true;
}

// Of a register with itself, so that the result does not depend on it.
bool is_zeroing(const Subject& subject) {
  if (!is_between_registers(subject) || subject.facts.kind.get(Attribute::masked) != 0)
    return false;
  const int count = subject.instruction.operand_count_visible;
  const ZydisDecodedOperand& last = subject.operands[count - 1];
  if (subject.operands[count - 2].reg.value != last.reg.value) return false;
  std::string_view name = subject.name;
  if (name == "xor" || name == "sub") return last.size >= 32;
  if (name.starts_with('v')) name.remove_prefix(1);
  return name == "xorps" || name == "xorpd" || name == "pxor" || name == "pxord" ||
         name == "pxorq" || name.starts_with("psubb") || name.starts_with("psubw") ||
         name.starts_with("psubd") || name.starts_with("psubq") || name.starts_with("pcmpgt");
}

bool has_class(const Subject& subject, int operand, bool is_vector) {
  if (operand >= subject.instruction.operand_count_visible ||
      subject.operands[operand].type != ZYDIS_OPERAND_TYPE_REGISTER)
    return false;
  const ZydisRegister reg = subject.operands[operand].reg.value;
  return is_vector ? vector_number(reg) >= 0 : general_number(reg) >= 0;
}

bool is_register_move(const Subject& subject) {
  if (!is_between_registers(subject) || subject.facts.kind.get(Attribute::masked) != 0)
    return false;
  if (subject.name == "mov") return subject.operands[0].size >= 32 && has_class(subject, 1, false);
  std::string_view name = subject.name;
  if (name.starts_with('v')) name.remove_prefix(1);
  return name.starts_with("movap") || name.starts_with("movup") || name.starts_with("movdqa") ||
         name.starts_with("movdqu");
}

bool is_lane_crossing(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  return name.starts_with("perm2") || name.starts_with("permd") || name.starts_with("permq") ||
         name.starts_with("permp") || name.starts_with("permb") || name.starts_with("permw") ||
         name.starts_with("permi2") || name.starts_with("permt2") || name.starts_with("extract") ||
         name.starts_with("insertf") || name.starts_with("inserti") || name.starts_with("shuff") ||
         name.starts_with("shufi") || name.starts_with("broadcast") ||
         name.starts_with("pbroadcast") || name.starts_with("align");
}

L of_fp_arith(const Subject& subject) {
  switch (static_cast<FpOp>(subject.facts.kind.get(Attribute::fp_op))) {
    case FpOp::mul:
    case FpOp::complex_mul:
      return L::fp_mul;
    case FpOp::fma:
    case FpOp::complex_fma:
    case FpOp::quad_fma:
      return L::fp_fma;
    case FpOp::div:
      return L::fp_div;
    case FpOp::sqrt:
      return L::fp_sqrt;
    case FpOp::rcp:
    case FpOp::rsqrt:
      return L::fp_approximate;
    case FpOp::horizontal:
    case FpOp::dot:
      return L::fp_horizontal;
    default:
      return L::fp_add;
  }
}

// Moves between the two kinds of registers, and those within one.
L of_move(const Subject& subject) {
  if (has_class(subject, 0, false) && has_class(subject, 1, true)) return L::vector_to_general;
  if (has_class(subject, 0, true) && has_class(subject, 1, false)) return L::general_to_vector;
  return L::move;
}

L of_x87(const Subject& subject) {
  const std::string_view name = subject.name;
  if (name.starts_with("fdiv") || name.starts_with("fidiv")) return L::fp_div;
  if (name == "fsqrt") return L::fp_sqrt;
  if (name.starts_with("fmul") || name.starts_with("fimul")) return L::x87_mul;
  if (name.starts_with("fadd") || name.starts_with("fiadd") || name.starts_with("fsub") ||
      name.starts_with("fisub"))
    return L::x87_add;
  return name.starts_with("fprem") ? L::transcendental : L::x87_other;
}

bool is_slow_lea(const Subject& subject) {
  const ZydisDecodedOperandMem& parts = subject.operands[1].mem;
  return parts.base != ZYDIS_REGISTER_NONE && parts.index != ZYDIS_REGISTER_NONE &&
         parts.disp.value != 0;
}

// What counts or finds bits, apart from what is as quick as an addition and what takes the
// multiplier's time and place on all cores.
L of_bits(std::string_view name) {
  for (const std::string_view each : {"bsf", "bsr", "lzcnt", "popcnt", "tzcnt"})
    if (name == each) return L::int_bit;
  for (const std::string_view each : {"crc32", "pdep", "pext"})
    if (name == each) return L::int_mul;
  return L::int_simple;
}

L of_general(const Subject& subject) {
  switch (subject.facts.kind.insn_class()) {
    case C::int_mul:
      return L::int_mul;
    case C::int_div:
      return L::int_div;
    case C::int_shift:
      return L::int_shift;
    case C::int_bit:
      return of_bits(subject.name);
    case C::int_move:
    case C::stack:
      return L::move;
    case C::int_extend:  // of memory it is a part of the load
      return subject.instruction.operand_count_visible > 1 &&
                     subject.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY
                 ? L::move
                 : L::int_simple;
    case C::lea:
      return is_slow_lea(subject) ? L::lea_slow : L::int_simple;
    case C::string:
      return L::string;
    case C::cond_branch:
    case C::loop_branch:
    case C::jump:
    case C::indirect_jump:
    case C::call:
    case C::indirect_call:
    case C::ret:
      return L::branch;
    case C::nop:
    case C::prefetch:
      return L::none;
    case C::atomic:
      return L::atomic;
    case C::fence:
    case C::cache_control:
      return L::fence;
    case C::syscall:
    case C::interrupt:
    case C::cpu_state:
    case C::system:
    case C::timer:
    case C::random:
    case C::transaction:
      return L::system;
    case C::other:
      return L::other;
    default:
      return L::int_simple;
  }
}

L of_vector(const Subject& subject) {
  switch (subject.facts.kind.insn_class()) {
    case C::fp_arith:
      return of_fp_arith(subject);
    case C::fp_compare:
      return L::fp_compare;
    case C::fp_convert:
      return L::fp_convert;
    case C::fp_other:
      return L::fp_round;
    case C::fp_move:
    case C::simd_move:
      return of_move(subject);
    case C::simd_mul:
      return L::vector_mul;
    case C::simd_shift:
      return L::vector_shift;
    case C::simd_convert:
    case C::fp_shuffle:
    case C::simd_shuffle:
      return is_lane_crossing(subject.name) ? L::lane_crossing : L::vector_shuffle;
    case C::simd_other:
      return L::string;
    default:
      return L::vector_simple;
  }
}

L latency_of(const Subject& subject) {
  const C value = subject.facts.kind.insn_class();
  if (value >= C::fp_arith && value <= C::simd_other) return of_vector(subject);
  switch (value) {
    case C::gather:
      return L::gather;
    case C::scatter:
      return L::scatter;
    case C::mask:
      return L::mask;
    case C::amx_compute:
    case C::amx_move:
    case C::amx_config:
      return L::tile;
    case C::crypto:
      return L::crypto;
    case C::x87_transcendental:
      return L::transcendental;
    case C::x87_arith:
    case C::x87_compare:
    case C::x87_move:
    case C::x87_control:
      return of_x87(subject);
    case C::mmx:
    case C::amd3dnow:
      return L::vector_simple;
    default:
      return of_general(subject);
  }
}

// How many micro-operations compute, where it is more than one.
unsigned compute_uops(const StaticInstruction& made) {
  switch (made.latency) {
    case L::none:
      return 0;
    case L::move:
      return made.loads + made.stores != 0 || made.is_register_move ? 0 : 1;
    case L::int_div:
    case L::transcendental:
    case L::system:
      return 10;
    case L::string:
    case L::atomic:
    case L::gather:
    case L::scatter:
    case L::fp_horizontal:
      return 3;
    case L::general_to_vector:
    case L::fp_convert:
      return made.insn_class == C::fp_convert ? 2 : 1;
    default:
      return 1;
  }
}

std::uint8_t vector_bytes(Width width, Precision precision) {
  switch (width) {
    case Width::scalar:
      return precision == Precision::double_ ? 8 : precision == Precision::single ? 4 : 2;
    case Width::bits64:
      return 8;
    case Width::bits128:
      return 16;
    case Width::bits256:
      return 32;
    case Width::bits512:
      return 64;
    default:
      return 0;
  }
}

std::uint8_t operand_bytes(OperandSize size) {
  constexpr std::array<std::uint8_t, 5> kBytes{0, 1, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(size)];
}

void describe_memory(const Subject& subject, StaticInstruction& made) {
  const InstructionFacts& facts = subject.facts;
  for (const MemoryAccess& access : facts.memory()) {
    const bool has_lanes = access.pattern == Pattern::vector;
    const auto count = static_cast<std::uint8_t>(has_lanes ? access.lanes : 1);
    std::uint8_t& sum = access.is_store ? made.stores : made.loads;
    sum = static_cast<std::uint8_t>(sum + count);
  }
  made.load_bytes = static_cast<std::uint16_t>(facts.kind.fixed[Measure::load_bytes]);
  made.store_bytes = static_cast<std::uint16_t>(facts.kind.fixed[Measure::store_bytes]);
}

void describe_branch(const Subject& subject, std::uint64_t address, StaticInstruction& made) {
  const ZydisDecodedOperand& operand = subject.operands[0];
  if (made.branch == BranchKind::none || operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
      !operand.imm.is_relative)
    return;
  made.target = address + made.length + operand.imm.value.u;
}

void describe_registers(const Subject& subject, StaticInstruction& made) {
  const InstructionFacts& facts = subject.facts;
  // What keeps its old value at times waits for it; a division only leaves the flags undefined.
  const std::uint32_t kept = made.insn_class == C::int_div ? 0 : facts.flags.maybe;
  made.reads = mask_of(facts.registers.read) | mask_of_flags(facts.flags.read | kept);
  made.writes = mask_of(facts.registers.written) |
                mask_of_flags(facts.flags.written | facts.flags.undefined | facts.flags.maybe);
  made.address_reads = address_registers(subject) & made.reads;
  made.is_zeroing = is_zeroing(subject);
  if (made.is_zeroing) {
    const int last = subject.instruction.operand_count_visible - 1;
    const ZydisRegister reg = subject.operands[last].reg.value;
    if (const int general = general_number(reg); general >= 0)
      made.reads &= ~register_bit(kGeneralBit + general);
    if (const int vector = vector_number(reg); vector >= 0)
      made.reads &= ~register_bit(kVectorBit + vector);
    made.latency = L::none;
  }
}

}  // namespace

StaticInstruction describe_static(const ZydisDecodedInstruction& instruction,
                                  const ZydisDecodedOperand* operands, std::uint64_t address) {
  const InstructionFacts facts = classify(instruction, operands);
  const char* name = ZydisMnemonicGetString(instruction.mnemonic);
  const Subject subject{instruction, operands, facts, name != nullptr ? name : ""};
  const Kind& kind = facts.kind;
  StaticInstruction made;
  made.mnemonic = static_cast<std::uint16_t>(instruction.mnemonic);
  made.length = instruction.length;
  made.insn_class = kind.insn_class();
  made.branch = kind.branch();
  made.fp_op = static_cast<FpOp>(kind.get(Attribute::fp_op));
  made.precision = static_cast<Precision>(kind.get(Attribute::precision));
  made.width = static_cast<Width>(kind.get(Attribute::width));
  made.vector_bytes = vector_bytes(made.width, made.precision);
  made.operand_bytes = operand_bytes(static_cast<OperandSize>(kind.get(Attribute::operand_size)));
  made.latency = latency_of(subject);
  describe_registers(subject, made);
  describe_memory(subject, made);
  describe_branch(subject, address, made);
  made.is_register_move = is_register_move(subject);
  made.is_divide = made.latency == L::int_div || made.latency == L::fp_div;
  made.is_sqrt = made.latency == L::fp_sqrt;
  made.is_fma = made.latency == L::fp_fma;
  made.is_atomic = made.insn_class == C::atomic;
  made.is_fence = made.insn_class == C::fence;
  made.is_prefetch = made.insn_class == C::prefetch;
  made.is_non_temporal = kind.get(Attribute::non_temporal) != 0;
  made.is_masked = kind.get(Attribute::masked) != 0;
  made.is_repeated = kind.get(Attribute::repeated) != 0;
  made.is_stack = made.insn_class == C::stack || made.branch == BranchKind::call ||
                  made.branch == BranchKind::indirect_call || made.branch == BranchKind::ret;
  made.compute_uops = static_cast<std::uint8_t>(compute_uops(made));
  return made;
}

std::string_view name_of(LatencyClass value) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(L::count_)> kNames{
      "none",
      "move",
      "int_simple",
      "int_shift",
      "int_bit",
      "int_mul",
      "int_div",
      "lea_slow",
      "branch",
      "fp_add",
      "fp_mul",
      "fp_fma",
      "fp_div",
      "fp_sqrt",
      "fp_approximate",
      "fp_compare",
      "fp_convert",
      "fp_round",
      "fp_horizontal",
      "vector_simple",
      "vector_mul",
      "vector_shift",
      "vector_shuffle",
      "lane_crossing",
      "vector_to_general",
      "general_to_vector",
      "mask",
      "gather",
      "scatter",
      "x87_add",
      "x87_mul",
      "x87_other",
      "transcendental",
      "tile",
      "crypto",
      "string",
      "atomic",
      "fence",
      "system",
      "other"};
  const auto index = static_cast<std::size_t>(value);
  return index < kNames.size() ? kNames[index] : "other";
}

}  // namespace loft::engine
