// Infix formulas, by operator precedence with explicit stacks: parentheses may nest as deep as the
// text is long.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "metric/formula.hpp"
#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

Failure at_column(std::size_t column, std::string why, std::string hint = {}) {
  return failure(ErrorKind::invalid_input, "read a formula",
                 fmt::format("column {}: {}", column, why), std::move(hint));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// An entry of the stack of things not yet applied.
struct Pending {
  enum class Kind { op, parenthesis, call, if_value, if_else } kind = Kind::op;
  Op op = Op::add;  // for op, and the function of a call
  int binding = 0;  // for op, if_value and if_else
  std::size_t column = 0;
  int arguments = 0;  // commas seen in a call
};

constexpr int kIfElseBinding = 1;

struct Sign {
  Op op;
  int binding;
};

class InfixReader {
 public:
  InfixReader(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {}

  Result<Formula> read() {
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) break;
      if (formula_.steps.size() + pending_.size() > kMostSteps)
        return at_column(
            at_ + 1, fmt::format("the formula has more than {} operands and operators", kMostSteps),
            "give parts of it names of their own");
      LOFT_CHECK(wants_operand_ ? operand() : operation());
    }
    return finish();
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  Result<Formula> finish() {
    if (wants_operand_)
      return at_column(text_.size() + 1, "the formula ends where an operand was expected",
                       "a name, a number or a parenthesis");
    apply_down_to(0);
    if (!pending_.empty())
      return at_column(pending_.back().column, pending_.back().kind == Pending::Kind::if_value
                                                   ? "this 'if' has no 'else'"
                                                   : "this parenthesis is never closed");
    return std::move(formula_);
  }

  // Applies pending operators that bind at least as tightly as `binding`.
  void apply_down_to(int binding) {
    while (!pending_.empty()) {
      const Pending& top = pending_.back();
      if (top.kind == Pending::Kind::op && top.binding >= binding) {
        formula_.push(top.op, top.column);
      } else if (top.kind == Pending::Kind::if_else && kIfElseBinding > binding) {
        formula_.push(Op::select, top.column);
      } else {
        return;
      }
      pending_.pop_back();
    }
  }

  Result<void> operand() {
    const char c = text_[at_];
    const std::size_t column = at_ + 1;
    if (c == '(') {
      pending_.push_back({Pending::Kind::parenthesis, Op::add, 0, column, 0});
      ++at_;
      return {};
    }
    if (c == '-' || c == '+') {
      ++at_;
      if (c == '-')
        pending_.push_back({Pending::Kind::op, Op::negate, binding_of(Op::negate), column, 0});
      return {};
    }
    if (is_digit(c) || c == '.') return number();
    if ((c == '"' || c == '\'') && dialect_ == Dialect::loft) return quoted_name();
    if (is_name_start(c) || (dialect_ == Dialect::perf && c == '\\')) return name();
    return at_column(column, fmt::format("'{}' stands where an operand was expected", c),
                     "a name, a number or a parenthesis");
  }

  Result<void> number() {
    const std::size_t start = at_;
    const bool hex = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    const auto digits = [&] {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.' ||
                                    (hex && std::isxdigit(static_cast<unsigned char>(text_[at_])))))
        ++at_;
    };
    if (hex) at_ += 2;
    digits();
    if (!hex && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
      digits();
    }
    const std::string_view digits_text = text_.substr(start, at_ - start);
    const auto value = parse_number(digits_text);
    if (!value) return at_column(start + 1, fmt::format("'{}' is not a number", digits_text));
    LOFT_TRY(auto unit, unit_behind());
    formula_.push_number(*value, std::move(unit), start + 1);
    wants_operand_ = false;
    return {};
  }

  Result<std::optional<Unit>> unit_behind() {
    if (dialect_ != Dialect::loft) return std::nullopt;
    const std::size_t back = at_;
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != '[') {
      at_ = back;
      return std::nullopt;
    }
    const auto end = text_.find(']', at_);
    if (end == std::string_view::npos) return at_column(at_ + 1, "this '[' is never closed");
    auto unit = parse_unit(text_.substr(at_ + 1, end - at_ - 1));
    if (!unit) return at_column(at_ + 1, unit.error().why, unit.error().hint);
    at_ = end + 1;
    return *unit;
  }

  Result<void> quoted_name() {
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return at_column(at_ + 1, "this quote is never closed");
    const std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    if (trim(body).empty()) return at_column(at_ + 1, "a name is empty");
    formula_.push_name(body, at_ + 1);
    at_ = end + 1;
    wants_operand_ = false;
    return {};
  }

  [[nodiscard]] bool continues_name(std::size_t at) const {
    const char c = text_[at];
    switch (dialect_) {
      case Dialect::loft:
        return is_name_char(c);
      case Dialect::perf:
        return is_name_char(c) || c == '@' || c == '?';
      case Dialect::likwid:
        return is_name_char(c) || c == '=';
    }
    return false;
  }

  Result<void> name() {
    const std::size_t start = at_;
    std::string word;
    while (at_ < text_.size()) {
      if (dialect_ == Dialect::perf && text_[at_] == '\\' && at_ + 1 < text_.size()) {
        word += text_[at_ + 1];
        at_ += 2;
      } else if (continues_name(at_)) {
        word += text_[at_++];
      } else {
        break;
      }
    }
    if (word.empty()) return at_column(start + 1, "a name is empty");
    if (dialect_ == Dialect::perf) std::ranges::replace(word, '@', '/');
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '(') {
      if (dialect_ == Dialect::perf && word == "source_count") return source_count(start + 1);
      return call(word, start + 1);
    }
    formula_.push_name(word, start + 1);
    wants_operand_ = false;
    return {};
  }

  // perf's number of units that count an event: a quantity of its own, named as it is written, and
  // not available until somebody supplies it.
  Result<void> source_count(std::size_t column) {
    const auto end = text_.find(')', at_);
    if (end == std::string_view::npos) return at_column(column, "this parenthesis is never closed");
    formula_.push_name("source_count" + std::string(text_.substr(at_, end + 1 - at_)), column);
    at_ = end + 1;
    wants_operand_ = false;
    return {};
  }

  Result<void> call(const std::string& function, std::size_t column) {
    if (!is_function(function))
      return at_column(column, fmt::format("'{}' is not a function", function),
                       "known are min, max, if(condition, then, otherwise), d_ratio, bitand, "
                       "bitor, bitxor");
    const Op op = function == "d_ratio" ? Op::divide : *op_of_symbol(function);
    pending_.push_back({Pending::Kind::call, op, 0, column, 0});
    ++at_;
    return {};
  }

  Result<void> operation() {
    const char c = text_[at_];
    const std::size_t column = at_ + 1;
    if (c == ')') return close(column);
    if (c == ',') return next_argument(column);
    if (takes_word("if")) return begin_if(column);
    if (takes_word("else")) return begin_else(column);
    const auto sign = takes_sign();
    if (!sign)
      return at_column(column, fmt::format("'{}' stands where an operator was expected", c),
                       is_name_start(c) || is_digit(c) ? "an operator belongs between two operands"
                                                       : "one of + - * / % ^ < <= > >= == !=");
    apply_down_to(sign->binding);
    pending_.push_back({Pending::Kind::op, sign->op, sign->binding, column, 0});
    wants_operand_ = true;
    return {};
  }

  bool takes_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && is_name_char(text_[end])) return false;
    at_ = end;
    return true;
  }

  std::optional<Sign> takes_sign() {
    const std::string_view two = text_.substr(at_, 2);
    for (const std::string_view symbol : {"<=", ">=", "==", "!="}) {
      if (two != symbol) continue;
      at_ += 2;
      const Op op = *op_of_symbol(symbol);
      return Sign{op, binding_of(op)};
    }
    const char c = text_[at_];
    if (dialect_ == Dialect::perf) {
      // perf's own: bits, looser than comparison.
      if (c == '|') return ++at_, Sign{Op::bit_or, 2};
      if (c == '^') return ++at_, Sign{Op::bit_xor, 3};
      if (c == '&') return ++at_, Sign{Op::bit_and, 4};
    }
    if (std::string_view("+-*/%^<>").find(c) == std::string_view::npos) return std::nullopt;
    const Op op = *op_of_symbol(text_.substr(at_, 1));
    ++at_;
    return Sign{op, binding_of(op)};
  }

  Result<void> begin_if(std::size_t column) {
    apply_down_to(kIfElseBinding + 1);
    pending_.push_back({Pending::Kind::if_value, Op::select, kIfElseBinding, column, 0});
    // The value was written first and the condition comes first in `select`: remember where the
    // value began, so that both can change places.
    values_.push_back(value_begin());
    condition_begins_.push_back(formula_.steps.size());
    wants_operand_ = true;
    return {};
  }

  Result<void> begin_else(std::size_t column) {
    apply_down_to(0);
    if (pending_.empty() || pending_.back().kind != Pending::Kind::if_value)
      return at_column(column, "this 'else' has no 'if'");
    const auto begin = formula_.steps.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(values_.back()),
                begin + static_cast<std::ptrdiff_t>(condition_begins_.back()),
                formula_.steps.end());
    values_.pop_back();
    condition_begins_.pop_back();
    pending_.back().kind = Pending::Kind::if_else;
    wants_operand_ = true;
    return {};
  }

  // Where the steps of the last complete value begin.
  [[nodiscard]] std::size_t value_begin() const {
    std::size_t needed = 1;
    std::size_t i = formula_.steps.size();
    while (needed > 0) {
      --i;
      needed = needed - 1 + static_cast<std::size_t>(arity(formula_.steps[i].op));
    }
    return i;
  }

  Result<void> next_argument(std::size_t column) {
    apply_down_to(0);
    if (pending_.empty() || pending_.back().kind != Pending::Kind::call)
      return at_column(column, "a comma stands outside a function's parentheses");
    ++pending_.back().arguments;
    ++at_;
    wants_operand_ = true;
    return {};
  }

  Result<void> close(std::size_t column) {
    apply_down_to(0);
    if (pending_.empty()) return at_column(column, "this ')' closes nothing");
    const Pending top = pending_.back();
    if (top.kind == Pending::Kind::if_value)
      return at_column(top.column, "this 'if' has no 'else'");
    pending_.pop_back();
    ++at_;
    if (top.kind == Pending::Kind::call) return finish_call(top);
    return {};
  }

  Result<void> finish_call(const Pending& call) {
    const int given = call.arguments + 1;
    const bool folds = call.op == Op::minimum || call.op == Op::maximum;
    if (folds ? given < 2 : given != arity(call.op))
      return at_column(call.column, fmt::format("this function takes {}{} arguments, not {}",
                                                folds ? "at least " : "", arity(call.op), given));
    for (int i = 1; i < (folds ? given : 2); ++i) formula_.push(call.op, call.column);
    return {};
  }

  std::string_view text_;
  Dialect dialect_;
  std::size_t at_ = 0;
  bool wants_operand_ = true;
  Formula formula_;
  std::vector<Pending> pending_;
  std::vector<std::size_t> values_;            // begin of the value of each open `a if c else b`
  std::vector<std::size_t> condition_begins_;  // and of its condition
};

}  // namespace

Result<Formula> parse_infix(std::string_view text, Dialect dialect) {
  return InfixReader(text, dialect).read();
}

}  // namespace loft::metric
