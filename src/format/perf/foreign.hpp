// What a file is that is no recording, for people who named the wrong one.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace loft::format::perf {

struct Foreign {
  std::string why;   // "it is compressed with gzip"
  std::string hint;  // what to do
};

// Of any bytes that do not start as a recording does.
[[nodiscard]] Foreign recognize_foreign(std::span<const std::byte> file);

}  // namespace loft::format::perf
