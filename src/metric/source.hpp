// Where each instruction of a program was written: for messages that name the divisor that was 0.
#pragma once

#include "metric/program.hpp"

namespace loft::metric {

struct Program::Source {
  struct Origin {
    std::uint32_t formula = 0;
    std::uint32_t step = 0;
  };
  std::vector<Formula> formulas;
  std::vector<Origin> origins;  // one for each instruction
};

}  // namespace loft::metric
