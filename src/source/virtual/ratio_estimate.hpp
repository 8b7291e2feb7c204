// Estimates how often something happened in a whole run from windows of it, by the ratio to a
// quantity that is known exactly: executed instructions.
//
//   std::vector<WindowPart> windows;   // what each window saw of a function
//   if (const auto guess = estimate(windows, instructions)) show(guess->low, guess->high);
//
// A window stands for the part of the run around it: its weight is the number of executed
// instructions of the run for each one that it saw. The spread between windows gives the interval
// (jackknife, Student's distribution), what a window could not know its asymmetry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace loft::source::virtual_pmu {

struct WindowPart {
  double weight = 0;
  double instructions = 0;
  double surely = 0;   // events that happened
  double perhaps = 0;  // those, and those that may have happened
};

struct RatioEstimate {
  double surely = 0;
  double perhaps = 0;
  double low = 0;  // 95 %
  double high = 0;
};

// Fewer windows than this say too little about their spread.
inline constexpr std::size_t kFewestWindows = 4;

// `instructions` are all that are estimated, those of the windows too; `grain` is what one event
// counts: 64 where lines are counted as bytes. Nothing: too few windows.
[[nodiscard]] std::optional<RatioEstimate> estimate(std::span<const WindowPart> windows,
                                                    double instructions, double grain = 1);

}  // namespace loft::source::virtual_pmu
