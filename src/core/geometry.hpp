// The caches, TLBs and branch predictor of a machine, by name or as text:
//
//   --cache zen3                                 a machine that loft knows
//   --cache L1D=48k,12:L2=1m,8,64,plru           this machine's, but for two levels
//   --cache skylake:L3=none:prefetch=none
//   --tlb DTLB=64:STLB=2048,16                   entries and ways; fully associative without ways
//   --predictor gshare,14                        name, and bits of its table
//
// A cache is SIZE,WAYS[,LINE] and any of lru, plru, qlru, random, inclusive, exclusive (L3 alone)
// and noninclusive. Prefetchers are none, or any of next, streamN and strideN with + between them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/branch.hpp"
#include "core/hierarchy.hpp"
#include "core/tlb.hpp"

namespace loft::core {

struct MachineGeometry {
  std::string name;
  HierarchyGeometry caches;
  TlbGeometry tlb;
  BranchGeometry branches;
};

// Machines that are known by name: zen3, zen4, skylake, icelake, golden_cove, cachegrind. Sizes and
// ways are the makers' figures, replacement and prefetchers are assumptions. Sliced caches are
// taken as one.
[[nodiscard]] std::span<const MachineGeometry> known_machines();
[[nodiscard]] Result<MachineGeometry> find_machine(std::string_view name);

// Each starts from `base`, and from a known machine where the text begins with its name.
[[nodiscard]] Result<HierarchyGeometry> parse_caches(std::string_view text,
                                                     const HierarchyGeometry& base);
[[nodiscard]] Result<TlbGeometry> parse_tlb(std::string_view text, const TlbGeometry& base);
[[nodiscard]] Result<BranchGeometry> parse_predictor(std::string_view text,
                                                     const BranchGeometry& base);

// As text that the functions above read back.
[[nodiscard]] std::string to_string(const HierarchyGeometry& geometry);
[[nodiscard]] std::string to_string(const TlbGeometry& geometry);
[[nodiscard]] std::string to_string(const BranchGeometry& geometry);

}  // namespace loft::core
