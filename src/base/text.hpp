// Small tools for text that comes from outside: nothing here allocates for a claim it did not
// check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loft {

// Control characters and bytes that are not UTF-8 become \xNN, so that no name from a file or
// a process can move the cursor, colour the screen or break a line.
std::string printable(std::string_view text);

std::string_view trim(std::string_view text);

// Pieces between separators; "a,,b" has an empty middle, "" has one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(std::span<const std::string> pieces, std::string_view separator);

std::string to_lower(std::string_view text);

// Whether `text` contains `word`, letter case ignored.
bool contains_ignoring_case(std::string_view text, std::string_view word);

// The whole text as a number: decimal, or hexadecimal behind 0x. No sign, no blanks, no overflow.
std::optional<std::uint64_t> parse_u64(std::string_view text);
std::optional<std::uint64_t> parse_hex(std::string_view digits);
std::optional<double> parse_double(std::string_view text);

// Up to `most` of `candidates`, nearest first, that a person may have meant by `word`.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates,
                                 std::size_t most = 3);

}  // namespace loft
