// Counts by part of the code, added up over threads.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/tally.hpp"

namespace loft::source::virtual_pmu {

// It ran, but did nothing of what is asked for. Where nothing can be counted, nothing is known.
[[nodiscard]] bool is_all_zero(const std::vector<std::uint64_t>& counts);

void add_to(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& counts);

// Rows of several threads as one list, each part once, in the order in which they came.
class PartSums {
 public:
  // Gives the row's place in rows().
  std::size_t add(const engine::PartTally::Row& row);
  [[nodiscard]] const std::vector<engine::PartTally::Row>& rows() const { return rows_; }

 private:
  std::unordered_map<std::uint32_t, std::size_t> index_;
  std::vector<engine::PartTally::Row> rows_;
};

}  // namespace loft::source::virtual_pmu
