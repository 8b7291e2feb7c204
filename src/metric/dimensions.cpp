#include "metric/dimensions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

Result<MaybeDimension> same(Op op, const MaybeDimension& a, const MaybeDimension& b) {
  if (a && b && *a != *b)
    return failure(
        ErrorKind::invalid_input, "check units",
        fmt::format("'{}' of {} and {} makes no sense", symbol_of(op), to_string(*a),
                    to_string(*b)),
        "give numbers their units, as in 64 [B], and events theirs with 'event NAME [unit]'");
  return a ? a : b;
}

Result<MaybeDimension> raised(const MaybeDimension& base, const MaybeDimension& exponent,
                              std::optional<double> value) {
  if (exponent && !exponent->is_plain())
    return failure(ErrorKind::invalid_input, "check units",
                   fmt::format("an exponent of {} makes no sense", to_string(*exponent)));
  if (!base || base->is_plain()) return base;
  if (!value || *value != std::floor(*value) || std::fabs(*value) > 100) return std::nullopt;
  return base->to_the(static_cast<int>(*value));
}

}  // namespace

Result<MaybeDimension> combine(Op op, const MaybeDimension& a, const MaybeDimension& b,
                               const MaybeDimension& c, std::optional<double> exponent) {
  switch (op) {
    case Op::number:
    case Op::name:
    case Op::negate:
      return a;
    case Op::add:
    case Op::subtract:
    case Op::remainder:
    case Op::minimum:
    case Op::maximum:
      return same(op, a, b);
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor: {
      LOFT_CHECK(same(op, a, b));
      return Dimension{};
    }
    case Op::multiply:
    case Op::divide:
      if (!a || !b) return std::nullopt;
      return a->times(*b, op == Op::multiply ? 1 : -1);
    case Op::power:
      return raised(a, b, exponent);
    case Op::select:
      return same(op, b, c);
  }
  return std::nullopt;
}

}  // namespace loft::metric
