// Errors in text files that people edit, with the place where a person has to look.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace loft::event {

inline constexpr std::size_t kLargestTextFile = 4u << 20;

// "read 'PATH': line 3, column 7: WHY"; both from 1.
inline Failure malformed_at(const std::string& path, std::size_t line, std::size_t column,
                            const std::string& why, std::string hint = {}) {
  return failure(ErrorKind::malformed, "read '" + path + "'",
                 "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + why,
                 std::move(hint));
}

// The column of `part`, which is a piece of `line`.
inline std::size_t column_of(std::string_view line, std::string_view part) {
  return static_cast<std::size_t>(part.data() - line.data()) + 1;
}

}  // namespace loft::event
