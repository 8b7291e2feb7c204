// Streams of line numbers for tests: a mixture of reuse, runs and far jumps.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace loft::core {

struct StreamedLine {
  std::uint64_t line = 0;
  bool is_store = false;
};

inline std::vector<StreamedLine> random_lines(std::size_t count, std::uint64_t span,
                                              std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<StreamedLine> lines;
  std::uint64_t at = 0;
  while (lines.size() < count) {
    const auto what = random() % 8;
    if (what == 0)
      at = random() % span;
    else if (what < 4)
      at = (at + 1) % span;
    else
      at = (at + random() % 16) % (span / 4 + 1);
    lines.push_back({at, random() % 3 == 0});
  }
  return lines;
}

}  // namespace loft::core
