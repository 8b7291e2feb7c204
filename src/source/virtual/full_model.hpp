// Simulates a whole run under the engine: every instruction goes through models of caches, TLBs and
// branch predictor, and what these count is added up by thread and instruction.
//
//   FullModel model(geometry, events, {.by_code = true});
//   model.attach(run.shared());                       // before the program starts
//   ... the run ...
//   model.finish();                                   // after its end
//   model.for_each([](const FullModel::Place& place, std::span<const std::uint64_t> counts) {});
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/models.hpp"
#include "engine/stream.hpp"
#include "source/virtual/model_feed.hpp"

namespace loft::source::virtual_pmu {

class FullModel : public engine::StreamListener {
 public:
  struct Detail {
    bool by_thread = false;
    bool by_code = false;
  };
  // Where something was counted. What is not told apart is 0.
  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t block = 0;   // engine::Shared::block()
    std::uint32_t offset = 0;  // of the instruction, in bytes
  };

  // Each part of the geometry has passed its check(); the events are of core::modelled_events().
  FullModel(const core::MachineGeometry& geometry, std::vector<const core::ModelledEvent*> events,
            Detail detail);

  void attach(engine::Shared& shared);
  void finish();
  [[nodiscard]] bool is_finished() const { return is_finished_; }

  // Complete after finish(): counts are aligned with the events.
  void for_each(
      const std::function<void(const Place&, std::span<const std::uint64_t>)>& each) const;
  // What the numbers rest on.
  [[nodiscard]] std::vector<std::string> notes() const;

  void on_block(const engine::StreamedBlock& ran) override;

 private:
  // Counts of the instructions of a block, one after the other; of a whole thread under block 0.
  struct Sums {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint64_t> counts;
  };

  Sums& sums_of(const engine::StreamedBlock& ran);
  void look_at(std::uint32_t slot);
  void add(std::uint64_t* row);
  void add_to_thread();

  core::Models models_;
  std::vector<const core::ModelledEvent*> events_;
  Detail detail_;
  std::optional<ModelFeed> feed_;
  std::optional<engine::StreamReader> reader_;
  std::map<std::uint32_t, std::unordered_map<std::uint32_t, Sums>> sums_;  // by slot and block
  std::optional<std::uint32_t> slot_;  // whose models `view_` and `before_` are of
  core::ModelView view_;
  std::vector<std::uint64_t> before_;
  std::uint64_t lost_bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace loft::source::virtual_pmu
