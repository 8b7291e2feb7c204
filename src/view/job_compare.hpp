// Two runs of a job side by side.
#pragma once

#include <string>

#include "model/job_compare.hpp"

namespace loft::view {

std::string job_compare_text(const model::JobComparison& comparison);
std::string job_compare_json(const model::JobComparison& comparison);  // "loft.job.compare/1"
std::string job_compare_csv(const model::JobComparison& comparison);

}  // namespace loft::view
