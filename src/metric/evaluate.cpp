#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "metric/source.hpp"
#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

// A register of the exact evaluator: a number with its origin, or the index of what went wrong.
struct Register {
  Number number;
  sample::Origin origin = sample::Origin::counted;
  std::size_t problem = 0;  // 0 is none
};

std::optional<Number> bits(Op op, const Number& a, const Number& b) {
  const auto fits = [](const Number& n) {
    return n.is_integer() && n.as_integer() >= 0 && n.as_integer() <= Wide{UINT64_MAX};
  };
  if (!fits(a) || !fits(b)) return std::nullopt;
  if (op == Op::bit_and) return Number::integer(a.as_integer() & b.as_integer());
  if (op == Op::bit_or) return Number::integer(a.as_integer() | b.as_integer());
  return Number::integer(a.as_integer() ^ b.as_integer());
}

std::optional<Number> apply(Op op, const Number& a, const Number& b) {
  const auto truth = [](bool value) { return Number::integer(value ? 1 : 0); };
  switch (op) {
    case Op::add:
      return add(a, b);
    case Op::subtract:
      return subtract(a, b);
    case Op::multiply:
      return multiply(a, b);
    case Op::divide:
      return divide(a, b);
    case Op::remainder:
      return remainder(a, b);
    case Op::power:
      return power(a, b);
    case Op::minimum:
      return compare(a, b) <= 0 ? a : b;
    case Op::maximum:
      return compare(a, b) >= 0 ? a : b;
    case Op::less:
      return truth(compare(a, b) < 0);
    case Op::less_equal:
      return truth(compare(a, b) <= 0);
    case Op::greater:
      return truth(compare(a, b) > 0);
    case Op::greater_equal:
      return truth(compare(a, b) >= 0);
    case Op::equal:
      return truth(compare(a, b) == 0);
    case Op::not_equal:
      return truth(compare(a, b) != 0);
    default:
      return bits(op, a, b);
  }
}

}  // namespace

Value Program::evaluate(const CountSet& counts) const {
  std::vector<Quantity> operands;
  for (const std::string& name : inputs_) {
    const Quantity* quantity = counts.find(name);
    operands.push_back(quantity == nullptr ? Quantity::missing({}) : *quantity);
  }
  return evaluate(operands);
}

Value Program::evaluate(std::span<const Quantity> operands) const {
  std::vector<std::string> problems(1);
  std::vector<Register> registers(code_.size());
  const auto fail = [&](std::string why) {
    problems.push_back(std::move(why));
    return Register{{}, sample::Origin::missing, problems.size() - 1};
  };
  const auto input = [&](std::size_t index) {
    const Quantity& quantity = operands[index];
    const std::string& name = inputs_[index];
    if (quantity.origin != sample::Origin::missing)
      return Register{quantity.value, quantity.origin, 0};
    if (!quantity.why.empty()) return fail(fmt::format("'{}' is missing: {}", name, quantity.why));
    return fail(
        fmt::format("'{}' was not counted and is no constant{}", name,
                    looks_like_machine_constant(name) ? " ('loft machine' measures it)" : ""));
  };
  const auto binary = [&](std::size_t i, const Register& a, const Register& b) {
    if (a.problem != 0) return a;
    if (b.problem != 0) return b;
    if (const auto result = apply(code_[i].op, a.number, b.number))
      return Register{*result, weaker(a.origin, b.origin), 0};
    const bool divides = code_[i].op == Op::divide || code_[i].op == Op::remainder;
    if (divides && b.number.is_zero())
      return fail(fmt::format("division by zero: {} is 0", divisor_text(i)));
    return fail(fmt::format("'{}' of {} and {} has no finite value", symbol_of(code_[i].op),
                            to_string(a.number), to_string(b.number)));
  };
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const Instruction& step = code_[i];
    if (step.op == Op::number) {
      registers[i].number = literals_[step.a];
    } else if (step.op == Op::name) {
      registers[i] = input(step.a);
    } else if (step.op == Op::negate) {
      registers[i] = registers[step.a];
      registers[i].number = negate(registers[i].number);
    } else if (step.op == Op::select) {
      const Register& condition = registers[step.a];
      const bool holds = condition.problem == 0 && !condition.number.is_zero();
      registers[i] = condition.problem != 0 ? condition : registers[holds ? step.b : step.c];
      registers[i].origin = weaker(registers[i].origin, condition.origin);
    } else {
      registers[i] = binary(i, registers[step.a], registers[step.b]);
    }
  }
  const Register& last = registers[result_];
  Value value;
  if (last.problem != 0) {
    value.why = problems[last.problem];
    return value;
  }
  value.number = last.number;
  value.kind = is_model_ ? sample::Origin::modelled : last.origin;
  if (model_error_) {
    const double middle = last.number.as_double();
    value.ci95 = Interval{middle - *model_error_, middle + *model_error_};
  }
  return value;
}

}  // namespace loft::metric
