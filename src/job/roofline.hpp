// The ranks of a job as points under the roofs of a machine, without the time, operations and bytes
// of MPI itself: a rank that spins while it waits is not slow.
//
//   LOFT_TRY(const model::RoofReport report, roofline_of(job, machine));
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/job_report.hpp"
#include "model/machine_model.hpp"
#include "model/roof_report.hpp"

namespace loft::job {

// The job as the run, its ranks as threads. An error where no rank has time, operations and bytes.
[[nodiscard]] Result<model::RoofReport> roofline_of(const model::JobReport& report,
                                                    const model::Machine& machine);

// Each rank as a run of its own, for drawings that show several: the busiest ones, at most so many.
[[nodiscard]] std::vector<model::RoofReport> rooflines_of_ranks(const model::RoofReport& job,
                                                                const model::Machine& machine,
                                                                std::size_t most);

}  // namespace loft::job
