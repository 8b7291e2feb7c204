// From what a rank measured to its summary.
//
//   RankSummary summary;
//   summary.rank = rank;
//   LOFT_CHECK(add_recording(*recording, summary));       // functions by their samples
//   add_counts(run_counts, summary);                      // or totals, and functions where known
#pragma once

#include <map>
#include <span>

#include "base/result.hpp"
#include "job/summary.hpp"
#include "model/roof_points.hpp"
#include "sample/calls.hpp"
#include "sample/counting.hpp"
#include "source/file/recording.hpp"

namespace loft::job {

[[nodiscard]] Result<void> add_recording(const source::Recording& recording, RankSummary& summary);
// Of a recording of many processes, what those of each rank did; others are left out.
// `rank_of` has the place in `summaries` by process.
[[nodiscard]] Result<void> add_recording_of_node(
    const source::Recording& recording, const std::map<std::uint32_t, std::size_t>& rank_of,
    std::span<RankSummary> summaries);
void add_counts(const sample::RunCounts& counts, RankSummary& summary);
// Time, operations, bytes and instructions of the run and of each function.
void add_subjects(std::span<const model::Subject> subjects, sample::Origin time,
                  RankSummary& summary);
// How often each watched function was called, and its own part of what its calls took.
void add_calls(const sample::CallRun& run, RankSummary& summary);

// The names of columns that are made here.
inline constexpr std::string_view kTimeColumn = "task-clock";
inline constexpr std::string_view kEstimatedTimeColumn = "estimated-time";
inline constexpr std::string_view kBytesColumn = "bytes";
inline constexpr std::string_view kCallTimeColumn = "call-time";  // in watched calls, elapsed
inline constexpr std::string_view kCallsColumn = "calls";

}  // namespace loft::job
