#include "machine/geometry.hpp"

#include <algorithm>
#include <cmath>

#include "machine/core_of.hpp"
#include "machine/file.hpp"
#include "machine/isa.hpp"
#include "machine/measure.hpp"

namespace loft::machine {
namespace {

// As many as were found, in as many ways as are known; a fully associative table stays one.
void set_entries(const model::Machine& machine, const char* name, core::TlbLevel& level) {
  const model::Constant* found = model::find_core_parameter(machine, name);
  if (found == nullptr || found->verdict == model::Verdict::unavailable || !level.exists()) return;
  core::TlbLevel measured = level;
  measured.entries = static_cast<std::uint32_t>(std::llround(found->value));
  if (level.ways == level.entries)
    measured.ways = measured.entries;
  else
    measured.entries = std::max(1u, measured.entries / level.ways) * level.ways;
  core::TlbGeometry whole{measured, measured, measured};
  if (core::check(whole)) level = measured;
}

}  // namespace

core::MachineGeometry geometry_of(const model::Machine& machine) {
  const auto core = core_of(machine);
  auto geometry = core::find_machine(core ? core->base : "zen3").value();
  for (const model::Cache& cache : machine.topology.caches) {
    core::CacheGeometry* found = nullptr;
    if (cache.level == 1)
      found = cache.type == "Instruction" ? &geometry.caches.l1i : &geometry.caches.l1d;
    if (cache.level == 2) found = &geometry.caches.l2;
    if (cache.level == 3) found = &geometry.caches.l3;
    if (found == nullptr || cache.bytes == 0 || cache.ways == 0 || cache.line == 0) continue;
    core::CacheGeometry measured = *found;
    measured.bytes = cache.bytes;
    measured.ways = static_cast<std::uint32_t>(cache.ways);
    measured.line = static_cast<std::uint32_t>(cache.line);
    if (core::check(measured, "cache")) *found = measured;
  }
  // Other guests take their share of the last cache: what the sweep found is what there is.
  const model::Constant* share = model::find_core_parameter(machine, "l3_effective_bytes");
  if (share != nullptr && share->verdict != model::Verdict::unavailable) {
    core::CacheGeometry l3 = geometry.caches.l3;
    const double per_way = l3.line * l3.ways;
    l3.bytes =
        static_cast<std::uint64_t>(std::max(1.0, std::floor(share->value / per_way)) * per_way);
    if (l3.exists() && core::check(l3, "L3")) geometry.caches.l3 = l3;
  }
  set_entries(machine, "dtlb_entries", geometry.tlb.dtlb);
  set_entries(machine, "dtlb_second_entries", geometry.tlb.second);
  // Tables in which the model's predictor remembers as long a pattern as the machine's does. With
  // 2^14 entries it is 5,500 branches of a loop, and one bit more is twice as many.
  const model::Constant* pattern = model::find_core_parameter(machine, "branch_pattern_branches");
  if (pattern != nullptr && pattern->verdict != model::Verdict::unavailable)
    geometry.branches.table_bits = static_cast<std::uint8_t>(
        std::clamp(std::round(14 + std::log2(pattern->value / 5'500)), 10.0, 18.0));
  return geometry;
}

Result<core::MachineGeometry> chosen_geometry(const GeometryTexts& texts, const SystemRoot& root) {
  auto machine = load({}, root);
  if (!machine) {
    LOFT_TRY(machine, describe_machine(root));
    for (const Isa isa : isa_support().usable) machine->isas.emplace_back(name_of(isa));
  }
  core::MachineGeometry geometry = geometry_of(*machine);
  if (!texts.caches.empty()) {
    LOFT_TRY(geometry.caches, core::parse_caches(texts.caches, geometry.caches));
  }
  if (!texts.tlb.empty()) {
    LOFT_TRY(geometry.tlb, core::parse_tlb(texts.tlb, geometry.tlb));
  }
  if (!texts.predictor.empty()) {
    LOFT_TRY(geometry.branches, core::parse_predictor(texts.predictor, geometry.branches));
  }
  LOFT_CHECK(core::check(geometry.caches));
  LOFT_CHECK(core::check(geometry.tlb));
  LOFT_CHECK(core::check(geometry.branches));
  return geometry;
}

}  // namespace loft::machine
