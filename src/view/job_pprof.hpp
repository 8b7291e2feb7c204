// A job as a profile for pprof, Pyroscope and Parca: a sample for each function of each rank, with
// the labels job, step, node and rank.
//
//   JobPprof profile;
//   profile.add(row);                     // of the long table
//   LOFT_TRY(const std::string packed, profile.finish());
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "model/job_report.hpp"

namespace loft::view {

class JobPprof {
 public:
  // Rows of a function follow each other. Those of a whole rank are left out: they are sums.
  void add(const model::JobTableRow& row);
  [[nodiscard]] Result<std::string> finish() const;

 private:
  struct Sample {
    std::size_t function = 0;
    std::string job, node;
    std::uint64_t step = 1;
    std::uint32_t rank = 0;
    std::vector<std::uint64_t> values;  // by column
  };

  std::vector<std::pair<std::string, std::string>> columns_;    // name and unit
  std::vector<std::pair<std::string, std::string>> functions_;  // name and binary
  std::map<std::pair<std::string, std::string>, std::size_t> function_index_;
  std::vector<Sample> samples_;
};

}  // namespace loft::view
