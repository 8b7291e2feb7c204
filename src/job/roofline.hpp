// The ranks of a job as points under the roofs of a machine, without the time, operations and bytes
// of MPI itself: a rank that spins while it waits is not slow.
//
//   LOFT_TRY(const model::RoofReport report, roofline_of(job, machine));
#pragma once

#include "base/result.hpp"
#include "model/job_report.hpp"
#include "model/machine_model.hpp"
#include "model/roof_report.hpp"

namespace loft::job {

// An error where no rank has time, operations and bytes.
[[nodiscard]] Result<model::RoofReport> roofline_of(const model::JobReport& report,
                                                    const model::Machine& machine);

}  // namespace loft::job
