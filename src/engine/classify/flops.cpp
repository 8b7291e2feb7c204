// Floating-point operations, as Intel's FP_ARITH events define them, except that lanes which a
// mask leaves out are not counted. docs/virtual-events.md lists the decisions.
#include "engine/classify/describe.hpp"

namespace loft::engine::detail {
namespace {

unsigned element_bits(Precision precision, FpOp op) {
  // A complex number of two halves, or a sum of two bfloat16 products, fills 32 bits.
  if (op == FpOp::complex_mul || op == FpOp::complex_fma) return 32;
  switch (precision) {
    case Precision::half:
      return 16;
    case Precision::double_:
      return 64;
    default:
      return 32;
  }
}

int operations_per_lane(FpOp op, Precision precision) {
  switch (op) {
    case FpOp::none:
      return 0;
    case FpOp::fma:
      return 2;
    case FpOp::dot:
      return precision == Precision::bfloat16 ? 4 : 2;
    case FpOp::complex_mul:
      return 6;  // four products, two sums
    case FpOp::complex_fma:
      return 8;
    case FpOp::quad_fma:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

void describe_flops(const Subject& subject, InstructionFacts& facts) {
  const MnemonicFacts& mnemonic = subject.mnemonic;
  if (mnemonic.op == FpOp::none) return;
  facts.kind.set(Attribute::fp_op, mnemonic.op);
  const int each = operations_per_lane(mnemonic.op, mnemonic.precision);
  if (mnemonic.insn_class == InsnClass::amx_compute) {
    add_per_unit(facts, {.unit = Unit::tile_ops}, Measure::flops, each);
    for (std::size_t i = 0; i < facts.tiles.size(); ++i)
      facts.tiles[i] = static_cast<std::int8_t>(ZydisRegisterGetId(subject.operands[i].reg.value));
    return;
  }
  const unsigned lanes =
      mnemonic.is_scalar ? 1 : vector_bits(subject) / element_bits(mnemonic.precision, mnemonic.op);
  const ZydisRegister mask = governing_mask(subject);
  if (mask != ZYDIS_REGISTER_NONE) {
    const UnitSource source{
        .unit = Unit::mask_lanes, .reg = mask, .lanes = static_cast<std::uint8_t>(lanes)};
    add_per_unit(facts, source, Measure::flops, each);
    return;
  }
  facts.kind.fixed[Measure::flops] = static_cast<std::int16_t>(each * static_cast<int>(lanes));
}

}  // namespace loft::engine::detail
