// An event that is asked for, as the virtual PMU knows it.
#pragma once

#include <optional>
#include <string>

#include "core/modelled_events.hpp"
#include "engine/classify/events.hpp"
#include "source/counting.hpp"

namespace loft::source::virtual_pmu {

struct WantedEvent {
  std::optional<engine::EventIndex> index;        // the engine counts it
  const core::ModelledEvent* modelled = nullptr;  // a model does,
  bool in_windows = false;                        // of windows of the run
  std::string why_missing;                        // neither

  [[nodiscard]] bool is_sampled() const { return modelled != nullptr && in_windows; }
  [[nodiscard]] bool is_counted() const { return index || (modelled != nullptr && !in_windows); }
};

[[nodiscard]] WantedEvent look_up(const event::Event& event, const CountRequest& request);

}  // namespace loft::source::virtual_pmu
