// What one should know of the roofs that points were judged by.
//
//   std::ranges::move(roof_caveats(chart), std::back_inserter(report.notes));
#pragma once

#include <string>
#include <vector>

#include "model/roof_points.hpp"

namespace loft::model {

// Sentences, for people: which roofs above points are noisy, and between which numbers of threads
// those of the run were interpolated. Empty when all were measured well.
std::vector<std::string> roof_caveats(const RoofChart& chart);

}  // namespace loft::model
