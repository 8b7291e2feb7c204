// What a recording counted, as the same outcome that a live run has.
//
//   LOFT_TRY(const auto recording, Recording::open("perf.data"));
//   const sample::RunCounts counts = count_recording(*recording);
//
// `perf stat record` keeps the counts themselves, with -I those of each interval. `perf record`
// keeps samples. Where these carry the counters' readings, the last one of each counter is what was
// counted until then; else the periods of an event's samples add up to an estimate of its count.
// Both are estimates of the whole run, and said to be.
#pragma once

#include "sample/counting.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

// Whether a file or folder is a recording, by its first bytes. Fails when it cannot be read.
[[nodiscard]] Result<bool> is_recording(const std::string& path);

[[nodiscard]] sample::RunCounts count_recording(const Recording& recording);

}  // namespace loft::source
