// The steps of a histogram with a bounded relative error: eight of equal width between two powers
// of two, so none is wider than an eighth of what lies in it. Values below eight have steps of
// their own.
//
//   counts[log_linear_step(value)] += 1;          // four or five instructions
//   use(log_linear_low(step), log_linear_high(step));   // the smallest and the largest value of one
//
// Nothing here needs a library: code without a libc uses it, too.
#pragma once

#include <cstdint>

namespace loft {

inline constexpr unsigned kLogLinearBits = 3;
inline constexpr std::uint32_t kLogLinearSteps = (64 - kLogLinearBits + 1) << kLogLinearBits;

// For every value of 64 bits, below kLogLinearSteps.
[[nodiscard]] constexpr inline std::uint32_t log_linear_step(std::uint64_t value) {
  constexpr std::uint64_t kExact = 1u << kLogLinearBits;
  if (value < kExact) return static_cast<std::uint32_t>(value);
  const auto power = static_cast<std::uint32_t>(63 - __builtin_clzll(value));
  const std::uint32_t shift = power - kLogLinearBits;
  return (shift << kLogLinearBits) + static_cast<std::uint32_t>(value >> shift);
}

// The smallest value of a step.
[[nodiscard]] constexpr inline std::uint64_t log_linear_low(std::uint32_t step) {
  constexpr std::uint32_t kExact = 1u << kLogLinearBits;
  if (step < kExact) return step;
  const std::uint32_t shift = (step >> kLogLinearBits) - 1;
  return static_cast<std::uint64_t>(kExact + (step & (kExact - 1))) << shift;
}

// The largest value of a step.
[[nodiscard]] constexpr inline std::uint64_t log_linear_high(std::uint32_t step) {
  return step + 1 == kLogLinearSteps ? ~std::uint64_t{0} : log_linear_low(step + 1) - 1;
}

}  // namespace loft
