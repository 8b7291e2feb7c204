// Lines that threads passed to each other, with the variables and functions that do it, from what a
// model of caches and the engine know.
//
//   details.sharing = line_sharing(model.coherence(), model.feed(), run.shared(), functions);
#pragma once

#include "core/coherence.hpp"
#include "engine/shared.hpp"
#include "sample/shared_lines.hpp"
#include "source/virtual/functions.hpp"
#include "source/virtual/model_feed.hpp"

namespace loft::source::virtual_pmu {

// Addresses and threads are those of the feed.
[[nodiscard]] sample::LineSharing line_sharing(const core::Coherence& coherence,
                                               const ModelFeed& feed, const engine::Shared& shared,
                                               FunctionFinder& functions);

}  // namespace loft::source::virtual_pmu
