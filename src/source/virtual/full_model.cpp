#ifdef LOFT_HAS_ENGINE
#include "source/virtual/full_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

bool is_of_tlb(const core::ModelledEvent* event) { return core::needs_tlb(*event); }
bool is_of_branches(const core::ModelledEvent* event) { return core::needs_branches(*event); }

}  // namespace

FullModel::FullModel(const core::MachineGeometry& geometry,
                     std::vector<const core::ModelledEvent*> events, ModelSums::Detail detail)
    : models_(geometry, {.tlb = std::ranges::any_of(events, is_of_tlb),
                         .branches = std::ranges::any_of(events, is_of_branches)}),
      sums_(models_, std::move(events), detail) {}

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
  is_finished_ = true;
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
