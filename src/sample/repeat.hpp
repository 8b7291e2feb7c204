// Several runs of the same program as one: means, and how much they varied.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "sample/counting.hpp"

namespace loft::sample {

// Two-sided 95 % quantile of Student's t for `freedom` degrees of freedom.
[[nodiscard]] double student_quantile(std::size_t freedom);

// Half the 95 % interval of a share that `samples` samples met, relative to the share.
[[nodiscard]] double share_error(double share, std::uint64_t samples);

// Mean, deviation and 95 % interval (Student's t) of at least one value.
Spread spread_of(std::span<const double> values);

// All runs counted the same events. An event missing in one run is missing in the result. The exit
// status is the last one that was not 0.
RunCounts merge_runs(std::vector<RunCounts> runs);

// Runs of the same program that counted different events, the first of them all. An event that
// every run counted equally well is averaged. The others are brought to the mean number of
// instructions, since no two runs are the same length; it is that of the runs that counted them
// without sharing a counter, where there are any. A run in which an event had to share a
// counter is left out when another counted it alone. Fails without a count of instructions.
[[nodiscard]] Result<RunCounts> join_runs(std::vector<RunCounts> runs);

}  // namespace loft::sample
