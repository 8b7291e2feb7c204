// Kernels for the parameters of a core that a timing model needs: latencies and rates by class of
// instruction, store forwarding, misses and page walks in flight, the reorder window.
//
//   LOFT_TRY(const Probes probes, plan_core_probes(plan, input, rings, bench));
//   ... rounds ...
//   const auto constants = core_parameters(plan, bench, machine, by_pages);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine/core_estimates.hpp"
#include "machine/latency.hpp"
#include "machine/plan.hpp"

namespace loft::machine {

// How many chases run at once, and how many operations stand between two of them.
std::span<const int> parallel_chases();
std::span<const int> window_fillers();
// How many branches a random pattern has before it begins again.
std::span<const int> pattern_lengths();

// Names of the items of a plan, before a number of chases or fillers.
inline constexpr const char* kSpacedChases = "spaced_chases ";
inline constexpr const char* kMemoryChases = "memory_chases ";
inline constexpr const char* kCacheChases = "cache_chases ";
inline constexpr const char* kPageChases = "page_chases ";
inline constexpr const char* kBranchPattern = "branch_pattern ";
// Atomic additions and links of a chase in L1, in turns; a unit of its work is one of each.
inline constexpr const char* kAtomicAndLoad = "atomic_and_load";
// One stream of loads through memory of small pages; a unit of its work is a byte.
inline constexpr const char* kSmallPageStream = "small_page_stream";
// Code that lies in L2; a unit of its work is a byte.
inline constexpr const char* kCodeInL2 = "code_in_l2";

// The memory that the probes work on; it must outlive the plan's items.
struct Probes {
  std::vector<Buffer> buffers;
};
[[nodiscard]] Result<Probes> plan_core_probes(Plan& plan, const PlanInput& input,
                                              const Rings& rings, Workbench& bench);

// What a link of a chase through so many small pages costs more than one through as many lines side
// by side. Empty when there is too little memory for it.
[[nodiscard]] Result<std::vector<CostPoint>> sweep_pages(Workbench& bench, std::size_t memory,
                                                         int passes);

}  // namespace loft::machine
