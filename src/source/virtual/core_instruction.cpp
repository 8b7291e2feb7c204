#include "source/virtual/core_instruction.hpp"

#ifdef LOFT_HAS_ENGINE
#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

using core::Op;
using engine::LatencyClass;

Op op_of(const engine::StaticInstruction& fixed) {
  const bool is_single = fixed.precision == engine::Precision::single;
  switch (fixed.latency) {
    case LatencyClass::none:
    case LatencyClass::move:
    case LatencyClass::fence:
      return Op::none;
    case LatencyClass::int_shift:
      return Op::int_shift;
    case LatencyClass::int_bit:
      return Op::int_bits;
    case LatencyClass::int_mul:
      return Op::int_mul;
    case LatencyClass::int_div:
      return Op::int_div;
    case LatencyClass::branch:
      return Op::branch;
    case LatencyClass::fp_add:
    case LatencyClass::fp_horizontal:
      return Op::fp_add;
    case LatencyClass::fp_mul:
    case LatencyClass::fp_approximate:
      return Op::fp_mul;
    case LatencyClass::fp_fma:
      return Op::fp_fma;
    case LatencyClass::fp_div:
      return is_single ? Op::fp_div_single : Op::fp_div_double;
    case LatencyClass::fp_sqrt:
      return is_single ? Op::fp_sqrt_single : Op::fp_sqrt_double;
    case LatencyClass::fp_compare:
      return Op::fp_compare;
    case LatencyClass::fp_convert:
    case LatencyClass::fp_round:
      return Op::fp_convert;
    case LatencyClass::vector_simple:
      return Op::vector_int;
    case LatencyClass::vector_mul:
      return Op::vector_int_mul;
    case LatencyClass::vector_shift:
      return Op::vector_shift;
    case LatencyClass::vector_shuffle:
    case LatencyClass::lane_crossing:
    case LatencyClass::gather:
    case LatencyClass::scatter:
      return Op::vector_shuffle;
    case LatencyClass::vector_to_general:
    case LatencyClass::mask:
      return Op::vector_to_int;
    case LatencyClass::general_to_vector:
      return Op::int_to_vector;
    case LatencyClass::x87_add:
    case LatencyClass::x87_mul:
    case LatencyClass::x87_other:
      return Op::x87;
    case LatencyClass::transcendental:
      return Op::x87_slow;
    case LatencyClass::crypto:
      return Op::crypto;
    case LatencyClass::tile:
    case LatencyClass::string:
      return Op::microcode;
    case LatencyClass::system:
      return Op::system;
    case LatencyClass::int_simple:
    case LatencyClass::lea_slow:
    case LatencyClass::atomic:
    case LatencyClass::other:
    case LatencyClass::count_:
      break;
  }
  return Op::int_alu;
}

core::BranchKind branch_of(engine::BranchKind kind) {
  using From = engine::BranchKind;
  using To = core::BranchKind;
  switch (kind) {
    case From::conditional:
    case From::loop:
      return To::conditional;
    case From::jump:
      return To::jump;
    case From::call:
      return To::call;
    case From::indirect_jump:
      return To::indirect_jump;
    case From::indirect_call:
      return To::indirect_call;
    case From::ret:
      return To::ret;
    default:
      return To::none;
  }
}

// The two number registers alike, but for the flags.
core::Registers registers_of(engine::RegisterMask mask) {
  constexpr core::Registers kBelow = (core::Registers{1} << engine::kCarryBit) - 1;
  core::Registers set = mask & kBelow;
  if ((mask & engine::register_bit(engine::kCarryBit)) != 0) set |= core::kCarry;
  if ((mask & engine::register_bit(engine::kFlagsBit)) != 0) set |= core::kFlags;
  if ((mask & engine::register_bit(engine::kX87Bit)) != 0) set |= core::kX87;
  if ((mask & engine::register_bit(engine::kTileBit)) != 0) set |= core::kTiles;
  return set;
}

// Additions, subtractions, comparisons and logic that a core fuses with a jump on what they set.
bool can_fuse(const engine::StaticInstruction& before, const engine::StaticInstruction& branch) {
  constexpr engine::RegisterMask kBoth =
      engine::register_bit(engine::kCarryBit) | engine::register_bit(engine::kFlagsBit);
  const engine::RegisterMask asked = branch.reads & kBoth;
  return branch.branch == engine::BranchKind::conditional && asked != 0 &&
         (asked & ~before.writes) == 0 && before.latency == LatencyClass::int_simple &&
         (before.reads & kBoth) == 0 && before.stores == 0 && !before.is_atomic;
}

}  // namespace

void fuse_last(std::span<const engine::StaticInstruction> block,
               std::span<core::Instruction> instructions) {
  const std::size_t count = block.size();
  if (count < 2 || !can_fuse(block[count - 2], block[count - 1])) return;
  instructions[count - 1].uops = 0;
  instructions[count - 1].op = Op::none;
}

core::Instruction core_instruction(const engine::StaticInstruction& fixed, std::uint64_t address,
                                   std::uint32_t block) {
  core::Instruction instruction;
  instruction.address = address;
  instruction.block = block;
  instruction.length = fixed.length;
  instruction.op = op_of(fixed);
  instruction.branch = branch_of(fixed.branch);
  // A load or store and the operation on it are one slot of the front end.
  instruction.uops = std::max<std::uint8_t>(1, fixed.compute_uops);
  instruction.is_atomic = fixed.is_atomic;
  instruction.is_fence = fixed.is_fence;
  instruction.vector_bits = static_cast<std::uint16_t>(fixed.vector_bytes * 8);
  instruction.address_registers = registers_of(fixed.address_reads);
  instruction.sources = registers_of(fixed.reads & ~fixed.address_reads);
  instruction.destinations = registers_of(fixed.writes);
  if (fixed.is_zeroing) instruction.sources = 0;
  if (fixed.is_stack) {
    const core::Registers stack = core::general_reg(engine::kRsp);
    instruction.address_registers &= ~stack;
    instruction.sources &= ~stack;
    instruction.destinations &= ~stack;
  }
  return instruction;
}

}  // namespace loft::source::virtual_pmu
#endif
