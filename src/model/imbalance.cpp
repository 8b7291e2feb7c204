#include "model/imbalance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loft::model {
namespace {

// The standard deviation of a normal distribution over its median absolute deviation.
constexpr double kPerMedianDeviation = 1.4826;
constexpr std::size_t kLeastRanks = 3;  // of two nobody can say which is the odd one

}  // namespace

std::optional<double> imbalance(std::span<const double> loads) {
  if (loads.empty()) return std::nullopt;
  const double mean =
      std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
  if (!(mean > 0)) return std::nullopt;
  return *std::ranges::max_element(loads) / mean - 1;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<std::size_t> stragglers(std::span<const double> loads, double sample) {
  std::vector<std::size_t> found;
  if (loads.size() < kLeastRanks) return found;
  const double middle = *median({loads.begin(), loads.end()});
  std::vector<double> distances;
  for (const double load : loads) distances.push_back(std::abs(load - middle));
  const double spread = kPerMedianDeviation * *median(std::move(distances));
  const double chance = kSamplingDeviations * std::sqrt(middle * sample);
  const double least = std::max({kLeastExcess * middle, kDeviations * spread, chance});
  if (!(middle > 0)) return found;
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (loads[i] - middle > least) found.push_back(i);
  std::ranges::stable_sort(found, std::greater{}, [&](std::size_t i) { return loads[i]; });
  return found;
}

}  // namespace loft::model
