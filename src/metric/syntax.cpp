#include "metric/syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace loft::metric {
namespace {

struct Operator {
  Op op;
  std::string_view symbol;
  int binding;
};

constexpr std::array<Operator, 19> kOperators{{{Op::bit_or, "bitor", kTightest},
                                               {Op::bit_xor, "bitxor", kTightest},
                                               {Op::bit_and, "bitand", kTightest},
                                               {Op::less, "<", 5},
                                               {Op::less_equal, "<=", 5},
                                               {Op::greater, ">", 5},
                                               {Op::greater_equal, ">=", 5},
                                               {Op::equal, "==", 5},
                                               {Op::not_equal, "!=", 5},
                                               {Op::add, "+", 6},
                                               {Op::subtract, "-", 6},
                                               {Op::multiply, "*", 7},
                                               {Op::divide, "/", 7},
                                               {Op::remainder, "%", 7},
                                               {Op::negate, "neg", 8},
                                               {Op::power, "^", 9},
                                               {Op::minimum, "min", kTightest},
                                               {Op::maximum, "max", kTightest},
                                               {Op::select, "if", kTightest}}};

}  // namespace

std::string_view symbol_of(Op op) {
  const auto* found = std::ranges::find(kOperators, op, &Operator::op);
  return found == kOperators.end() ? std::string_view("?") : found->symbol;
}

std::optional<Op> op_of_symbol(std::string_view symbol) {
  const auto* found = std::ranges::find(kOperators, symbol, &Operator::symbol);
  if (found == kOperators.end()) return std::nullopt;
  return found->op;
}

int binding_of(Op op) {
  const auto* found = std::ranges::find(kOperators, op, &Operator::op);
  return found == kOperators.end() ? kTightest : found->binding;
}

bool is_function(std::string_view name) {
  if (name == "d_ratio") return true;
  const auto op = op_of_symbol(name);
  return op && *op != Op::negate && binding_of(*op) == kTightest;
}

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '#';
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':' ||
         c == '#';
}

}  // namespace loft::metric
