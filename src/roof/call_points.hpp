// Each call of functions as a point under the roofs: what it did, how long it took, and when.
//
//   LOFT_TRY(const sample::CallRun run, measure_call_points({"solve*"}, {"./app"}));
//   place_calls(run, machine, report);
//
// The calls take the place of the report's slices of time.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_report.hpp"
#include "sample/calls.hpp"

namespace loft::roof {

// Operations and bytes of every call, and its time, in two more runs of the program.
[[nodiscard]] Result<sample::CallRun> measure_call_points(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& command);

// A call whose counts are not known has no place; a note says how many those are.
void place_calls(const sample::CallRun& run, const model::Machine& machine,
                 model::RoofReport& report);

}  // namespace loft::roof
