// Counts a request from beginning to end: each event by the source that has it, in as many runs of
// the program as there are sources, as one result.
//
//   LOFT_TRY(const sample::RunCounts run, count(request, options));
//   run.events[i]                    // of request.events[i]; missing, with its reason, if need be
#pragma once

#include <functional>
#include <optional>

#include "base/result.hpp"
#include "source/choice/sources.hpp"

namespace loft::source {

struct CountOptions {
  std::optional<sample::Source> only;
  std::optional<Nanoseconds> interval;
  // Called at the end of each interval; `frame` has the events as they are counted.
  std::function<void(const sample::RunCounts& frame, const sample::IntervalCounts& interval)>
      on_interval;
  // Called with the reason when a part of the program was not counted. Without it that is an error,
  // and there are no counts.
  std::function<void(const Error&)> on_incomplete;
  // Also read the machine's energy meters, in the native run.
  bool with_energy = false;
  // What the program gets as its input and outputs in the first of several runs, and in the second.
  // Without it the program is not run twice: one source counts what it has.
  std::function<Result<StandardStreams>(bool is_first)> streams;
};

// `request.groups` is not read: groups are made for each source.
[[nodiscard]] Result<sample::RunCounts> count(const CountRequest& request,
                                              const CountOptions& options);

}  // namespace loft::source
