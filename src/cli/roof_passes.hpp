// The two runs behind a roofline where there are no hardware counters: one as it is, for time; one
// under the virtual PMU, for what was done. Joined per function, per thread and per slice of time.
//
//   LOFT_TRY(const auto first, run_natively({.command = command, .file = file}));
//   LOFT_TRY(const auto native, profile_of(first));
//   LOFT_TRY(const auto counted, run_counted(command, second_streams));
//   const std::vector<model::Subject> subjects = join_passes(native, counted, notes);
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"
#include "source/file/profile_recording.hpp"
#include "source/perf_events/sampling.hpp"
#include "view/page.hpp"

namespace loft::cli {

// The events of the virtual PMU that a roofline rests on, in their order everywhere.
inline constexpr std::string_view kRoofEvents =
    "instructions,load_bytes,store_bytes,flops_sp,flops_dp,"
    "fp_scalar_sp,fp_scalar_dp,fp_128_sp,fp_128_dp,fp_256_sp,fp_256_dp,fp_512_sp,fp_512_dp,flops_"
    "fma";

inline constexpr std::size_t kRoofEventCount = 14;

// And those by which the engine's own time is estimated, where no native run tells the time.
inline constexpr std::string_view kEngineEvents =
    "branches,branches_indirect_jump,branches_indirect_call,branches_return";

// The source of counts that the machine's counters made, in the native run itself.
inline constexpr sample::Source kByCounters = sample::Source::perf_events;
[[nodiscard]] bool is_by_counters(const sample::RunCounts& counted);

// Counts of kRoofEvents, and perhaps of others behind them, as work; nothing where one is missing,
// but for the instructions, without which work is still work.
[[nodiscard]] std::optional<model::Work> work_of(const std::vector<sample::Count>& counts);

// Functions are the same when name and binary are, whatever address they had in either run. Two
// that a binary has of one name are told apart by nothing that both runs know.
using FunctionKey = std::pair<std::string, std::string>;

// What the native run gave: how long it took, and where its time went.
struct NativePass {
  sample::RunCounts counts;
  std::unique_ptr<source::Recording> recording;
  source::ProfiledRecording profile;
  std::uint64_t start = 0;  // of the recording's clock

  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] FunctionKey function(std::uint32_t id) const;
  [[nodiscard]] std::string name_of(std::uint32_t tid) const;  // its last
};

// A native run of a program, or a look at one that runs, with what was counted beside its time.
struct NativeRun {
  std::unique_ptr<source::perf_events::SamplingRun> run;
  sample::RunCounts counts;
};
[[nodiscard]] Result<NativeRun> run_natively(const source::perf_events::SamplingRequest& request);

// The same program under the virtual PMU, with the events that a roofline needs.
[[nodiscard]] Result<sample::RunCounts> run_counted(const std::vector<std::string>& command,
                                                    StandardStreams streams);

// Each thread once, by its number, with all that it did: one that became another program with exec
// was counted for each of them.
[[nodiscard]] std::map<std::uint32_t, sample::ThreadCounts> threads_of(
    const sample::RunCounts& counted);

// Adds up where the time of a recorded run went.
[[nodiscard]] Result<NativePass> profile_of(NativeRun& run);
[[nodiscard]] Result<NativePass> profile_of(sample::RunCounts counts,
                                            std::unique_ptr<source::Recording> recording);

// The run, its threads, its functions and its slices of time. Facts that limit the trust in them
// are added to `notes`.
[[nodiscard]] std::vector<model::Subject> join_passes(const NativePass& native,
                                                      const sample::RunCounts& counted,
                                                      std::vector<std::string>& notes);

// Which thread ran when and where, in seconds since the start of the run; and what they are called.
[[nodiscard]] std::optional<view::PageSchedule> schedule_of(const NativePass& native);
[[nodiscard]] std::vector<view::PageThread> thread_names_of(const NativePass& native);

// The call stacks of the native run.
[[nodiscard]] std::vector<view::PageFlame> flames_of(const NativePass& native);

}  // namespace loft::cli
