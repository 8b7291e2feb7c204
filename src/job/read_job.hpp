// The folder of a job, read: its steps, and one of them as a whole. What is damaged, cut off or not
// loft's is skipped and named.
//
//   LOFT_TRY(const model::JobReport report, read_job("results", {}));
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "job/summary.hpp"
#include "model/job_report.hpp"

namespace loft::job {

struct ReadOptions {
  std::optional<std::size_t> step;  // counted from 1; nothing: the last, with its other pass
  // Called with each summary of the step, in order of ranks, and the number of the step.
  std::function<void(const RankSummary&, std::size_t)> on_rank;
};

[[nodiscard]] Result<model::JobReport> read_job(const std::string& folder,
                                                const ReadOptions& options);

}  // namespace loft::job
