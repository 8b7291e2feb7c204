// A recording by the virtual PMU (`loft record --source virtual`) under the roofs.
//
//   if (is_counted(*recording)) LOFT_TRY(const CountedRun run, read_counted(*recording));
//
// What was done is exact, per thread, function and slice. Times are estimates: that of the run
// under the virtual PMU, within a slice shared by instructions, less what the engine is known to
// add.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// Whether it holds all events that a roofline rests on.
[[nodiscard]] bool is_counted(const source::Recording& recording);

struct CountedRun {
  std::vector<std::string> command;
  int exit_status = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::size_t threads = 0;
  std::vector<model::Subject> subjects;
  std::vector<std::string> notes;
};
[[nodiscard]] Result<CountedRun> read_counted(const source::Recording& recording);

}  // namespace loft::cli
