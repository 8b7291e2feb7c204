// From what a rank measured to its summary.
//
//   RankSummary summary;
//   summary.rank = rank;
//   LOFT_CHECK(add_recording(*recording, summary));       // functions by their samples
//   add_counts(run_counts, summary);                      // or totals, and functions where known
#pragma once

#include "base/result.hpp"
#include "job/summary.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"
#include "source/file/recording.hpp"

namespace loft::job {

[[nodiscard]] Result<void> add_recording(const source::Recording& recording, RankSummary& summary);
void add_counts(const sample::RunCounts& counts, RankSummary& summary);
// Time, operations, bytes and instructions of the run and of each function.
void add_subjects(std::span<const model::Subject> subjects, sample::Origin time,
                  RankSummary& summary);

// The names of the columns that the last one makes.
inline constexpr std::string_view kTimeColumn = "task-clock";
inline constexpr std::string_view kEstimatedTimeColumn = "estimated-time";
inline constexpr std::string_view kBytesColumn = "bytes";

}  // namespace loft::job
