// Several runs of the same program as one: means, and how much they varied.
#pragma once

#include <span>
#include <vector>

#include "sample/counting.hpp"

namespace loft::sample {

// Mean, deviation and 95 % interval (Student's t) of at least one value.
Spread spread_of(std::span<const double> values);

// All runs counted the same events. An event missing in one run is missing in the result. The exit
// status is the last one that was not 0.
RunCounts merge_runs(std::vector<RunCounts> runs);

}  // namespace loft::sample
