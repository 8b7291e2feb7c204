// A real number that stays an exact integer as long as it is one.
//
// Counters are 64 bits wide and doubles have 53: sums, differences, products and exact quotients of
// counts are kept in 128-bit integers and become doubles only when they no longer fit. An operation
// without a result (x/0, 0^-1, an overflow of double) gives nothing, never a stand-in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loft::metric {

__extension__ typedef __int128 Wide;

class Number {
 public:
  constexpr Number() = default;
  static constexpr Number integer(Wide value) { return Number(value); }
  static constexpr Number of(std::uint64_t value) { return Number(static_cast<Wide>(value)); }
  static Number real(double value);  // an integer when it is one that double holds exactly

  [[nodiscard]] bool is_integer() const { return exact_; }
  [[nodiscard]] Wide as_integer() const { return integer_; }
  [[nodiscard]] double as_double() const { return exact_ ? static_cast<double>(integer_) : real_; }
  [[nodiscard]] bool is_zero() const { return exact_ ? integer_ == 0 : real_ == 0; }

 private:
  constexpr explicit Number(Wide value) : integer_(value) {}

  Wide integer_ = 0;
  double real_ = 0;
  bool exact_ = true;
};

// "123", "-1.5e-5", "0x1F", "1.E-06". Integers of up to 38 digits are exact.
std::optional<Number> parse_number(std::string_view text);

// All digits of an integer, the shortest text that reads back as the same double otherwise.
std::string to_string(const Number& number);

std::optional<Number> add(const Number& a, const Number& b);
std::optional<Number> subtract(const Number& a, const Number& b);
std::optional<Number> multiply(const Number& a, const Number& b);
std::optional<Number> divide(const Number& a, const Number& b);
std::optional<Number> remainder(const Number& a, const Number& b);
std::optional<Number> power(const Number& a, const Number& b);
Number negate(const Number& a);

// -1, 0, 1; exact between integers.
int compare(const Number& a, const Number& b);

}  // namespace loft::metric
