#include "sample/turn_error.hpp"

#include <algorithm>
#include <cmath>

#include "sample/repeat.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kTurn = 10'000'000;  // nanoseconds, the usual length
constexpr std::size_t kFewTurns = 5;

}  // namespace

void TurnError::add(double count, double work, std::uint64_t running_ns) {
  turn_.count += count;
  turn_.work += work;
  turn_ns_ += running_ns;
  if (turn_ns_ < kTurn) return;
  ++turns_;
  sum_.count += turn_.count;
  sum_.work += turn_.work;
  counts_squared_ += turn_.count * turn_.count;
  work_squared_ += turn_.work * turn_.work;
  products_ += turn_.count * turn_.work;
  turn_ = {};
  turn_ns_ = 0;
}

// The variance of a ratio, of turns chosen at random among all of the run.
std::optional<double> TurnError::half_of_interval(double share) const {
  if (turns_ < kFewTurns || !(sum_.count > 0) || !(sum_.work > 0)) return std::nullopt;
  const double ratio = sum_.count / sum_.work;
  const double residuals =
      std::max(0.0, counts_squared_ - 2 * ratio * products_ + ratio * ratio * work_squared_);
  const auto turns = static_cast<double>(turns_);
  const double unseen = std::clamp(1 - share, 0.0, 1.0);
  const double error = std::sqrt(unseen * residuals * turns / (turns - 1)) / sum_.count;
  return student_quantile(turns_ - 1) * error;
}

}  // namespace loft::sample
