// Simulates windows of a run under the engine: in each the models are warmed, then what they count
// is added up by thread and block. The first window begins with the program, whose caches are
// empty then: it needs no warming, and nothing of it is estimated.
//
//   SampledModel model(geometry, events);
//   model.attach(run.shared());                       // before the program starts
//   ... the run ...
//   model.finish();                                   // after its end
//   for (const ModelWindow& window : model.windows()) use(window);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "core/modelled_events.hpp"
#include "engine/window_schedule.hpp"

namespace loft::engine {
class Shared;
}

namespace loft::source::virtual_pmu {

// Where far caches are asked for and too little of them is known, windows get longer.
struct SamplePlan {
  std::uint64_t warm_up = 1'200'000;  // instructions of a thread before it is counted
  engine::WindowLimits stream{
      .bytes = 12u << 20, .first_bytes = 24u << 20, .first = {}, .quick = 12};
};

struct ModelWindow {
  struct Row {
    std::uint32_t slot = 0;
    std::uint32_t block = 0;  // engine::Shared::block()
    std::uint64_t instructions = 0;
    std::vector<std::uint64_t> counts;  // two for each event: surely, perhaps
  };
  std::uint64_t position = 0;      // instructions that the run had executed when it was read
  std::uint64_t instructions = 0;  // that were counted
  bool is_start = false;           // of the program
  std::vector<Row> rows;
};

class SampledModel {
 public:
  // Each part of the geometry has passed its check(); the events can be sampled (core).
  SampledModel(const core::MachineGeometry& geometry,
               std::vector<const core::ModelledEvent*> events, const SamplePlan& plan = {});
  ~SampledModel();
  SampledModel(const SampledModel&) = delete;
  SampledModel& operator=(const SampledModel&) = delete;

  void attach(engine::Shared& shared);
  void finish();
  [[nodiscard]] bool is_finished() const;

  // Complete after finish(): in the order of time, without those in which nothing was counted.
  [[nodiscard]] const std::vector<ModelWindow>& windows() const;
  // What the numbers rest on.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace loft::source::virtual_pmu
