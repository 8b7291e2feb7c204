#ifdef LOFT_HAS_ENGINE
#include "source/virtual/full_model.hpp"

#include <fmt/format.h>

namespace loft::source::virtual_pmu {

FullModel::FullModel(const core::MachineGeometry& geometry,
                     std::vector<const core::ModelledEvent*> events, Detail detail)
    : models_(geometry), events_(std::move(events)), detail_(detail), before_(events_.size()) {}

void FullModel::attach(engine::Shared& shared) {
  feed_.emplace(models_, shared);
  shared.ask_for_stream(engine::StreamMode::handed_over);
  reader_.emplace(shared, *this);
}

void FullModel::finish() {
  if (is_finished_ || !reader_) return;
  reader_->finish();
  lost_bytes_ = reader_->totals().lost_bytes;
  reader_.reset();
  if (!detail_.by_code) add_to_thread();
  is_finished_ = true;
}

// Some counts are of all threads together: what another thread added meanwhile is left out.
void FullModel::look_at(std::uint32_t slot) {
  if (slot_ && !detail_.by_code) add_to_thread();
  slot_ = slot;
  view_ = models_.view(ModelFeed::core_of(slot));
  for (std::size_t i = 0; i < events_.size(); ++i) before_[i] = events_[i]->read(view_);
}

void FullModel::add(std::uint64_t* row) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const std::uint64_t now = events_[i]->read(view_);
    row[i] += now - before_[i];
    before_[i] = now;
  }
}

void FullModel::add_to_thread() {
  if (!slot_) return;
  Sums& sums = sums_[detail_.by_thread ? *slot_ : 0][0];
  sums.offsets.resize(1);
  sums.counts.resize(events_.size());
  add(sums.counts.data());
}

FullModel::Sums& FullModel::sums_of(const engine::StreamedBlock& ran) {
  Sums& sums = sums_[detail_.by_thread ? ran.slot : 0][ran.number];
  if (sums.offsets.empty()) {
    for (const engine::StaticInstruction& each : ran.block->instructions())
      sums.offsets.push_back(each.offset);
    sums.counts.resize(sums.offsets.size() * events_.size());
  }
  return sums;
}

void FullModel::on_block(const engine::StreamedBlock& ran) {
  if (slot_ != ran.slot) look_at(ran.slot);
  if (!detail_.by_code) {
    feed_->execute(ran, [](std::size_t, const core::Step&) {});
    return;
  }
  Sums& sums = sums_of(ran);
  feed_->execute(ran, [&](std::size_t i, const core::Step& step) {
    // Nothing else changes a count.
    const bool is_branch =
        ran.block->instructions()[i].branch != engine::StaticInstruction{}.branch;
    if (step.is_fetched || !step.data.empty() || is_branch)
      add(sums.counts.data() + i * events_.size());
  });
}

void FullModel::for_each(
    const std::function<void(const Place&, std::span<const std::uint64_t>)>& each) const {
  for (const auto& [slot, blocks] : sums_)
    for (const auto& [block, sums] : blocks)
      for (std::size_t i = 0; i < sums.offsets.size(); ++i)
        each({slot, block, sums.offsets[i]},
             std::span(sums.counts).subspan(i * events_.size(), events_.size()));
}

std::vector<std::string> FullModel::notes() const {
  const core::MachineGeometry& machine = models_.geometry();
  std::vector<std::string> notes{
      fmt::format("modelled from every instruction, in user mode: caches {}; TLBs {}; predictor {}",
                  to_string(machine.caches), to_string(machine.tlb), to_string(machine.branches))};
  if (lost_bytes_ != 0)
    notes.push_back(fmt::format(
        "{} bytes of the stream of addresses could not be read: modelled counts lack them",
        lost_bytes_));
  return notes;
}

}  // namespace loft::source::virtual_pmu
#endif
