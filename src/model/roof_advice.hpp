// What the numbers of a roofline prove, in a sentence or two. A point below a roof proves nothing
// about what holds it back; one that reaches the top of what the machine can do does.
#pragma once

#include <string>

#include "model/roof_points.hpp"

namespace loft::model {

// About the function that takes most of the time, or the run where there is none.
[[nodiscard]] std::string advice(const RoofChart& chart);

}  // namespace loft::model
