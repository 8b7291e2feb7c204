#ifdef LOFT_HAS_ENGINE
#include "source/virtual/part_table.hpp"

namespace loft::source::virtual_pmu {

PartTable::PartTable(const engine::Shared& shared, std::vector<engine::EventIndex> events)
    : tally_(shared),
      functions_(shared),
      width_(events.size()),
      parts_(tally_, std::move(events),
             [this](const auto& block, auto address) { return part_of(block, address); }) {}

std::uint32_t PartTable::part_of(const engine::BlockEntry& block, std::uint64_t address) {
  const auto [known, is_new] =
      index_.try_emplace(Key{block.mapping, functions_.find(block, address)},
                         static_cast<std::uint32_t>(addresses_.size()));
  if (is_new) addresses_.push_back(address);
  return known->second;
}

Result<std::vector<PartTable::Part>> PartTable::since_last(std::uint32_t slot) {
  LOFT_TRY(const auto rows, parts_.of_slots({&slot, 1}));
  Reported& reported = reported_[slot];
  std::vector<Part> parts;
  for (const auto& row : rows) {
    auto& before = reported[row.part];
    before.resize(width_);
    Part part{addresses_[row.part], std::vector<std::uint64_t>(width_)};
    bool is_more = false;
    for (std::size_t i = 0; i < width_; ++i) {
      const std::uint64_t more = row.counts[i] - before[i];
      if (static_cast<std::int64_t>(more) <= 0) continue;
      part.counts[i] = more;
      before[i] = row.counts[i];
      is_more = true;
    }
    if (is_more) parts.push_back(std::move(part));
  }
  return parts;
}

void PartTable::close(std::uint32_t slot) {
  const auto found = reported_.find(slot);
  if (found == reported_.end()) return;
  const auto rows = parts_.of_slots({&slot, 1});
  if (rows)
    for (const auto& row : *rows)
      for (std::size_t i = 0; i < width_; ++i)
        reported_too_much_ += found->second[row.part][i] - row.counts[i];
  reported_.erase(found);
}

}  // namespace loft::source::virtual_pmu
#endif
