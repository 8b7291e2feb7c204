// The dimension of every register while a program is compiled.
//
// Unknown (nullopt) fits everything: formulas of other tools give their numbers no units.
#pragma once

#include <optional>
#include <vector>

#include "metric/program.hpp"

namespace loft::metric {

using MaybeDimension = std::optional<Dimension>;

// The dimension of what `op` makes of its operands, or why they do not fit.
// `exponent` is the value of the right side of a power, where it is a literal.
[[nodiscard]] Result<MaybeDimension> combine(Op op, const MaybeDimension& a,
                                             const MaybeDimension& b, const MaybeDimension& c,
                                             std::optional<double> exponent);

}  // namespace loft::metric
