// Reads /proc/self/maps, line by line.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <cstring>

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

// A hexadecimal number; `text` moves behind it.
inline std::uint64_t parse_hex(const char*& text) {
  std::uint64_t value = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(*text - '0');
    } else if (*text >= 'a' && *text <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(*text - 'a' + 10);
    } else {
      return value;
    }
  }
}

// Calls take(line, size) for each, until it gives false. A line has no newline, but a NUL in its
// place.
template <class Take>
void for_each_map(Take&& take) {
  char buffer[8192];
  const long file = kernel(SYS_open, word("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return;
  std::size_t held = 0;
  for (bool goes_on = true; goes_on && held < sizeof buffer;) {
    const long got = kernel(SYS_read, static_cast<std::uint64_t>(file), word(buffer) + held,
                            sizeof buffer - held);
    if (got <= 0) break;
    held += static_cast<std::size_t>(got);
    char* line = buffer;
    while (char* newline = static_cast<char*>(
               std::memchr(line, '\n', static_cast<std::size_t>(buffer + held - line)))) {
      *newline = '\0';
      goes_on = take(static_cast<const char*>(line), static_cast<std::size_t>(newline - line));
      if (!goes_on) break;
      line = newline + 1;
    }
    held = static_cast<std::size_t>(buffer + held - line);
    std::memmove(buffer, line, held);
  }
  kernel(SYS_close, static_cast<std::uint64_t>(file));
}

}  // namespace loft::engine::runtime
