// Which thread ran on which CPU when, from the switch records of a recording.
//
//   for (const RunSlice& slice : read_schedule(*recording)) ...
#pragma once

#include <vector>

#include "source/file/recording.hpp"

namespace loft::source {

struct RunSlice {
  std::uint32_t tid = 0;
  std::optional<std::uint32_t> cpu;  // nothing where the recording does not say
  std::uint64_t start = 0;           // of the recording's clock
  std::uint64_t end = 0;
};

// In order of their ends; empty when the recording has no switch records or they do not say who
// and when. A thread whose first record is that it stopped ran since its birth, or since the
// recording began; one that never stopped ran to its end; a slice of which a record in between is
// missing is left out. The idle task is no thread.
[[nodiscard]] std::vector<RunSlice> read_schedule(const Recording& recording);

}  // namespace loft::source
