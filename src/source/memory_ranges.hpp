// What a process has mapped where, as /proc shows it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft::source {

struct MemoryRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  bool is_code = false;
  std::string path;  // of the file; "[vdso]", "[stack]"; empty
};

[[nodiscard]] Result<std::vector<MemoryRange>> mappings_of(pid_t pid);
[[nodiscard]] std::vector<MemoryRange> parse_mappings(std::string_view text);

}  // namespace loft::source
