// The two runs behind a roofline where there are no hardware counters: one as it is, for time; one
// under the virtual PMU, for what was done. Joined per function, per thread and per slice of time.
//
//   LOFT_TRY(auto native, run_natively(command, streams.first(), file));
//   LOFT_TRY(const auto counted, run_counted(command, streams, split));
//   const std::vector<model::Subject> subjects = join(native, counted);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"
#include "source/file/profile_recording.hpp"

namespace loft::cli {

struct NativePass {
  sample::RunCounts counts;
  std::unique_ptr<source::Recording> recording;
  source::ProfiledRecording profile;

  [[nodiscard]] double cpu_seconds() const;
};

[[nodiscard]] Result<NativePass> run_natively(const std::vector<std::string>& command,
                                              StandardStreams streams, const std::string& file);

// The same program under the virtual PMU, with the events that a roofline needs.
[[nodiscard]] Result<sample::RunCounts> run_counted(const std::vector<std::string>& command,
                                                    StandardStreams streams);

// The run, its threads, its functions and its slices of time. Facts that limit the trust in them
// are added to `notes`.
[[nodiscard]] std::vector<model::Subject> join_passes(const NativePass& native,
                                                      const sample::RunCounts& counted,
                                                      std::vector<std::string>& notes);

}  // namespace loft::cli
