#include "source/virtual/ratio_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "base/student.hpp"

namespace loft::source::virtual_pmu {
namespace {

struct Sums {
  double events = 0;        // weighted
  double instructions = 0;  // weighted
};

double ratio(const Sums& sums) {
  return sums.instructions > 0 ? sums.events / sums.instructions : 0;
}

// The variance of the ratio: how it changes when a window is left out.
double jackknife(std::span<const WindowPart> windows, double WindowPart::*event, const Sums& all) {
  const double whole = ratio(all);
  double sum = 0, used = 0;
  for (const WindowPart& window : windows) {
    if (window.instructions <= 0) continue;
    ++used;
    const Sums without{all.events - window.weight * window.*event,
                       all.instructions - window.weight * window.instructions};
    const double change = ratio(without) - whole;
    sum += change * change;
  }
  return used > 1 ? sum * (used - 1) / used : 0;
}

}  // namespace

std::optional<RatioEstimate> estimate(std::span<const WindowPart> windows, double instructions,
                                      double grain) {
  Sums surely, perhaps;
  double squares = 0, seen = 0, events = 0;
  std::size_t used = 0;
  for (const WindowPart& window : windows) {
    const double weighted = window.weight * window.instructions;
    surely.events += window.weight * window.surely;
    perhaps.events += window.weight * window.perhaps;
    surely.instructions += weighted;
    squares += weighted * weighted;
    seen += window.instructions;
    events += window.perhaps;
    used += window.instructions > 0;
  }
  perhaps.instructions = surely.instructions;
  if (used < kFewestWindows || squares <= 0) return std::nullopt;
  // Windows of unequal weight count as fewer equal ones.
  const double equal = surely.instructions * surely.instructions / squares;
  const double point = student_point(std::max(1.0, equal - 1));
  // What was seen is known: only the rest is extrapolated.
  const double unseen = std::max(0.0, 1 - seen / instructions);
  const double factor = instructions * std::sqrt(unseen);
  // Few events tell little of how many there are: three may be missed where none was seen.
  const double missed = events > 0 ? 1.96 * std::sqrt(events / grain) : 3.0;
  const double rare = instructions / seen * missed * grain * std::sqrt(unseen);
  const auto half = [&](double WindowPart::*event, const Sums& sums) {
    return std::max(rare, point * factor * std::sqrt(jackknife(windows, event, sums)));
  };
  RatioEstimate result;
  result.surely = ratio(surely) * instructions;
  result.perhaps = ratio(perhaps) * instructions;
  result.low = std::max(0.0, result.surely - half(&WindowPart::surely, surely));
  result.high = result.perhaps + half(&WindowPart::perhaps, perhaps);
  return result;
}

}  // namespace loft::source::virtual_pmu
