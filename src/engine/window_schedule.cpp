#include "engine/window_schedule.hpp"

#include <algorithm>

namespace loft::engine {
namespace {

// A pause is about four times the window before it, or a twenty-fifth of the run so far; at first a
// quarter of the window.
constexpr double kPausePerCost = 4;
constexpr double kQuickPausePerCost = 0.25;
constexpr double kPausePerRun = 0.04;

}  // namespace

WindowSchedule::WindowSchedule(const WindowLimits& limits)
    : limits_(limits), random_(limits.seed) {}

bool WindowSchedule::is_due(Nanoseconds now) {
  if (!has_started_) {
    has_started_ = true;
    start_ = now;
    next_ = now + limits_.first;
  }
  return spent_ < limits_.budget && now >= next_;
}

void WindowSchedule::add_cost(Nanoseconds now, Nanoseconds cost) {
  spent_ += cost;
  const Nanoseconds left = limits_.budget - spent_;
  if (left <= cost) {  // another one like this would be too much
    spent_ = std::max(spent_, limits_.budget);
    return;
  }
  const double shortage =
      static_cast<double>(limits_.budget.count()) / static_cast<double>(left.count());
  const double per_cost = ++windows_ < limits_.quick ? kQuickPausePerCost : kPausePerCost;
  const double pause = std::max(per_cost * static_cast<double>(cost.count()),
                                kPausePerRun * static_cast<double>((now - start_).count()));
  const double jitter = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
  next_ = now + Nanoseconds(static_cast<std::int64_t>(pause * shortage * jitter));
}

}  // namespace loft::engine
