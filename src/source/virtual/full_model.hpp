// Simulates a whole run under the engine: every instruction goes through models of caches, TLBs and
// branch predictor, and what these count is added up by thread and instruction.
//
//   FullModel model(geometry, events, {.code = ModelSums::Code::instructions});
//   model.attach(run.shared());                       // before the program starts
//   ... the run ...
//   model.finish();                                   // after its end
//   use(model.sums());                                // source/virtual/model_sums.hpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/models.hpp"
#include "engine/stream.hpp"
#include "source/virtual/model_feed.hpp"
#include "source/virtual/model_sums.hpp"

namespace loft::source::virtual_pmu {

class FullModel : public engine::StreamListener {
 public:
  // Each part of the geometry has passed its check(); the events are of core::modelled_events().
  FullModel(const core::MachineGeometry& geometry,
            const std::vector<const core::ModelledEvent*>& events, ModelSums::Detail detail);

  void attach(engine::Shared& shared);
  void finish();
  [[nodiscard]] bool is_finished() const { return is_finished_; }

  // Complete after finish(): ModelSums::for_each().
  [[nodiscard]] ModelSums& sums() { return sums_; }
  [[nodiscard]] const core::Coherence& coherence() { return models_.caches().coherence(); }
  [[nodiscard]] const ModelFeed& feed() const { return *feed_; }
  // What the numbers rest on.
  [[nodiscard]] std::vector<std::string> notes() const;

  void on_batch(const engine::StreamBatch& batch) override { sums_.execute(*feed_, batch); }

 private:
  core::Models models_;
  ModelSums sums_;
  std::optional<ModelFeed> feed_;
  std::optional<engine::StreamReader> reader_;
  std::uint64_t lost_bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace loft::source::virtual_pmu
