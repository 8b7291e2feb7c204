// How much a metric moves with each of its inputs: forward differentiation over the same program.
#include <cmath>
#include <limits>

#include "metric/program.hpp"

namespace loft::metric {
namespace {

// The change of op(a, b) with a and with b.
struct Slopes {
  double value = 0;
  double by_a = 0;
  double by_b = 0;
};

Slopes slopes(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return {a + b, 1, 1};
    case Op::subtract:
      return {a - b, 1, -1};
    case Op::multiply:
      return {a * b, b, a};
    case Op::divide:
      return {a / b, 1 / b, -a / (b * b)};
    case Op::remainder:
      return {std::fmod(a, b), 1, -std::trunc(a / b)};
    case Op::power:
      return {std::pow(a, b), b * std::pow(a, b - 1), a > 0 ? std::pow(a, b) * std::log(a) : 0};
    case Op::minimum:
      return {std::min(a, b), a <= b ? 1.0 : 0.0, a <= b ? 0.0 : 1.0};
    case Op::maximum:
      return {std::max(a, b), a >= b ? 1.0 : 0.0, a >= b ? 0.0 : 1.0};
    case Op::less:
      return {a < b ? 1.0 : 0.0, 0, 0};
    case Op::less_equal:
      return {a <= b ? 1.0 : 0.0, 0, 0};
    case Op::greater:
      return {a > b ? 1.0 : 0.0, 0, 0};
    case Op::greater_equal:
      return {a >= b ? 1.0 : 0.0, 0, 0};
    case Op::equal:
      return {a == b ? 1.0 : 0.0, 0, 0};
    case Op::not_equal:
      return {a != b ? 1.0 : 0.0, 0, 0};
    default:  // bits have no slope
      return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  }
}

struct Dual {
  double value = 0;
  std::vector<double> slope;  // by each input
};

Dual binary(Op op, const Dual& a, const Dual& b) {
  const Slopes by = slopes(op, a.value, b.value);
  Dual result{by.value, std::vector<double>(a.slope.size())};
  for (std::size_t i = 0; i < a.slope.size(); ++i)
    result.slope[i] = by.by_a * a.slope[i] + by.by_b * b.slope[i];
  return result;
}

}  // namespace

std::optional<std::vector<double>> Program::gradient(std::span<const double> inputs) const {
  std::vector<Dual> registers(code_.size());
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const Instruction& step = code_[i];
    Dual& out = registers[i];
    if (arity(step.op) == 0) {
      out.slope.resize(inputs.size());
      if (step.op == Op::name) {
        out.value = inputs[step.a];
        out.slope[step.a] = 1;
      } else {
        out.value = literals_[step.a].as_double();
      }
    } else if (step.op == Op::negate) {
      out = registers[step.a];
      out.value = -out.value;
      for (double& slope : out.slope) slope = -slope;
    } else if (step.op == Op::select) {
      out = registers[registers[step.a].value != 0 ? step.b : step.c];
    } else {
      out = binary(step.op, registers[step.a], registers[step.b]);
    }
  }
  const Dual& result = registers[result_];
  for (const double slope : result.slope)
    if (!std::isfinite(slope)) return std::nullopt;
  if (!std::isfinite(result.value)) return std::nullopt;
  return result.slope;
}

}  // namespace loft::metric
