#ifdef LOFT_HAS_ENGINE
#include "source/virtual/model_sums.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

// What is read of a machine that had one hit in L1D, or in L1I.
std::vector<std::uint64_t> of_one_hit(const std::vector<core::CountReader>& readers,
                                      const core::MachineGeometry& geometry,
                                      const core::CacheCounts* core::ModelView::*cache) {
  core::Models fresh(geometry);
  core::ModelView view = fresh.view(0);
  core::CacheCounts hit;
  hit.hits = 1;
  view.*cache = &hit;
  std::vector<std::uint64_t> counts;
  for (const core::CountReader read : readers) counts.push_back(read(view));
  return counts;
}

bool is_any(const std::vector<std::uint64_t>& counts) {
  return std::ranges::any_of(counts, [](std::uint64_t count) { return count != 0; });
}

}  // namespace

ModelSums::ModelSums(core::Models& models, std::vector<core::CountReader> readers, Detail detail)
    : models_(models),
      readers_(std::move(readers)),
      per_data_hit_(of_one_hit(readers_, models.geometry(), &core::ModelView::l1d)),
      per_code_hit_(of_one_hit(readers_, models.geometry(), &core::ModelView::l1i)),
      counts_hits_(is_any(per_data_hit_) || is_any(per_code_hit_)),
      detail_(detail),
      before_(readers_.size()) {}

// Some counts are of all threads together: what another thread added meanwhile is left out.
void ModelSums::switch_to(std::uint32_t slot) {
  if (slot_) flush();
  slot_ = slot;
  data_hits_ = code_hits_ = 0;
  blocks_ = &rows_[detail_.by_thread ? slot : 0];
  view_ = models_.view(ModelFeed::core_of(slot));
  for (std::size_t i = 0; i < readers_.size(); ++i) before_[i] = readers_[i](view_);
}

void ModelSums::add(std::uint64_t* counts) {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const std::uint64_t now = readers_[i](view_);
    counts[i] += now - before_[i] - data_hits_ * per_data_hit_[i] - code_hits_ * per_code_hit_[i];
    before_[i] = now;
  }
  data_hits_ = code_hits_ = 0;
}

// Where code is not told apart, a thread's counts are added up when another one has its turn.
void ModelSums::flush() {
  if (detail_.code != Code::together) return;
  if (blocks_->empty()) {
    Row row{.executions = 0, .offsets = {0}, .counts = {}, .data_hits = {0}, .code_hits = {0}};
    row.counts.resize(readers_.size());
    blocks_->push_back(std::make_unique<Row>(std::move(row)));
  }
  add(blocks_->front()->counts.data());
}

ModelSums::Row& ModelSums::new_row(std::uint32_t number, const engine::StreamBlock& block) {
  if (number >= blocks_->size())
    blocks_->resize(std::max<std::size_t>(number + 1u, blocks_->size() * 2));
  Row row;
  if (detail_.code == Code::blocks)
    row.offsets.push_back(0);
  else
    for (const engine::StaticInstruction& each : block.instructions())
      row.offsets.push_back(each.offset);
  row.counts.resize(row.offsets.size() * readers_.size());
  row.data_hits.resize(row.offsets.size());
  row.code_hits.resize(row.offsets.size());
  auto& place = (*blocks_)[number];
  place = std::make_unique<Row>(std::move(row));
  return *place;
}

}  // namespace loft::source::virtual_pmu
#endif
