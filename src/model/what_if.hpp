// How much faster a whole program would be without a cause: what each function would gain, weighted
// with its time (Amdahl).
//
//   const WhatIf what_if = what_if_of(chart.points);
//   what_if.whole.front()              // {core::Cause::dram_latency, 1.62}
//   what_if.explained                  // 0.93: of the time is in functions that a model explains
//
// Functions that the model does not explain count as if they gained nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/roof_points.hpp"

namespace loft::model {

struct WhatIf {
  using Gains = std::vector<std::pair<core::Cause, double>>;
  Gains whole;           // of the whole program, largest first; those below 1.005 left out
  double explained = 0;  // share of the time in functions that the model explains
  struct Function {
    std::string name;
    std::string binary;
    double share_of_time = 0;
    Gains gains;  // largest first
  };
  std::vector<Function> functions;  // that gain anything, longest first
};

[[nodiscard]] WhatIf what_if_of(const std::vector<RoofPoint>& points);

}  // namespace loft::model
