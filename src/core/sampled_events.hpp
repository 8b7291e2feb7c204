// How modelled events are read when the models saw windows of a run alone: what surely happened in
// a window, and what may have happened, since lines that were not seen in the warm-up may be
// anywhere.
//
//   if (const auto bounds = sampled_readers(event)) show(bounds->surely(view), bounds->perhaps(view));
#pragma once

#include <optional>

#include "core/modelled_events.hpp"

namespace loft::core {

struct SampledReaders {
  CountReader surely = nullptr;
  CountReader perhaps = nullptr;  // never less
};

// Nothing: only a simulation of the whole run tells.
[[nodiscard]] std::optional<SampledReaders> sampled_readers(const ModelledEvent& event);

}  // namespace loft::core
