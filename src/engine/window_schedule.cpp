#include "engine/window_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace loft::engine {
namespace {

// A pause is about four times the window before it, or a twenty-fifth of the run so far. At first
// it is short, and each is longer than the one before.
constexpr double kPausePerCost = 4;
constexpr double kQuickPause = 2e6;  // nanoseconds
constexpr double kQuickGrowth = 1.5;
constexpr double kMostBusy = 50;  // times that a busy machine makes everything slower
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
  return has_budget() && now >= next_;
}

void WindowSchedule::add_cost(Nanoseconds now, Nanoseconds cost, Nanoseconds cpu) {
  spent_ += cpu;
  const Nanoseconds left = limits_.budget - spent_;
  if (left <= cpu) {  // another one like this would be too much
    spent_ = std::max(spent_, limits_.budget);
    return;
  }
  const double shortage =
      static_cast<double>(limits_.budget.count()) / static_cast<double>(left.count());
  double pause = std::max(kPausePerCost * static_cast<double>(cost.count()),
                          kPausePerRun * static_cast<double>((now - start_).count()));
  const double busy =
      std::max(1.0, static_cast<double>(cost.count()) /
                        static_cast<double>(std::max<std::int64_t>(1, cpu.count())));
  if (++windows_ < limits_.quick)
    pause = kQuickPause * std::min(busy, kMostBusy) * std::pow(kQuickGrowth, windows_ - 1);
  const double jitter = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
  next_ = now + Nanoseconds(static_cast<std::int64_t>(pause * shortage * jitter));
}

}  // namespace loft::engine
