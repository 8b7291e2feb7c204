// Whole files: read with a bound, written so that a reader sees the old or the new, never a half.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

inline constexpr std::size_t kDefaultFileLimit = 64u << 20;

// The bytes of a file, pseudo files of /proc and /sys included. More than `limit` is an error.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = kDefaultFileLimit);

// Opens a file, pipe or device to read from it. A named pipe that nobody has opened for writing is
// an error after `patience`, where open(2) would wait for ever.
[[nodiscard]] Result<Fd> open_input(const std::string& path,
                                    std::chrono::milliseconds patience = std::chrono::seconds(5));

// The first line without its end, for the one-value files of /sys and /proc.
[[nodiscard]] Result<std::string> read_line(const std::string& path);

// FileReplacement for a text that is at hand, with the folders it needs. On failure what was there
// stays as it was.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view content);

// All bytes, however many calls it takes. `path` is what an error names.
[[nodiscard]] Result<void> write_all(const Fd& fd, std::string_view text, const std::string& path);
[[nodiscard]] Result<void> write_all_at(const Fd& fd, std::uint64_t offset, Bytes bytes,
                                        const std::string& path);

// Names in a directory, sorted, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> list_directory(const std::string& path);

bool file_exists(const std::string& path);

// "/etc" and "passwd" give "/etc/passwd"; an empty side gives the other.
std::string join_path(std::string_view left, std::string_view right);

}  // namespace loft
