// Where the levels of the memory hierarchy end, found in the cost of an access at each size.
#pragma once

#include <cstdint>
#include <vector>

#include "model/machine_model.hpp"

namespace loft::machine {

struct Plateau {
  std::uint64_t first = 0;  // the smallest and
  std::uint64_t last = 0;   // the largest size with about the same cost
  double latency_ns = 0;
};

// The flat stretches of latency over size, smallest first; the last one is memory. Noise only ever
// adds to a latency and a larger set is never quicker, so each point is first lowered to the least
// of those behind it.
std::vector<Plateau> find_plateaus(const std::vector<model::SweepPoint>& sweep);

// The levels with their names, what the system claims of each, and the size to test each with:
// inside its knee, and well beyond the knee of the level before. A level that is claimed but shows
// no plateau of its own is kept, marked as not found.
std::vector<model::Level> levels_of(const std::vector<Plateau>& plateaus,
                                    const std::vector<model::Cache>& claimed,
                                    std::uint64_t memory_test_bytes);

}  // namespace loft::machine
