// JSON written straight into a text, for outputs that are too long to build as a tree first.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

namespace loft::view {

// A quoted string. What is not UTF-8 is replaced; '<' is escaped, so that the text stays harmless
// inside a page.
void append_json_text(std::string& out, std::string_view text);

// Whether a text needs no escapes.
[[nodiscard]] bool is_plain_json(std::string_view text);

inline std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

// These append to a std::string or a TextBuffer.
template <class Text>
void append_number(Text& out, std::uint64_t value) {
  const fmt::format_int digits(value);
  out += std::string_view(digits.data(), digits.size());
}

template <class Text>
void append_signed(Text& out, std::int64_t value) {
  const fmt::format_int digits(value);
  out += std::string_view(digits.data(), digits.size());
}

// Eight hexadecimal digits at once: addresses are most of what a dump of records consists of.
inline void put_hex(std::uint32_t value, char* to) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t digits = value;  // spread until each byte holds one digit
  digits = (digits << 16 | digits) & 0x0000FFFF0000FFFF;
  digits = (digits << 8 | digits) & 0x00FF00FF00FF00FF;
  digits = (digits << 4 | digits) & 0x0F0F0F0F0F0F0F0F;
  const std::uint64_t is_letter = (digits + kOnes * 6) >> 4 & kOnes;
  digits += kOnes * '0' + is_letter * ('a' - '0' - 10);
  if constexpr (std::endian::native == std::endian::little) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof digits);
}

template <class Text>
void append_hex(Text& out, std::uint64_t value) {
  char text[16];
  put_hex(static_cast<std::uint32_t>(value >> 32), text);
  put_hex(static_cast<std::uint32_t>(value), text + 8);
  const std::size_t count = (static_cast<std::size_t>(std::bit_width(value | 1)) + 3) / 4;
  out += std::string_view(text + sizeof text - count, count);
}

}  // namespace loft::view
