// Units with dimensions, so that bytes are never added to FLOPs.
//
//   LOFT_TRY(const Unit rate, parse_unit("GB/s"));
//   rate.factor                   // 1e9: one GB/s in base units: byte, second, FLOP, joule, kelvin
//   format_value(1.2e10, rate)    // "12.0 GB/s": from base units, with an SI prefix
//
// Counts of anything (instructions, cycles, misses) have no dimension; their words are labels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace loft::metric {

enum class Base : std::uint8_t { second, byte, flop, joule, kelvin };
inline constexpr std::size_t kBases = 5;

// Powers of the base units: bytes per second is {second: -1, byte: 1}.
struct Dimension {
  std::array<std::int8_t, kBases> powers{};

  bool operator==(const Dimension&) const = default;
  [[nodiscard]] bool is_plain() const { return *this == Dimension{}; }

  // Powers saturate at ±100, far beyond any real unit.
  [[nodiscard]] Dimension times(const Dimension& other, int sign = 1) const;
  [[nodiscard]] Dimension to_the(int power) const;
};

// "B/s", "1" for none: for messages.
std::string to_string(const Dimension& dimension);

struct Unit {
  Dimension dimension;
  double factor = 1;  // what one of it is in base units: 1e9 for GB, 0.01 for %
  std::string text;   // as written: "GB/s", "%", "instr/cycle"
};

// "GB/s", "1/s", "FLOP/B", "instr/cycle", "%", "J", "W", "Hz", "MBytes/s"; "" has no dimension.
[[nodiscard]] Result<Unit> parse_unit(std::string_view text);

// A value in base units as a person reads it: SI prefixes for dimensions, percent, plain ratios.
std::string format_value(double base_value, const Unit& unit);

// A number without a unit: counts keep their digits, ratios get four.
std::string format_plain(double value);

}  // namespace loft::metric
