// loft report DIR: the folder of a job as a whole.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/report_flags.hpp"

namespace loft::cli {

// The forms that the report of a job can take.
[[nodiscard]] std::vector<OutputForm> job_forms();

[[nodiscard]] Result<int> report_job(const std::string& folder, const ReportFlags& flags,
                                     Terminal& terminal);

}  // namespace loft::cli
