// A counting run as operands of formulas.
#pragma once

#include <vector>

#include "metric/counts.hpp"
#include "metric/uncertainty.hpp"
#include "sample/counting.hpp"

namespace loft::metric {

// Totals by event name in base units, and the wall-clock time as "time".
CountSet counts_of(const sample::RunCounts& run);

// The spread of multiplexed groups, from the intervals of the run. Events that ran for the same
// time in every interval were one group.
std::vector<GroupEstimate> spread_of(const sample::RunCounts& run);

}  // namespace loft::metric
