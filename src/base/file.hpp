// Whole files: read with a bound, written so that a reader sees the old or the new, never a half.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft {

inline constexpr std::size_t kDefaultFileLimit = 64u << 20;

// The bytes of a file, pseudo files of /proc and /sys included. More than `limit` is an error.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = kDefaultFileLimit);

// The first line without its end, for the one-value files of /sys and /proc.
[[nodiscard]] Result<std::string> read_line(const std::string& path);

// What a result called `path` really goes to: a link is followed. A name for something that is no
// file (/dev/null, a pipe) cannot be replaced, only written to: then this gives false.
struct Destination {
  std::string path;
  bool can_be_replaced = true;
};
Destination destination_of(const std::string& path);

// Writes beside `path` and renames over it; on failure what was there stays as it was.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view content);

// Names in a directory, sorted, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> list_directory(const std::string& path);

bool file_exists(const std::string& path);

// "/etc" and "passwd" give "/etc/passwd"; an empty side gives the other.
std::string join_path(std::string_view left, std::string_view right);

}  // namespace loft
