// Lets a prepared run go and follows it to its end: intervals, signals, exit status.
//
// SIGINT and SIGTERM do not end loft while a program runs: they reach the program (a signal that
// was sent to loft alone is passed on), and what was counted until its end is reported.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source {

struct WatchOptions {
  std::optional<Nanoseconds> interval;
  // Called at the end of each interval with what was counted in it.
  std::function<void(const sample::IntervalCounts&)> on_interval;
  // Called with the reason when a part of the program was not counted. Without it that is an error,
  // and there are no counts.
  std::function<void(const Error&)> on_incomplete;
};

// Runs to the end of the program, of all watched processes, or to a signal.
[[nodiscard]] Result<sample::RunCounts> watch(CountingRun& run, const CountRequest& request,
                                              const WatchOptions& options);

}  // namespace loft::source
