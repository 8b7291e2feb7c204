#include "metric/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace loft::metric {
namespace {

constexpr double kExactLimit = 9007199254740992.0;  // 2^53: below, double holds every integer

std::optional<Number> finite(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return Number::real(value);
}

// The quotient of two wide integers, rounded once more finely than double.
double quotient(Wide a, Wide b) {
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

std::optional<Wide> integer_power(Wide base, Wide exponent) {
  Wide result = 1;
  // Anything but -1, 0 and 1 overflows 128 bits within 127 steps.
  if (base == 1 || exponent == 0) return 1;
  if (base == 0) return 0;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (Wide i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

std::optional<Wide> parse_decimal(std::string_view digits) {
  Wide value = 0;
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, Wide{10}, &value) ||
        __builtin_add_overflow(value, Wide{c - '0'}, &value))
      return std::nullopt;
  }
  return value;
}

}  // namespace

Number Number::real(double value) {
  if (std::fabs(value) < kExactLimit && value == std::floor(value))
    return Number(static_cast<Wide>(value));
  Number number;
  number.real_ = value;
  number.exact_ = false;
  return number;
}

std::optional<Number> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !(text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) return std::nullopt;
  std::optional<Number> number;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    if (const auto value = parse_u64(text)) number = Number::of(*value);
  } else if (const auto whole = parse_decimal(text)) {
    number = Number::integer(*whole);
  } else if (const auto value = parse_double(text); value && std::isfinite(*value)) {
    number = Number::real(*value);
  }
  if (number && negative) number = negate(*number);
  return number;
}

std::string to_string(const Number& number) {
  if (!number.is_integer()) return fmt::format("{}", number.as_double());
  Wide rest = number.as_integer();
  if (rest == 0) return "0";
  const bool negative = rest < 0;
  std::string digits;
  while (rest != 0) {
    const int digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    rest /= 10;
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<Number> add(const Number& a, const Number& b) {
  Wide sum = 0;
  if (a.is_integer() && b.is_integer() &&
      !__builtin_add_overflow(a.as_integer(), b.as_integer(), &sum))
    return Number::integer(sum);
  return finite(a.as_double() + b.as_double());
}

std::optional<Number> subtract(const Number& a, const Number& b) {
  Wide difference = 0;
  if (a.is_integer() && b.is_integer() &&
      !__builtin_sub_overflow(a.as_integer(), b.as_integer(), &difference))
    return Number::integer(difference);
  return finite(a.as_double() - b.as_double());
}

std::optional<Number> multiply(const Number& a, const Number& b) {
  Wide product = 0;
  if (a.is_integer() && b.is_integer() &&
      !__builtin_mul_overflow(a.as_integer(), b.as_integer(), &product))
    return Number::integer(product);
  return finite(a.as_double() * b.as_double());
}

std::optional<Number> divide(const Number& a, const Number& b) {
  if (b.is_zero()) return std::nullopt;
  if (!a.is_integer() || !b.is_integer()) return finite(a.as_double() / b.as_double());
  if (b.as_integer() == -1) return negate(a);
  if (a.as_integer() % b.as_integer() == 0) return Number::integer(a.as_integer() / b.as_integer());
  return finite(quotient(a.as_integer(), b.as_integer()));
}

std::optional<Number> remainder(const Number& a, const Number& b) {
  if (b.is_zero()) return std::nullopt;
  if (!a.is_integer() || !b.is_integer()) return finite(std::fmod(a.as_double(), b.as_double()));
  if (b.as_integer() == -1) return Number::integer(0);
  return Number::integer(a.as_integer() % b.as_integer());
}

std::optional<Number> power(const Number& a, const Number& b) {
  if (a.is_zero() && compare(b, Number::integer(0)) < 0) return std::nullopt;
  if (a.is_integer() && b.is_integer() && b.as_integer() >= 0) {
    if (const auto exact = integer_power(a.as_integer(), b.as_integer()))
      return Number::integer(*exact);
  }
  return finite(std::pow(a.as_double(), b.as_double()));
}

Number negate(const Number& a) {
  Wide negative = 0;
  if (a.is_integer() && !__builtin_sub_overflow(Wide{0}, a.as_integer(), &negative))
    return Number::integer(negative);
  return Number::real(-a.as_double());
}

int compare(const Number& a, const Number& b) {
  if (a.is_integer() && b.is_integer())
    return (a.as_integer() > b.as_integer()) - (a.as_integer() < b.as_integer());
  const double left = a.as_double();
  const double right = b.as_double();
  return (left > right) - (left < right);
}

}  // namespace loft::metric
