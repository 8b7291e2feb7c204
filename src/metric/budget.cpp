#include "metric/budget.hpp"

#include <utility>

#include "base/text.hpp"

namespace loft::metric {
namespace {

Failure bad_budget(std::string_view text, std::string why) {
  return failure(ErrorKind::invalid_input, "read the budget '" + printable(text) + "'",
                 std::move(why), "write NAME=1000, NAME=+1% or NAME=-5%");
}

// The limit that the budget sets, in base units.
std::optional<Number> limit_of(const Budget& budget, const Unit& unit, const Value& base) {
  if (budget.kind == Budget::Kind::outright)
    return unit.factor == 1 ? budget.amount : multiply(budget.amount, Number::real(unit.factor));
  if (!base.number) return std::nullopt;
  if (budget.kind == Budget::Kind::difference) {
    const auto amount =
        unit.factor == 1 ? budget.amount : multiply(budget.amount, Number::real(unit.factor));
    return amount ? add(*base.number, *amount) : std::nullopt;
  }
  const auto scaled = multiply(*base.number, budget.amount);
  const auto share = scaled ? divide(*scaled, Number::of(100)) : std::nullopt;
  return share ? add(*base.number, *share) : std::nullopt;
}

bool is_beyond(Side side, const Number& value, const Number& limit) {
  const int order = compare(value, limit);
  return side == Side::most ? order > 0 : order < 0;
}

// The end of the interval that is most in favour of the budget.
Number kindest(Side side, const Interval& interval) {
  return Number::real(side == Side::most ? interval.low : interval.high);
}

}  // namespace

Result<Budget> parse_budget(std::string_view text, Side side) {
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return bad_budget(text, "there is no name, or no '='");
  Budget budget{.name = std::string(text.substr(0, equals)), .side = side};
  std::string_view amount = text.substr(equals + 1);
  budget.text = std::string(amount);
  const bool is_signed = amount.starts_with('+') || amount.starts_with('-');
  if (amount.ends_with('%')) {
    if (!is_signed) return bad_budget(text, "a share is more or less than the base: +1% or -1%");
    budget.kind = Budget::Kind::share;
    amount.remove_suffix(1);
  } else if (is_signed) {
    budget.kind = Budget::Kind::difference;
  }
  if (amount.starts_with('+')) {
    amount.remove_prefix(1);
    if (amount.starts_with('-') || amount.starts_with('+'))
      return bad_budget(text, "it has two signs");
  }
  const auto number = parse_number(amount);
  if (!number) return bad_budget(text, "'" + printable(amount) + "' is no number");
  budget.amount = *number;
  return budget;
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kept:
      return "kept";
    case Outcome::broken:
      return "broken";
    case Outcome::undecided:
      return "undecided";
    case Outcome::unknown:
      return "unknown";
  }
  return "unknown";
}

std::optional<double> Verdict::change() const {
  if (!base.number || !now.number || base.number->is_zero()) return std::nullopt;
  return 100 * (now.number->as_double() / base.number->as_double() - 1);
}

Verdict hold(const Budget& budget, const Unit& unit, const Value& base, const Value& now) {
  Verdict verdict{.budget = budget, .unit = unit, .base = base, .now = now, .limit = {}, .why = {}};
  if (!now.number) {
    verdict.why = now.why;
    return verdict;
  }
  verdict.limit = limit_of(budget, unit, base);
  if (!verdict.limit) {
    verdict.why = base.why.empty() ? "the base does not have it" : "the base: " + base.why;
    return verdict;
  }
  if (!is_beyond(budget.side, *now.number, *verdict.limit)) {
    verdict.outcome = Outcome::kept;
  } else if (now.ci95 && !is_beyond(budget.side, kindest(budget.side, *now.ci95), *verdict.limit)) {
    verdict.outcome = Outcome::undecided;
    verdict.why = "the limit lies within the 95 % interval";
  } else {
    verdict.outcome = Outcome::broken;
  }
  return verdict;
}

}  // namespace loft::metric
