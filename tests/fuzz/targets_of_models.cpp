// The targets that read what the models of a core are given.
#include "core/geometry.hpp"
#include "core/window.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {

// What was read is written as the same bytes.
void fuzz_window(Bytes bytes) {
  const auto window = core::parse_window(bytes);
  if (!window) return;
  const auto again = core::serialize(*window);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) __builtin_trap();
}

// What was read is read again from its own text.
void fuzz_geometry(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const core::MachineGeometry& base = core::known_machines().front();
  if (const auto caches = core::parse_caches(text, base.caches))
    if (!core::parse_caches(to_string(*caches), base.caches)) __builtin_trap();
  if (const auto tlb = core::parse_tlb(text, base.tlb))
    if (!core::parse_tlb(to_string(*tlb), base.tlb)) __builtin_trap();
  if (const auto branches = core::parse_predictor(text, base.branches))
    if (!core::parse_predictor(to_string(*branches), base.branches)) __builtin_trap();
}

}  // namespace loft::fuzz
