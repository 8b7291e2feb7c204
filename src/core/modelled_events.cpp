#include "core/modelled_events.hpp"

#include <array>
#include <numeric>

namespace loft::core {
namespace {

using V = ModelView;
using P = ModelPart;

template <BranchKind kind>
std::uint64_t mispredicted(const V& view) {
  return view.branches->mispredicted[static_cast<std::size_t>(kind)];
}

constexpr auto
    kEvents =
        std::to_array<ModelledEvent>(
            {
                {"l1i_accesses", "", "lines of code that were entered", P::always,
                 [](const V& v) { return v.l1i->accesses(); }},
                {"l1i_misses", "", "lines of code that were not in the first-level cache",
                 P::always, [](const V& v) { return v.l1i->misses; }},
                {"l1d_accesses", "", "lines that loads and stores touched", P::always,
                 [](const V& v) { return v.l1d->accesses(); }},
                {"l1d_hits", "", "lines touched that were in the first-level data cache", P::always,
                 [](const V& v) { return v.l1d->hits; }},
                {"l1d_misses", "", "lines touched that were not in the first-level data cache",
                 P::always, [](const V& v) { return v.l1d->misses; }},
                {"l1d_evictions", "", "lines that left the first-level data cache for others",
                 P::always, [](const V& v) { return v.l1d->evictions; }},
                {"l1d_write_backs", "", "modified lines that left the first-level data cache",
                 P::always, [](const V& v) { return v.l1d->write_backs; }},
                {"l2_accesses", "", "accesses of the second-level cache, for data and code", P::l2,
                 [](const V& v) { return v.l2->accesses(); }},
                {"l2_hits", "", "accesses of the second-level cache that hit", P::l2,
                 [](const V& v) { return v.l2->hits; }},
                {"l2_misses", "", "accesses that miss the second-level cache, for data and code",
                 P::l2, [](const V& v) { return v.l2->misses; }},
                {"l2_data_misses", "", "accesses for data that miss the second-level cache", P::l2,
                 [](const V& v) { return v.l2->misses - v.code->l2; }},
                {"l2_code_misses", "", "accesses for code that miss the second-level cache", P::l2,
                 [](const V& v) { return v.code->l2; }},
                {"l2_evictions", "", "lines that left the second-level cache for others", P::l2,
                 [](const V& v) { return v.l2->evictions; }},
                {"l2_write_backs", "", "modified lines that left the second-level cache", P::l2,
                 [](const V& v) { return v.l2->write_backs; }},
                {"l3_accesses", "", "accesses of the third-level cache, for data and code", P::l3,
                 [](const V& v) { return v.l3->accesses(); }},
                {"l3_hits", "", "accesses of the third-level cache that hit", P::l3,
                 [](const V& v) { return v.l3->hits; }},
                {"l3_misses", "", "accesses that miss the third-level cache, for data and code",
                 P::l3, [](const V& v) { return v.l3->misses; }},
                {"l3_data_misses", "", "accesses for data that miss the third-level cache", P::l3,
                 [](const V& v) { return v.l3->misses - v.code->l3; }},
                {"l3_code_misses", "", "accesses for code that miss the third-level cache", P::l3,
                 [](const V& v) { return v.code->l3; }},
                {"l3_evictions", "", "lines that left the third-level cache for others", P::l3,
                 [](const V& v) { return v.l3->evictions; }},
                {"l3_write_backs", "", "modified lines that left the third-level cache", P::l3,
                 [](const V& v) { return v.l3->write_backs; }},
                {"itlb_misses", "", "lines of code entered whose page misses the first-level TLB",
                 P::always, [](const V& v) { return v.tlb->itlb().misses; }},
                {"dtlb_misses", "", "pages of data accesses that miss the first-level TLB",
                 P::always, [](const V& v) { return v.tlb->dtlb().misses; }},
                {"page_walks", "", "translations that no TLB had, for data and code", P::always,
                 [](const V& v) { return v.tlb->walks(); }},
                {"branch_misses", "", "branches that were predicted wrongly", P::always,
                 [](const V& v) { return v.branches->all_mispredicted(); }},
                {"branch_misses_conditional",
                 "", "conditional branches that were predicted wrongly", P::always,
                 mispredicted<BranchKind::conditional>},
                {"branch_misses_indirect_jump", "", "indirect jumps that were predicted wrongly",
                 P::always, mispredicted<BranchKind::indirect_jump>},
                {"branch_misses_indirect_call", "", "indirect calls that were predicted wrongly",
                 P::always, mispredicted<BranchKind::indirect_call>},
                {"branch_misses_return", "", "returns that were predicted wrongly", P::always,
                 mispredicted<BranchKind::ret>},
                {"prefetches", "", "lines that prefetchers asked for", P::prefetchers,
                 [](const V& v) {
                   const auto& issued = v.prefetches->issued;
                   return std::accumulate(issued.begin(), issued.end(), std::uint64_t{0});
                 }},
                {"prefetches_useful", "", "prefetched lines that were used before they left",
                 P::prefetchers, [](const V& v) { return v.prefetches->useful; }},
                {"prefetches_late", "", "prefetched lines that were used very soon", P::prefetchers,
                 [](const V& v) { return v.prefetches->late; }},
                {"prefetches_unused", "", "prefetched lines that left without use", P::prefetchers,
                 [](const V& v) { return v.prefetches->unused; }},
                {"l2_to_l1_bytes", "B", "bytes from the second level or beyond into the first",
                 P::always, [](const V& v) { return v.traffic->l2_to_l1; }},
                {"l1_to_l2_bytes", "B", "bytes of modified lines that left the first level",
                 P::always, [](const V& v) { return v.traffic->l1_to_l2; }},
                {"l3_to_l2_bytes", "B", "bytes from the third level or beyond into the second",
                 P::l2, [](const V& v) { return v.traffic->l3_to_l2; }},
                {"l2_to_l3_bytes", "B",
                 "bytes of lines that left the second level for the third or beyond", P::l2,
                 [](const V& v) { return v.traffic->l2_to_l3; }},
                {"memory_read_bytes", "B", "bytes read from memory, by accesses and prefetchers",
                 P::always, [](const V& v) { return v.traffic->from_memory; }},
                {"memory_write_bytes", "B",
                 "bytes written to memory: modified lines, stores past the caches", P::always,
                 [](const V& v) { return v.traffic->to_memory; }},
                {"line_transfers", "", "lines that another thread held modified", P::always,
                 [](const V& v) { return v.sharing->transfers; }},
                {"line_invalidations", "", "stores that took a line away from other threads",
                 P::always, [](const V& v) { return v.sharing->invalidations; }},
                {"true_sharing", "",
                 "transfers of lines of which bytes of the other thread were used", P::always,
                 [](const V& v) { return v.sharing->true_transfers; }},
                {"false_sharing", "",
                 "transfers of lines of which no byte of the other thread was used", P::always,
                 [](const V& v) { return v.sharing->false_transfers; }},
            });

}  // namespace

std::span<const ModelledEvent> modelled_events() { return kEvents; }

bool needs_tlb(const ModelledEvent& event) {
  return event.name.find("tlb") != std::string_view::npos || event.name == "page_walks";
}

bool needs_branches(const ModelledEvent& event) { return event.name.starts_with("branch"); }

std::string_view missing_part(const ModelledEvent& event, const MachineGeometry& geometry) {
  switch (event.part) {
    case ModelPart::l2:
      return geometry.caches.l2.exists() ? "" : "the modelled machine has no second-level cache";
    case ModelPart::l3:
      return geometry.caches.l3.exists() ? "" : "the modelled machine has no third-level cache";
    case ModelPart::prefetchers:
      return geometry.caches.prefetch != PrefetchGeometry{} ? ""
                                                            : "the modelled machine prefetches "
                                                              "nothing";
    case ModelPart::always:
      break;
  }
  return {};
}

}  // namespace loft::core
