// The walk over all headers of a region. Threads walk parts of a long one at once: each finds the
// first record of its part by itself, and where the part before ends elsewhere, that part is walked
// again from there. So the result never depends on the number of threads.
#pragma once

#include <array>
#include <vector>

#include "source/file/recording.hpp"

namespace loft::source {

using TypeCounts = std::array<std::uint64_t, format::perf::kTypeSlots>;  // by slot_of_type()

struct RegionWalk {
  TypeCounts counts{};              // records by type
  std::vector<std::uint64_t> cuts;  // where it can be cut into chunks; the first is 0
  std::vector<std::uint64_t> told;  // where records are that the survey has to read
  std::vector<format::perf::Damage> damages;
  bool found_packed = false;
};

[[nodiscard]] RegionWalk walk_region(const Region& region, const WalkOptions& options,
                                     Progress* progress);

}  // namespace loft::source
