// Reverse Polish, as PAPI's user-defined events were written in 2011.
#include <fmt/format.h>

#include "base/text.hpp"
#include "metric/formula.hpp"
#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

constexpr std::string_view kTrailing = "+-*/%^";

Failure at_column(std::size_t column, std::string why, std::string hint = {}) {
  return failure(ErrorKind::invalid_input, "read a formula",
                 fmt::format("column {}: {}", column, why), std::move(hint));
}

class RpnReader {
 public:
  explicit RpnReader(std::string_view text) : text_(text) {}

  Result<Formula> read() {
    std::size_t start = 0;
    while (start <= text_.size()) {
      const std::size_t end = std::min(text_.find('|', start), text_.size());
      // A bar at the very end closes the last operand: "a|b|+|" is the style of PAPI's tables.
      const bool closes = end == text_.size() && start > 0 && trim(text_.substr(start)).empty();
      if (!closes) LOFT_CHECK(segment(start, end));
      start = end + 1;
    }
    if (depth_ != 1)
      return at_column(text_.size() + 1,
                       fmt::format("{} operands are left over without an operator", depth_ - 1),
                       "every operator takes two operands and leaves one");
    return std::move(formula_);
  }

 private:
  // What stands between two bars: an operand, an operator, or an operand and its operators.
  Result<void> segment(std::size_t start, std::size_t end) {
    const std::string_view whole = text_.substr(start, end - start);
    const std::string_view body = trim(whole);
    const std::size_t column = start + static_cast<std::size_t>(body.data() - whole.data()) + 1;
    if (body.empty())
      return at_column(start + 1, "nothing stands between two bars",
                       "an operand (event, constant, number) or an operator was expected");
    if (const auto op = op_of_symbol(body)) return operate(*op, column);
    if (is_function(body)) return at_column(column, fmt::format("'{}' is not known here", body));
    std::size_t length = body.size();
    while (length > 0 && kTrailing.find(body[length - 1]) != std::string_view::npos) --length;
    if (length > 0) LOFT_CHECK(operand(trim(body.substr(0, length)), column));
    for (std::size_t i = length; i < body.size(); ++i)
      LOFT_CHECK(operate(*op_of_symbol(body.substr(i, 1)), column + i));
    return {};
  }

  Result<void> operand(std::string_view text, std::size_t column) {
    LOFT_CHECK(room(column));
    if (const auto number = parse_number(text)) {
      formula_.push_number(*number, std::nullopt, column);
    } else if (text.find_first_of("0123456789.") <= (text[0] == '-' ? 1 : 0)) {
      return at_column(column, fmt::format("'{}' is not a number", text));
    } else if (text.find_first_of(" \t") != std::string_view::npos) {
      return at_column(column, fmt::format("'{}' is not one name", text),
                       "a bar belongs between two operands");
    } else {
      formula_.push_name(text, column);
    }
    ++depth_;
    return {};
  }

  Result<void> operate(Op op, std::size_t column) {
    LOFT_CHECK(room(column));
    if (depth_ < arity(op))
      return at_column(column,
                       fmt::format("'{}' takes {} operands and only {} {} before it", symbol_of(op),
                                   arity(op), depth_, depth_ == 1 ? "stands" : "stand"));
    depth_ -= arity(op) - 1;
    formula_.push(op, column);
    return {};
  }

  [[nodiscard]] Result<void> room(std::size_t column) const {
    if (formula_.steps.size() < kMostSteps) return {};
    return at_column(column,
                     fmt::format("the formula has more than {} operands and operators", kMostSteps),
                     "give parts of it names of their own");
  }

  std::string_view text_;
  Formula formula_;
  int depth_ = 0;
};

}  // namespace

Result<Formula> parse_rpn(std::string_view text) { return RpnReader(text).read(); }

}  // namespace loft::metric
