#include "metric/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

// Text of a part of a formula and how tightly it binds.
struct Piece {
  std::string text;
  int binding = kTightest;
};

std::string literal_text(const Literal& literal) {
  std::string text = to_string(literal.value);
  if (literal.unit) text += " [" + literal.unit->text + "]";
  return text;
}

bool needs_quotes(std::string_view name) {
  if (name.empty() || !is_name_start(name[0]) || name.back() == ':' || is_function(name))
    return true;
  return !std::ranges::all_of(name, is_name_char);
}

Piece operand_piece(const Formula& formula, const Step& step) {
  if (step.op == Op::name) {
    const std::string& name = formula.names[step.index];
    return {needs_quotes(name) ? "'" + name + "'" : name, kTightest};
  }
  const Literal& literal = formula.numbers[step.index];
  const bool negative = compare(literal.value, Number::integer(0)) < 0;
  return {literal_text(literal), negative ? binding_of(Op::negate) : kTightest};
}

std::string in_parentheses_below(Piece piece, int binding) {
  if (piece.binding >= binding) return std::move(piece.text);
  return "(" + std::move(piece.text) + ")";
}

Piece binary_piece(Op op, Piece left, Piece right) {
  const int binding = binding_of(op);
  if (binding == kTightest)
    return {fmt::format("{}({}, {})", symbol_of(op), left.text, right.text), kTightest};
  // Left-associative: the right side needs parentheses already at equal binding.
  std::string text = in_parentheses_below(std::move(left), binding);
  text += ' ';
  text += symbol_of(op);
  text += ' ';
  text += in_parentheses_below(std::move(right), binding + 1);
  return {std::move(text), binding};
}

// The infix text of everything up to and with step `last`; the stack's top is that step's value.
std::vector<Piece> pieces_up_to(const Formula& formula, std::size_t last) {
  std::vector<Piece> stack;
  const auto pop = [&] {
    Piece piece = std::move(stack.back());
    stack.pop_back();
    return piece;
  };
  for (std::size_t i = 0; i <= last; ++i) {
    const Step& step = formula.steps[i];
    if (arity(step.op) == 0) {
      stack.push_back(operand_piece(formula, step));
    } else if (step.op == Op::negate) {
      stack.push_back(
          {"-" + in_parentheses_below(pop(), binding_of(Op::negate)), binding_of(Op::negate)});
    } else if (step.op == Op::select) {
      Piece otherwise = pop();
      Piece then = pop();
      Piece condition = pop();
      stack.push_back(
          {fmt::format("if({}, {}, {})", condition.text, then.text, otherwise.text), kTightest});
    } else {
      Piece right = pop();
      Piece left = pop();
      stack.push_back(binary_piece(step.op, std::move(left), std::move(right)));
    }
  }
  return stack;
}

}  // namespace

int arity(Op op) {
  switch (op) {
    case Op::number:
    case Op::name:
      return 0;
    case Op::negate:
      return 1;
    case Op::select:
      return 3;
    default:
      return 2;
  }
}

void Formula::push_number(Number value, std::optional<Unit> unit, std::size_t column) {
  steps.push_back(
      {Op::number, static_cast<std::uint32_t>(numbers.size()), static_cast<std::uint32_t>(column)});
  numbers.push_back({value, std::move(unit)});
}

void Formula::push_name(std::string_view name, std::size_t column) {
  // Names are few even in long formulas; a search keeps the order of first use.
  auto found = std::ranges::find(names, name);
  if (found == names.end()) found = names.insert(names.end(), std::string(name));
  steps.push_back({Op::name, static_cast<std::uint32_t>(found - names.begin()),
                   static_cast<std::uint32_t>(column)});
}

void Formula::push(Op op, std::size_t column) {
  // "-4" is a number, however it was written; it must come back as it went.
  if (op == Op::negate && !steps.empty() && steps.back().op == Op::number) {
    Number& value = numbers[steps.back().index].value;
    value = negate(value);
    return;
  }
  steps.push_back({op, 0, static_cast<std::uint32_t>(column)});
}

Number in_base_units(const Literal& literal) {
  if (!literal.unit || literal.unit->factor == 1) return literal.value;
  return Number::real(literal.value.as_double() * literal.unit->factor);
}

std::string to_infix(const Formula& formula) {
  if (formula.steps.empty()) return {};
  return std::move(pieces_up_to(formula, formula.steps.size() - 1).back().text);
}

std::string operand_text(const Formula& formula, std::size_t step) {
  if (step == 0 || step >= formula.steps.size()) return {};
  return std::move(pieces_up_to(formula, step - 1).back().text);
}

std::string to_rpn(const Formula& formula) {
  std::string text;
  for (const Step& step : formula.steps) {
    if (!text.empty()) text += '|';
    if (step.op == Op::name) {
      text += formula.names[step.index];
    } else if (step.op == Op::number) {
      text += to_string(in_base_units(formula.numbers[step.index]));
    } else {
      text += symbol_of(step.op);
    }
  }
  return text;
}

}  // namespace loft::metric
