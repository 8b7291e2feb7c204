#ifdef LOFT_HAS_ENGINE
#include "source/virtual/part_sums.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {

bool is_all_zero(const std::vector<std::uint64_t>& counts) {
  return !counts.empty() && std::ranges::all_of(counts, [](auto count) { return count == 0; });
}

void add_to(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) sum[i] += counts[i];
}

std::size_t PartSums::add(const engine::PartTally::Row& row) {
  const auto [known, is_new] = index_.try_emplace(row.part, rows_.size());
  if (is_new) {
    rows_.push_back(row);
  } else {
    add_to(rows_[known->second].counts, row.counts);
  }
  return known->second;
}

}  // namespace loft::source::virtual_pmu
#endif
