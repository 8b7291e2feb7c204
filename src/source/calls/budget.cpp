#ifdef LOFT_HAS_ENGINE

#include "source/calls/budget.hpp"

#include <algorithm>

#include "source/tick_clock.hpp"

namespace loft::source::calls {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kShortest = 1ms;  // a share of less says nothing
constexpr double kWithoutClock = 5;     // nanoseconds that frames and sums take
constexpr double kCountAlone = 1;

}  // namespace

std::vector<OverBudget> Budget::look(const std::vector<std::uint64_t>& calls,
                                     Nanoseconds cpu_time) {
  std::vector<OverBudget> over;
  const Nanoseconds passed = cpu_time - time_before_;
  if (passed < kShortest) return over;
  before_.resize(std::max(before_.size(), calls.size()));
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const std::uint64_t more = calls[i] - std::min(calls[i], before_[i]);
    const double share =
        static_cast<double>(more) * nanoseconds_per_call_ / static_cast<double>(passed.count());
    if (share > share_) over.push_back({i, share});
  }
  before_ = calls;
  time_before_ = cpu_time;
  return over;
}

double cost_of_clock() {
  constexpr int kRounds = 20;
  constexpr int kReads = 200;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Nanoseconds begin = now();
    for (int i = 0; i < kReads; ++i) {
      const std::uint64_t ticks = read_ticks();
      asm volatile("" : : "r"(ticks));
    }
    const double each = static_cast<double>((now() - begin).count()) / kReads;
    best = round == 0 ? each : std::min(best, each);
  }
  return best;
}

double cost_of_call(bool only_counts) {
  return only_counts ? kCountAlone : 2 * cost_of_clock() + kWithoutClock;
}

}  // namespace loft::source::calls

#endif
