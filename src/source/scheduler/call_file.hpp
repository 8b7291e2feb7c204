// Calls of functions kept as a recording: a perf.data with the program's tasks, and what is known
// of calls in a header section of loft's own, which other readers skip.
//
//   LOFT_CHECK(write_calls("calls.data", run, {"0.1", {"loft", "call"}, {}}));
#pragma once

#include <string>

#include "base/result.hpp"
#include "sample/calls.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {

[[nodiscard]] Result<void> write_calls(const std::string& path, const sample::CallRun& run,
                                       RecordingFacts facts);

}  // namespace loft::source::scheduler
