// A roofline from one run alone, under the virtual PMU: for programs that must not run twice, or do
// something else the second time.
//
//   LOFT_TRY(const OnceRun run, run_once(command));
//   run.subjects; run.seconds;
//
// Counts are exact. Times are estimates: while the program runs its counters are read every few
// milliseconds, the time between two readings belongs to its functions by their instructions, and
// what the engine is known to add is taken off.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"

namespace loft::cli {

struct OnceRun {
  sample::RunCounts counts;
  double seconds = 0;      // that the program would have taken natively, estimated
  double cpu_seconds = 0;  // likewise
  std::vector<model::Subject> subjects;
};

[[nodiscard]] Result<OnceRun> run_once(const std::vector<std::string>& command);

}  // namespace loft::cli
