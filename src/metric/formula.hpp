// A formula as written: operands and operators in postfix order, names not yet looked up.
//
// Every dialect (the paper's reverse Polish, our infix, LIKWID's, perf's) is read into this, and
// this is written back as infix or reverse Polish. Nothing here recurses: depth is data.
//
//   LOFT_TRY(const Formula formula, parse_infix("64 [B] * lines / time"));
//   LOFT_TRY(const Formula same, parse_rpn("lines|64|*|time|/"));
//   to_infix(same)   // "lines * 64 / time"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/number.hpp"
#include "metric/unit.hpp"

namespace loft::metric {

enum class Op : std::uint8_t {
  number,  // index into numbers
  name,    // index into names
  negate,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  power,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_or,
  bit_xor,
  select,  // condition, then, otherwise
};

// How many operands it takes from the stack.
int arity(Op op);

struct Step {
  Op op = Op::number;
  std::uint32_t index = 0;   // for number and name
  std::uint32_t column = 0;  // where it stands in the text, from 1
};

struct Literal {
  Number value;
  std::optional<Unit> unit;  // "64 [B]"
};

// 3 [kB] is 3000.
Number in_base_units(const Literal& literal);

struct Formula {
  std::vector<Step> steps;
  std::vector<Literal> numbers;
  std::vector<std::string> names;  // each once

  void push_number(Number value, std::optional<Unit> unit, std::size_t column);
  void push_name(std::string_view name, std::size_t column);
  void push(Op op, std::size_t column);
};

// One formula may have this many steps; larger ones are refused, not half read.
inline constexpr std::size_t kMostSteps = 10000;

enum class Dialect {
  loft,    // ^ is a power; names with other characters in quotes; numbers may carry [unit]
  perf,    // ^ is exclusive or; a name may hold . : @ ? and escaped - , =
  likwid,  // a name may hold options: PMC3:EDGEDETECT, PMC1:MATCH0=0x81
};

// An error's `why` starts with "column N: ".
[[nodiscard]] Result<Formula> parse_infix(std::string_view text, Dialect dialect = Dialect::loft);

// Operands and operators between bars; an operator may follow its operand directly ("BR_lat*").
[[nodiscard]] Result<Formula> parse_rpn(std::string_view text);

std::string to_infix(const Formula& formula);

// The infix text of the last operand of the step at `step`: names the divisor that was 0.
std::string operand_text(const Formula& formula, std::size_t step);

// Every operator after a bar, as both spellings of the paper can be read.
std::string to_rpn(const Formula& formula);

}  // namespace loft::metric
