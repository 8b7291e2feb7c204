#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace loft {
namespace {

// Three significant digits, without an exponent for values below 1000.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string with_separators(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string with_si_prefix(double value, std::string_view unit) {
  struct Prefix {
    double factor;
    std::string_view name;
  };
  static constexpr std::array<Prefix, 10> kPrefixes{{{1e18, "E"},
                                                     {1e15, "P"},
                                                     {1e12, "T"},
                                                     {1e9, "G"},
                                                     {1e6, "M"},
                                                     {1e3, "k"},
                                                     {1, ""},
                                                     {1e-3, "m"},
                                                     {1e-6, "u"},
                                                     {1e-9, "n"}}};
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  const Prefix* chosen = &kPrefixes[6];
  if (value != 0) {
    chosen = &kPrefixes.back();
    for (const Prefix& prefix : kPrefixes) {
      if (std::fabs(value) >= prefix.factor * 0.9995) {
        chosen = &prefix;
        break;
      }
    }
  }
  const std::string suffix = std::string(chosen->name) + std::string(unit);
  const std::string number = three_digits(value / chosen->factor);
  return suffix.empty() ? number : number + " " + suffix;
}

std::string with_binary_prefix(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kNames{"B",   "KiB", "MiB", "GiB",
                                                          "TiB", "PiB", "EiB"};
  std::size_t step = 0;
  double value = static_cast<double>(bytes);
  const auto shown = [&] {
    return value == std::floor(value) ? value : std::round(value * 10) / 10;
  };
  while (shown() >= 1024 && step + 1 < kNames.size()) {
    value /= 1024;
    ++step;
  }
  const bool whole = value == std::floor(value);
  return fmt::format("{:.{}f} {}", shown(), whole ? 0 : 1, kNames[step]);
}

std::string format_seconds(double seconds) { return with_si_prefix(seconds, "s"); }

}  // namespace loft
