#include "metric/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "base/units.hpp"

namespace loft::metric {
namespace {

constexpr Dimension of(std::int8_t second, std::int8_t byte = 0, std::int8_t flop = 0,
                       std::int8_t joule = 0, std::int8_t kelvin = 0) {
  return Dimension{{second, byte, flop, joule, kelvin}};
}

struct Word {
  std::string_view text;
  Dimension dimension;
  double factor;
  bool takes_prefix;
};

constexpr Word kWords[] = {
    {"1", {}, 1, false},
    {"%", {}, 0.01, false},
    {"percent", {}, 0.01, false},
    {"s", of(1), 1, true},
    {"sec", of(1), 1, true},
    {"second", of(1), 1, false},
    {"seconds", of(1), 1, false},
    {"min", of(1), 60, false},
    {"B", of(0, 1), 1, true},
    {"byte", of(0, 1), 1, true},
    {"bytes", of(0, 1), 1, true},
    {"Byte", of(0, 1), 1, true},
    {"Bytes", of(0, 1), 1, true},
    {"bit", of(0, 1), 0.125, true},
    {"bits", of(0, 1), 0.125, true},
    {"FLOP", of(0, 0, 1), 1, true},
    {"FLOPs", of(0, 0, 1), 1, true},
    {"Flop", of(0, 0, 1), 1, true},
    {"flop", of(0, 0, 1), 1, true},
    {"FLOPS", of(-1, 0, 1), 1, true},
    {"J", of(0, 0, 0, 1), 1, true},
    {"Joule", of(0, 0, 0, 1), 1, true},
    {"Joules", of(0, 0, 0, 1), 1, true},
    {"W", of(-1, 0, 0, 1), 1, true},
    {"Watt", of(-1, 0, 0, 1), 1, true},
    {"Watts", of(-1, 0, 0, 1), 1, true},
    {"Hz", of(-1), 1, true},
    {"K", of(0, 0, 0, 0, 1), 1, true},
    {"C", of(0, 0, 0, 0, 1), 1, false},
};

// What is counted rather than measured: any of these is a plain number.
constexpr std::string_view kLabels[] = {
    "instr", "instruction", "inst",  "insn",   "cycle",   "clock",  "uop",    "UOP",
    "event", "count",       "miss",  "access", "hit",     "branch", "op",     "OP",
    "slot",  "ratio",       "call",  "line",   "request", "page",   "thread", "core",
    "load",  "store",       "fault", "switch", "walk",    "sample", "packet", "transfer"};

struct Prefix {
  std::string_view text;
  double factor;
};

constexpr Prefix kPrefixes[] = {{"Ki", 1024.0},
                                {"Mi", 1024.0 * 1024},
                                {"Gi", 1024.0 * 1024 * 1024},
                                {"Ti", 1024.0 * 1024 * 1024 * 1024},
                                {"n", 1e-9},
                                {"u", 1e-6},
                                {"µ", 1e-6},
                                {"m", 1e-3},
                                {"k", 1e3},
                                {"K", 1e3},
                                {"M", 1e6},
                                {"G", 1e9},
                                {"T", 1e12},
                                {"P", 1e15}};

const Word* find_word(std::string_view text) {
  const auto* found = std::ranges::find(kWords, text, &Word::text);
  return found == std::end(kWords) ? nullptr : found;
}

bool is_label(std::string_view text) {
  for (const std::string_view ending : {"", "s", "es", "S"}) {
    if (!text.ends_with(ending)) continue;
    const std::string_view stem = text.substr(0, text.size() - ending.size());
    if (std::ranges::find(kLabels, stem) != std::end(kLabels)) return true;
  }
  return false;
}

struct Factor {
  Dimension dimension;
  double factor = 1;
};

std::optional<Factor> parse_word(std::string_view text) {
  if (const Word* word = find_word(text)) return Factor{word->dimension, word->factor};
  if (is_label(text)) return Factor{};
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::string_view rest = text.substr(prefix.text.size());
    const Word* word = find_word(rest);
    if (word != nullptr && word->takes_prefix)
      return Factor{word->dimension, prefix.factor * word->factor};
    if (is_label(rest)) return Factor{{}, prefix.factor};
  }
  return std::nullopt;
}

// "s^2", "s2" is not accepted: a digit may belong to a name.
std::optional<Factor> parse_power(std::string_view text) {
  const auto caret = text.find('^');
  auto factor = parse_word(trim(text.substr(0, caret)));
  if (!factor || caret == std::string_view::npos) return factor;
  const auto power = parse_u64(trim(text.substr(caret + 1)));
  if (!power || *power == 0 || *power > 9) return std::nullopt;
  const int exponent = static_cast<int>(*power);
  return Factor{factor->dimension.to_the(exponent), std::pow(factor->factor, exponent)};
}

// The unit that a prefix is put before: "B/s" of "GB/s", "W" of "mW".
std::string base_symbol(const Dimension& dimension) {
  if (dimension == of(-1, 0, 0, 1)) return "W";
  return to_string(dimension);
}

}  // namespace

Dimension Dimension::times(const Dimension& other, int sign) const {
  Dimension product;
  for (std::size_t i = 0; i < kBases; ++i)
    product.powers[i] =
        static_cast<std::int8_t>(std::clamp(powers[i] + sign * other.powers[i], -100, 100));
  return product;
}

Dimension Dimension::to_the(int power) const {
  Dimension product;
  for (std::size_t i = 0; i < kBases; ++i)
    product.powers[i] =
        static_cast<std::int8_t>(std::clamp(static_cast<long>(powers[i]) * power, -100L, 100L));
  return product;
}

std::string to_string(const Dimension& dimension) {
  static constexpr std::array<std::string_view, kBases> kSymbols{"s", "B", "FLOP", "J", "K"};
  std::string above;
  std::string below;
  const auto append = [](std::string& out, std::string_view separator, std::string_view symbol,
                         int power) {
    if (!out.empty()) out += separator;
    out += symbol;
    if (power > 1) out += fmt::format("^{}", power);
  };
  for (std::size_t i = 0; i < kBases; ++i) {
    const int power = dimension.powers[i];
    if (power > 0) append(above, "*", kSymbols[i], power);
    if (power < 0) append(below, "/", kSymbols[i], -power);
  }
  if (below.empty()) return above.empty() ? "1" : above;
  return (above.empty() ? "1" : above) + "/" + below;
}

Result<Unit> parse_unit(std::string_view text) {
  Unit unit;
  unit.text = std::string(trim(text));
  std::string_view rest = unit.text;
  int sign = 1;
  while (!rest.empty()) {
    const auto end = rest.find_first_of("*/");
    const auto factor = parse_power(rest.substr(0, end));
    if (!factor)
      return failure(ErrorKind::invalid_input, fmt::format("read the unit '{}'", unit.text),
                     fmt::format("'{}' is no unit that loft knows", trim(rest.substr(0, end))),
                     "known are s, B, FLOP, J, W, Hz, K, %, counts such as instr or cycle, "
                     "SI prefixes, * / and ^");
    unit.dimension = unit.dimension.times(factor->dimension, sign);
    unit.factor *= sign > 0 ? factor->factor : 1 / factor->factor;
    if (end == std::string_view::npos) break;
    sign = rest[end] == '/' ? -1 : 1;
    rest.remove_prefix(end + 1);
    if (rest.empty())
      return failure(ErrorKind::invalid_input, fmt::format("read the unit '{}'", unit.text),
                     "it ends with an operator");
  }
  return unit;
}

std::string format_plain(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) {
    const std::string digits = with_separators(static_cast<std::uint64_t>(std::fabs(value)));
    return value < 0 ? "-" + digits : digits;
  }
  return fmt::format("{:.4g}", value);
}

std::string format_value(double base_value, const Unit& unit) {
  if (!unit.dimension.is_plain()) return with_si_prefix(base_value, base_symbol(unit.dimension));
  const std::string number = format_plain(base_value / unit.factor);
  return unit.text.empty() || unit.text == "1" ? number : number + " " + unit.text;
}

}  // namespace loft::metric
