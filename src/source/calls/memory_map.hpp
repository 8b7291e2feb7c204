// What a process has mapped where, and where there is room.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::source::calls {

struct MemoryRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  bool is_code = false;
  std::string path;  // of the file; "[vdso]", "[stack]"; empty
};

[[nodiscard]] Result<std::vector<MemoryRange>> mappings_of(pid_t pid);
[[nodiscard]] std::vector<MemoryRange> parse_mappings(std::string_view text);

// Where `size` bytes can be mapped so that a jump of 32 bits leads from them to all of
// [first, last), and back. Below it where possible: above a program its heap grows.
[[nodiscard]] std::optional<std::uint64_t> find_room(const std::vector<MemoryRange>& mappings,
                                                     std::uint64_t first, std::uint64_t last,
                                                     std::uint64_t size);

}  // namespace loft::source::calls
