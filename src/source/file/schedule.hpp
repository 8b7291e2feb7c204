// Which thread ran on which CPU when, from the switch records of a recording.
//
//   for (const RunSlice& slice : read_schedule(*recording)) ...
#pragma once

#include <vector>

#include "sample/run_slice.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

using sample::RunSlice;

// In order of their ends; empty when the recording has no switch records or they do not say who
// and when. A thread whose first record is that it stopped ran since its birth, or since the
// recording began; one that never stopped ran to its end; a slice of which a record in between is
// missing is left out. The idle task is no thread.
[[nodiscard]] std::vector<RunSlice> read_schedule(const Recording& recording);

}  // namespace loft::source
