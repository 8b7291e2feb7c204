// A recording by the virtual PMU (`loft record --source virtual`) under the roofs.
//
//   if (is_counted(*recording)) {
//     LOFT_TRY(const CountedRun run, read_counted(*recording));
//     show(run.subjects);
//   }
//
// What was done is exact, per thread, function and slice. Times are estimates: that of the run
// under the virtual PMU, within a slice shared by instructions, less what the engine is known to
// add.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "roof/counted_work.hpp"
#include "roof/work_events.hpp"
#include "source/file/recording.hpp"

namespace loft::roof {

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

// What such a recording says, without the file.
struct VirtualSlice {
  std::size_t thread = 0;   // which of VirtualRun::threads
  std::uint64_t end = 0;    // of the recording's clock
  double run_seconds = 0;   // under the engine
  double instructions = 0;  // which share that time
  Done done;
};
struct VirtualThread {
  std::uint32_t tid = 0;
  std::string name;
  double run_seconds = 0;
  Done done;
};
struct VirtualFunction {
  FunctionKey key;
  Done done;
  double run_seconds = 0;  // by instructions, of the slices in which it ran
  // How much of the instructions of these slices were its own, on average: where that is not nearly
  // all, others shared its time, and it says nothing about the function's rate.
  double own_share = 1;
};
struct VirtualRun {
  std::string name;
  double wall_seconds = 0;  // under the engine
  std::uint64_t start = 0;  // of the recording's clock
  std::vector<VirtualThread> threads;
  std::vector<VirtualFunction> functions;
  std::vector<VirtualSlice> slices;
  std::vector<LoopWork> loops;
};

// The run, its threads, functions, loops and slices, in the time that they would have taken without
// the engine.
[[nodiscard]] std::vector<model::Subject> subjects_of(const VirtualRun& run);

}  // namespace loft::roof
