// Counts of every thread of a program on kernels that do not report them: each thread has counters
// of its own, opened before its first instruction, and the total is their sum.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source::perf_events {

// For a command, split by threads.
[[nodiscard]] Result<std::unique_ptr<CountingRun>> prepare_traced(const CountRequest& request);

}  // namespace loft::source::perf_events
