// The events of the models by name, and how each is read.
//
//   for (const ModelledEvent& event : modelled_events())
//     if (missing_part(event, geometry).empty()) show(event.name, event.read(models.view(thread)));
//
// Counts of a cache are those of lines: an access that touches two lines counts twice, and a string
// instruction once for each line of its range. Misses are those of demand accesses; what
// prefetchers ask for is counted by their own events, and as bytes between the levels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/geometry.hpp"

namespace loft::core {

// What one thread's models count; L3, lines moved, bytes, prefetches and sharing are those of all
// threads.
struct ModelView {
  const CacheCounts* l1i = nullptr;
  const CacheCounts* l1d = nullptr;
  const CacheCounts* l2 = nullptr;
  const CacheCounts* l3 = nullptr;
  const CodeMisses* code = nullptr;
  const Reach* data_reach = nullptr;
  const Reach* code_reach = nullptr;
  const Reach* moved = nullptr;
  std::uint64_t line_bytes = 64;
  const Traffic* traffic = nullptr;
  const PrefetchCounts* prefetches = nullptr;
  const SharingCounts* sharing = nullptr;
  const Tlb* tlb = nullptr;
  const BranchCounts* branches = nullptr;
};

using CountReader = std::uint64_t (*)(const ModelView&);

// What a modelled machine may lack.
enum class ModelPart : std::uint8_t { always, l2, l3, prefetchers };

struct ModelledEvent {
  std::string_view name;
  std::string_view unit;  // "B" for bytes, else empty
  std::string_view description;
  ModelPart part = ModelPart::always;
  CountReader read = nullptr;
};

[[nodiscard]] std::span<const ModelledEvent> modelled_events();

// What of the models an event is read from, beside the caches.
[[nodiscard]] bool needs_tlb(const ModelledEvent& event);
[[nodiscard]] bool needs_branches(const ModelledEvent& event);

// Why that machine has no such event; empty when it has.
[[nodiscard]] std::string_view missing_part(const ModelledEvent& event,
                                            const MachineGeometry& geometry);

}  // namespace loft::core
