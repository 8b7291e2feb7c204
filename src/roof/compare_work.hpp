// The work of two rooflines side by side, by function.
//
//   for (const sample::ComparedTable& table : compare_work(before, after)) show(table);
#pragma once

#include <vector>

#include "roof/counted_work.hpp"
#include "sample/comparison.hpp"

namespace loft::roof {

// Operations, bytes and instructions. Those of the virtual PMU are exact, all others have no
// interval.
[[nodiscard]] std::vector<sample::ComparedTable> compare_work(const CountedWork& before,
                                                              const CountedWork& after);

}  // namespace loft::roof
