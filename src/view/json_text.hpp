// JSON written straight into a text, for outputs that are too long to build as a tree first.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace loft::view {

// A quoted string. What is not UTF-8 is replaced; '<' is escaped, so that the text stays harmless
// inside a page.
void append_json_text(std::string& out, std::string_view text);

inline std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

inline void append_number(std::string& out, std::uint64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

inline void append_hex(std::string& out, std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  char text[16];
  int at = 16;
  do {
    text[--at] = kDigits[value & 15];
    value >>= 4;
  } while (value != 0);
  out.append(text + at, static_cast<std::size_t>(16 - at));
}

}  // namespace loft::view
