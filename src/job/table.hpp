// The long table of a job: a row for each number of a rank and of its functions, as databases like
// it.
//
//   for_each_row(summary, 1, [&](const model::JobTableRow& row) { use(row); });
#pragma once

#include <functional>

#include "job/summary.hpp"
#include "model/job_report.hpp"

namespace loft::job {

void for_each_row(const RankSummary& summary, std::size_t step,
                  const std::function<void(const model::JobTableRow&)>& take);

}  // namespace loft::job
