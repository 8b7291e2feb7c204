// Budgets: how much of an event or metric a program may take, outright or against an earlier run.
//
//   LOFT_TRY(const Budget budget, parse_budget("instructions=+1%", Side::most));
//   const Verdict verdict = hold(budget, unit, base, now);
//   verdict.outcome == Outcome::broken            // more than 1 % above what the base has
//
// Counts are compared as integers while they are. A value with an interval breaks a budget only
// when the whole interval lies beyond it: what may be noise is undecided.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "metric/program.hpp"

namespace loft::metric {

enum class Side { most, least };

struct Budget {
  enum class Kind { outright, difference, share };

  std::string name;  // of the event or metric
  Side side = Side::most;
  Kind kind = Kind::outright;
  Number amount;     // of a share: percent; outright: in the unit that is shown
  std::string text;  // of the amount, as it was asked for: "+1%"

  [[nodiscard]] bool needs_base() const { return kind != Kind::outright; }
};

// "NAME=AMOUNT": "123" is a limit outright, "+123" and "-5" are against the base, "+1%" and "-5%" a
// share of it.
[[nodiscard]] Result<Budget> parse_budget(std::string_view text, Side side);

enum class Outcome { kept, broken, undecided, unknown };
const char* to_string(Outcome outcome);

struct Verdict {
  Budget budget;
  Unit unit;  // in which its values are shown
  Value base;
  Value now;
  std::optional<Number> limit;  // in base units
  Outcome outcome = Outcome::unknown;
  std::string why;  // of what is unknown or undecided

  // What it has changed by, in percent of the base; nothing where that is not known, or 0.
  [[nodiscard]] std::optional<double> change() const;
};

// `base` is read only where the budget needs one. `unit` is that of both values' amounts.
[[nodiscard]] Verdict hold(const Budget& budget, const Unit& unit, const Value& base,
                           const Value& now);

}  // namespace loft::metric
