#include "machine/core_probes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "machine/readings.hpp"

namespace loft::machine {
namespace {

constexpr double kWindow = 0.0005;
constexpr double kStreamWindow = 0.001;
constexpr int kTimes = 32;   // links of a chain
constexpr int kSteps = 128;  // instructions of a stream
constexpr std::size_t kPage = 4096;
constexpr int kCodeSteps = 24 * 1024;
#if defined(__x86_64__)
constexpr double kLongNop = 8;  // bytes
#else
constexpr double kLongNop = 4;
#endif

constexpr std::array kParallel{2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48};
constexpr std::array kFillers{32,  64,  96,  128, 160, 192, 208, 224, 240, 256, 272, 288,
                              304, 320, 336, 352, 384, 416, 448, 480, 512, 544, 576, 640};
constexpr std::array kPatterns{1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17};
constexpr double kPatternWindow = 0.002;  // in which the longest pattern comes again and again
constexpr int kMostChases = 48;
constexpr int kMostWalks = 24;

// A chain, or a stream of independent instructions; `links` is what one pattern counts as.
struct Probe {
  const char* name;
  Isa isa;
  int streams;
  std::vector<Step> pattern;
  double links = 1;
  std::uint64_t p = 1, q = 0;
};

std::vector<Probe> chains() {
  return {
      {"int_add chain", Isa::scalar, 0, {{Op::int_add}}},
      {"int_mul chain", Isa::scalar, 0, {{Op::int_mul}}},
      {"lea chain", Isa::scalar, 0, {{Op::int_lea}}},
      {"rotate chain", Isa::scalar, 0, {{Op::int_rotate}}},
      {"convert chain", Isa::scalar, 0, {{Op::int_to_double}, {Op::double_to_int}}, 2},
      {"file chain", Isa::scalar, 0, {{Op::int_to_vector}, {Op::vector_to_int}}, 2},
      {"logic chain", Isa::sse, 0, {{Op::bit_or}}},
      {"shuffle chain", Isa::sse, 0, {{Op::swap_halves}}},
      {"vector_int_add chain", Isa::sse, 0, {{Op::vector_int_add}}},
      {"vector_int_mul chain", Isa::sse, 0, {{Op::vector_int_mul}}},
      // Stored behind one pointer and loaded behind another, which are equal: so no core can tell
      // from the registers alone that the load wants what was stored.
      {"forward chain", Isa::scalar, 2, {{Op::int_store, 0, 0}, {Op::int_load, 0, 1}}},
      {"forward_same chain", Isa::scalar, 1, {{Op::int_store}, {Op::int_load}}},
      {"forward_half chain", Isa::scalar, 2, {{Op::int_store, 0, 0}, {Op::int_load_half, 0, 1}}},
      {"forward_blocked chain",
       Isa::scalar,
       2,
       {{Op::int_store_half, 0, 0, 0}, {Op::int_store_half, 0, 0, 4}, {Op::int_load, 0, 1}}},
      {"forward_scalar chain", Isa::scalar, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}},
      {"forward_sse chain", Isa::sse, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}},
      {"forward_avx2 chain", Isa::avx2, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}},
      {"forward_avx512 chain", Isa::avx512, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}},
      {"forward_neon chain", Isa::neon, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}},
  };
}

std::vector<Probe> streams() {
  return {
      {"int_add stream", Isa::scalar, 0, {{Op::int_add}}},
      {"int_mul stream", Isa::scalar, 0, {{Op::int_mul}}},
      {"lea stream", Isa::scalar, 0, {{Op::int_lea}}},
      {"rotate stream", Isa::scalar, 0, {{Op::int_rotate}}},
      {"to_double stream", Isa::scalar, 0, {{Op::int_to_double}}},
      {"to_int stream", Isa::scalar, 0, {{Op::double_to_int}}},
      {"to_vector stream", Isa::scalar, 0, {{Op::int_to_vector}}},
      {"from_vector stream", Isa::scalar, 0, {{Op::vector_to_int}}},
      {"logic stream", Isa::sse, 0, {{Op::bit_or}}},
      {"shuffle stream", Isa::sse, 0, {{Op::swap_halves}}},
      {"vector_int_add stream", Isa::sse, 0, {{Op::vector_int_add}}},
      {"vector_int_mul stream", Isa::sse, 0, {{Op::vector_int_mul}}},
      {"load stream", Isa::scalar, 1, {{Op::int_load, 0, 0, 0}, {Op::int_load, 0, 0, 64}}},
      {"store stream", Isa::scalar, 1, {{Op::int_store, 0, 0, 0}, {Op::int_store, 0, 0, 8}}},
      {"branch stream", Isa::scalar, 0, {{Op::branch_not_taken}}},
      {"nop stream", Isa::scalar, 0, {{Op::nop}}},
      {"int_div stream", Isa::scalar, 0, {{Op::int_div_of_q}}, 1, 0x5A5A5A5B, 0x3FEDCBA987654321},
  };
}

bool is_usable(const PlanInput& input, Isa isa) {
  // Vector probes of 128 bits are written as SSE; NEON has the same operations.
  return std::ranges::find(input.isas, isa) != input.isas.end();
}

Isa isa_here(const PlanInput& input, Isa isa) {
  return isa == Isa::sse && !is_usable(input, isa) ? Isa::neon : isa;
}

// Instructions of eight bytes that do nothing, more of them than L1 holds: only their fetching
// takes time.
void plan_code(Plan& plan, const PlanInput& input, Workbench& bench) {
  if (!is_usable(input, Isa::scalar)) return;
  TrialSetup setup;
  setup.kernel = independent_kernel(Isa::scalar, 0, {{Op::long_nop}}, kCodeSteps);
  setup.work = kLongNop * static_cast<double>(setup.kernel.body.size());
  plan_reading(plan, bench, kCodeInL2, std::move(setup), kPrivateTolerance, kWindow);
}

// A random branch that repeats itself, and the branch of the loop around it: as long as a predictor
// remembers the pattern, it costs no more than a steady one. Many copies of the branch would be
// remembered for longer than the one that loops mostly have.
void plan_patterns(Plan& plan, Workbench& bench) {
  constexpr int kBranches = 1;
  for (const int length : kPatterns) {
    const int shift = 63 - std::countr_zero(static_cast<unsigned>(length));
    TrialSetup setup;
    setup.kernel = chain_kernel(Op::lcg_branch, kBranches);
    setup.work = kBranches;
    setup.q = kLcgMultiplier;
    setup.r = kLcgIncrement << shift;
    setup.first_integer = kLcgSeed << shift;
    setup.warm_trips = 2 * static_cast<std::uint64_t>(length) / kBranches;
    plan_reading(plan, bench, kBranchPattern + std::to_string(length), std::move(setup),
                 kSharedTolerance, kPatternWindow);
  }
}

void plan_atomic(Plan& plan, const Rings& rings, Workbench& bench, std::byte* word) {
  const std::vector<std::byte*> ring = rings.places("L1_lat", 1);
  if (ring.empty()) return;
  TrialSetup setup;
  setup.kernel =
      repeated_kernel(Isa::scalar, 2, {{Op::atomic_add, 0, 0}, {Op::chase, 0, 1}}, kTimes);
  setup.work = kTimes;
  setup.starts = {word, ring.front()};
  plan_reading(plan, bench, kAtomicAndLoad, std::move(setup), kPrivateTolerance, kWindow);
}

// Gives out places of a ring. No two trials start at the same one, or the second would find in
// a cache what the first has fetched.
class Places {
 public:
  Places(const Rings& rings, const std::string& ring, std::size_t count)
      : places_(rings.places(ring, count)) {}

  [[nodiscard]] bool are_there() const { return !places_.empty(); }
  std::byte* next() { return places_[next_++ % places_.size()]; }

 private:
  std::vector<std::byte*> places_;
  std::size_t next_ = 0;
};

// Through the memory of a ring, which loads leave as it is.
void plan_small_pages(Plan& plan, const PlanInput& input, const Rings& rings, Workbench& bench) {
  constexpr const char* kRing = "Mem_small_pages_lat";
  TrialSetup setup;
  setup.starts = rings.places(kRing, 1);
  if (setup.starts.empty() || input.isas.empty()) return;
  setup.kernel = memory_kernel(input.isas.back(), MemoryOp::load);
  setup.work = setup.kernel.bytes();
  setup.bytes = rings.nodes(kRing) * kLine;
  plan_reading(plan, bench, kSmallPageStream, std::move(setup), kSharedTolerance, kStreamWindow);
}

// Chases through one ring at once, each from a place of its own. A ring that lives in a cache is
// walked through before each window.
Result<void> plan_chases(Plan& plan, Probes& probes, Workbench& bench, Places& places,
                         const char* name, int most, std::size_t warm_nodes) {
  if (!places.are_there()) return {};
  for (const int count : kParallel) {
    if (count > most) break;
    LOFT_TRY(auto slots, Buffer::allocate(kPage, Pages::small));
    slots.touch();
    for (int i = 0; i < count; ++i) {
      std::byte* const place = places.next();
      std::memcpy(slots.data() + 8 * i, &place, sizeof place);
    }
    TrialSetup setup;
    setup.kernel = slots_kernel(count);
    setup.work = count;
    setup.starts = {slots.data()};
    if (warm_nodes > 0) setup.warm_trips = warm_nodes / static_cast<std::size_t>(count) + 1;
    plan_reading(plan, bench, name + std::to_string(count), std::move(setup), kSharedTolerance,
                 kWindow);
    probes.buffers.push_back(std::move(slots));
  }
  return {};
}

void plan_window(Plan& plan, Workbench& bench, Places& places) {
  if (!places.are_there()) return;
  for (const int fillers : kFillers) {
    TrialSetup setup;
    setup.kernel = spaced_chases_kernel(fillers);
    setup.work = 1;
    setup.starts = {places.next(), places.next()};
    plan_reading(plan, bench, kSpacedChases + std::to_string(fillers), std::move(setup),
                 kSharedTolerance, kWindow);
  }
}

}  // namespace

std::span<const int> parallel_chases() { return kParallel; }

std::span<const int> window_fillers() { return kFillers; }

std::span<const int> pattern_lengths() { return kPatterns; }

Result<Probes> plan_core_probes(Plan& plan, const PlanInput& input, const Rings& rings,
                                Workbench& bench) {
  Probes probes;
  LOFT_TRY(auto words, Buffer::allocate(kPage, Pages::small));
  words.touch();
  const auto plan_probe = [&](const Probe& probe, bool is_chain) {
    const Isa isa = isa_here(input, probe.isa);
    if (!is_usable(input, isa)) return;
    TrialSetup setup;
    setup.kernel = is_chain ? repeated_kernel(isa, probe.streams, probe.pattern, kTimes)
                            : independent_kernel(isa, probe.streams, probe.pattern, kSteps);
    setup.work = is_chain ? kTimes * probe.links : static_cast<double>(setup.kernel.body.size());
    setup.p = probe.p;
    setup.q = probe.q;
    if (probe.streams > 0) setup.starts = {words.data()};
    plan_reading(plan, bench, probe.name, std::move(setup), kPrivateTolerance, kWindow);
  };
  for (const Probe& probe : chains()) plan_probe(probe, true);
  for (const Probe& probe : streams()) plan_probe(probe, false);
  plan_atomic(plan, rings, bench, words.data());
  probes.buffers.push_back(std::move(words));
  plan_code(plan, input, bench);
  plan_patterns(plan, bench);
  constexpr std::size_t kAllChases =
      std::accumulate(kParallel.begin(), kParallel.end(), std::size_t{0});
  Places memory(rings, "Mem_lat", kAllChases + 2 * kFillers.size());
  Places cache(rings, "L3_lat", kAllChases);
  Places pages(rings, "tlb_pages", kAllChases);
  plan_window(plan, bench, memory);
  plan_small_pages(plan, input, rings, bench);
  LOFT_CHECK(plan_chases(plan, probes, bench, memory, kMemoryChases, kMostChases, 0));
  LOFT_CHECK(
      plan_chases(plan, probes, bench, cache, kCacheChases, kMostChases, rings.nodes("L3_lat")));
  LOFT_CHECK(
      plan_chases(plan, probes, bench, pages, kPageChases, kMostWalks, rings.nodes("tlb_pages")));
  return probes;
}

}  // namespace loft::machine
