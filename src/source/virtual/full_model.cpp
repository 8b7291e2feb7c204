#ifdef LOFT_HAS_ENGINE
#include "source/virtual/full_model.hpp"

#include <fmt/format.h>

namespace loft::source::virtual_pmu {
namespace {

std::vector<core::CountReader> readers_of(const std::vector<const core::ModelledEvent*>& events) {
  std::vector<core::CountReader> readers;
  for (const core::ModelledEvent* event : events) readers.push_back(event->read);
  return readers;
}

}  // namespace

FullModel::FullModel(const core::MachineGeometry& geometry,
                     const std::vector<const core::ModelledEvent*>& events,
                     ModelSums::Detail detail)
    : models_(geometry, parts_for(events)), sums_(models_, readers_of(events), detail) {}

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
  std::vector<std::string> notes{fmt::format("modelled from every instruction, in user mode: {}",
                                             describe(models_.geometry()))};
  if (lost_bytes_ != 0)
    notes.push_back(fmt::format(
        "{} bytes of the stream of addresses could not be read: modelled counts lack them",
        lost_bytes_));
  return notes;
}

}  // namespace loft::source::virtual_pmu
#endif
