// Two runs of a job side by side: what the whole took, what its ranks did, and which functions take
// more or less of the mean rank.
//
//   const JobComparison comparison = compare_jobs(before, after);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_report.hpp"

namespace loft::model {

struct ComparedFunction {
  std::string name;
  std::string binary;
  bool in_mpi = false;
  double before = 0;  // of the load, in the mean rank
  double after = 0;
};

struct ComparedSum {
  std::string name;
  std::string unit;
  std::optional<double> before;  // of the mean rank, so that jobs of other sizes can be compared
  std::optional<double> after;
};

struct JobComparison {
  JobReport before;
  JobReport after;
  std::vector<ComparedSum> sums;
  std::vector<ComparedFunction> functions;  // the largest change first; none where loads differ
};

[[nodiscard]] JobComparison compare_jobs(JobReport before, JobReport after);

}  // namespace loft::model
