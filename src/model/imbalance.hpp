// How evenly work is spread over the ranks of a job.
//
//   imbalance(loads)      // 0.25: the slowest rank has a quarter more than the mean
//   stragglers(loads)     // indices of ranks far above all others
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace loft::model {

// The largest over the mean, less 1: the share of the mean that all others wait for. Nothing
// without loads, or where all are 0.
[[nodiscard]] std::optional<double> imbalance(std::span<const double> loads);

// Of no values: nothing.
[[nodiscard]] std::optional<double> median(std::vector<double> values);

// A straggler has more than the median by kLeastExcess of it, and by kDeviations times the usual
// spread, which is taken from the middle of the loads so that stragglers do not hide themselves.
inline constexpr double kLeastExcess = 0.1;
inline constexpr double kDeviations = 5;
// Loads that were sampled, each sample standing for `sample`, are not known better than by the
// square root of their number: less than kSamplingDeviations of that are chance.
inline constexpr double kSamplingDeviations = 3;
[[nodiscard]] std::vector<std::size_t> stragglers(std::span<const double> loads, double sample = 0);

}  // namespace loft::model
