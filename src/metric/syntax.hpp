// What the dialects share: the operators, their symbols and how tightly they bind.
#pragma once

#include <optional>
#include <string_view>

#include "metric/formula.hpp"

namespace loft::metric {

inline constexpr int kTightest = 100;

// "+", "min", "if", "neg": the word in reverse Polish, the sign or function name in infix.
std::string_view symbol_of(Op op);
std::optional<Op> op_of_symbol(std::string_view symbol);

// Higher binds tighter.
int binding_of(Op op);

// Words that are functions in infix: min, max, if, d_ratio, bitand, bitor, bitxor.
bool is_function(std::string_view name);

bool is_name_start(char c);
bool is_name_char(char c);

}  // namespace loft::metric
