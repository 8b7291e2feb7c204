#include "machine/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/clock.hpp"
#include "machine/buffer.hpp"
#include "machine/readings.hpp"
#include "machine/ticks.hpp"

namespace loft::machine {
namespace {

constexpr int kLinks = 64;
constexpr double kWindow = 0.0005;
constexpr std::size_t kPage = 4096;
// More pages than any second-level TLB holds; their lines still fit a second-level cache.
constexpr std::size_t kTlbPages = 8192;
// Hand-overs end after this time, but not before so many windows.
constexpr std::chrono::seconds kTransferTime(2);
constexpr int kFewestTransfers = 5;
// A ring that may live in a cache is walked once before it is timed.
constexpr std::size_t kMostWarmed = 16u << 20;

// Chains that live in registers alone.
struct Chain {
  const char* name;
  Op op;
  std::uint64_t p, q, r, first_integer;
};

// With q = 1 and r = 0 the loop of the generator has a branch that never changes.
constexpr Chain kChains[] = {
    {"FP_add_lat", Op::add, 1, 0, 0, 0},
    {"FP_mul_lat", Op::mul, 1, 0, 0, 0},
    {"FP_fma_lat", Op::fma, 1, 0, 0, 0},
    {"FP_div_lat", Op::div, 1, 0, 0, 0},
    {"bit_or", Op::bit_or, 1, 0, 0, 0},
    // A 62-bit dividend by a 31-bit divisor; the OR that restores the dividend is one cycle more.
    {"int_div+or", Op::int_div, 0x5A5A5A5B, 0x3FEDCBA987654321, 0, 0x3FEDCBA987654321},
    {"BR_lat", Op::jump, 1, 0, 0, 0},
    {"branch_random", Op::lcg_branch, 1, kLcgMultiplier, kLcgIncrement, kLcgSeed},
    {"branch_steady", Op::lcg_branch, 1, 1, 0, kLcgSeed},
};

// Allocates, touches and links a ring on the CPU that will chase through it.
Result<void> add_chase(Plan& plan, Rings& rings, Workbench& bench, const std::string& name,
                       std::size_t nodes, std::size_t stride, Pages pages, double tolerance) {
  LOFT_TRY(auto buffer, Buffer::allocate(nodes * stride, pages));
  bench.team().run({0}, [&](int) {
    buffer.touch();
    buffer.link_ring(nodes, stride, stride > kLine);
  });
  TrialSetup setup;
  setup.kernel = chain_kernel(Op::chase, kLinks);
  setup.work = kLinks;
  setup.starts = {buffer.data()};
  if (nodes * kLine <= kMostWarmed) setup.warm_trips = nodes / kLinks + 1;
  plan_reading(plan, bench, name, std::move(setup), tolerance, kWindow);
  rings.add(name, std::move(buffer), nodes);
  return {};
}

Reading minus_cycle(Reading reading) {
  if (reading.cycles > 0) {
    reading.cycles -= 1;
    reading.median -= 1;
  }
  return reading;
}

model::Constant latency_constant(const std::string& name, const Reading& reading,
                                 double ticks_per_second) {
  model::Constant constant;
  constant.name = name;
  constant.unit = "cycles";
  constant.value = constant.cycles = reading.cycles;
  constant.median = reading.median;
  constant.spread = reading.spread;
  constant.verdict = reading.verdict;
  if (reading.cycles_per_tick > 0)
    constant.ns = reading.cycles / (reading.cycles_per_tick * ticks_per_second) * 1e9;
  if (reading.verdict == model::Verdict::unavailable) constant.why = "could not be measured here";
  return constant;
}

std::string latency_name(const std::string& level) {
  return (level == "DRAM" ? std::string("Mem") : level) + "_lat";
}

}  // namespace

// Steps along the ring by the golden ratio: any first few of them lie far apart, and not by a power
// of two, which would put them all into the same sets and banks.
std::vector<std::byte*> Rings::places(const std::string& name, std::size_t count) const {
  const std::size_t length = nodes(name);
  if (length == 0) return {};
  std::multimap<std::size_t, std::size_t> by_step;
  for (std::size_t i = 0; i < count; ++i) {
    const double turn = static_cast<double>(i) * 0.6180339887498949;
    by_step.emplace(
        static_cast<std::size_t>((turn - std::floor(turn)) * static_cast<double>(length)), i);
  }
  std::vector<std::byte*> places(count);
  std::byte* at = std::ranges::find(rings_, name, &Ring::name)->buffer.data();
  std::size_t walked = 0;
  for (const auto& [step, place] : by_step) {
    for (; walked < step; ++walked) std::memcpy(&at, at, sizeof at);
    places[place] = at;
  }
  return places;
}

std::size_t Rings::nodes(const std::string& name) const {
  const auto ring = std::ranges::find(rings_, name, &Ring::name);
  return ring == rings_.end() ? 0 : ring->nodes;
}

Result<Rings> plan_latencies(Plan& plan, const PlanInput& input, Workbench& bench,
                             std::vector<std::string>& notes) {
  for (const Chain& chain : kChains) {
    if (chain.op == Op::fma && !input.fma) continue;
    TrialSetup setup;
    setup.kernel = chain_kernel(chain.op, kLinks);
    setup.work = kLinks;
    setup.p = chain.p;
    setup.q = chain.q;
    setup.r = chain.r;
    setup.first_integer = chain.first_integer;
    plan_reading(plan, bench, chain.name, std::move(setup), kPrivateTolerance, kWindow);
  }
  TrialSetup roots;
  roots.kernel = sqrt_chain_kernel(kLinks);
  roots.work = kLinks;
  plan_reading(plan, bench, "sqrt+or", std::move(roots), kPrivateTolerance, kWindow);

  Rings rings;
  LOFT_TRY(auto word, Buffer::allocate(kPage, Pages::small));
  word.touch();
  TrialSetup atomic;
  atomic.kernel = chain_kernel(Op::atomic_add, kLinks);
  atomic.work = kLinks;
  atomic.starts = {word.data()};
  plan_reading(plan, bench, "Atomic_lat", std::move(atomic), kPrivateTolerance, kWindow);
  rings.add("word", std::move(word), 0);

  for (std::size_t i = 0; i < input.levels.size(); ++i) {
    const model::Level& level = input.levels[i];
    // A shared cache is tested just beyond the one before it: the less of it we need, the less of
    // that do others take away between two visits.
    std::size_t bytes = level.test_bytes;
    if (i > 0 && i + 1 < input.levels.size())
      bytes = std::min<std::size_t>(
          bytes, 2 * std::max(input.levels[i - 1].knee, input.levels[i - 1].claimed));
    const std::size_t lines = bytes / kLine;
    if (lines < 2) continue;
    const double tolerance = i < 2 ? kPrivateTolerance * 4 : kSharedTolerance;
    LOFT_CHECK(add_chase(plan, rings, bench, latency_name(level.name), lines, kLine, Pages::huge,
                         tolerance));
  }
  const std::size_t memory_lines = input.levels.back().test_bytes / kLine;
  LOFT_CHECK(add_chase(plan, rings, bench, "Mem_small_pages_lat", memory_lines, kLine, Pages::small,
                       kSharedTolerance));
  if (input.levels.back().test_bytes < kTlbPages * kPage) {
    notes.emplace_back("TLB_lat is left out: too little memory for a test beyond the TLB");
  } else {
    LOFT_CHECK(add_chase(plan, rings, bench, "tlb_pages", kTlbPages, kPage, Pages::small,
                         kSharedTolerance));
    LOFT_CHECK(add_chase(plan, rings, bench, "tlb_dense", kTlbPages, kLine, Pages::huge,
                         kSharedTolerance));
  }
  return rings;
}

std::vector<model::Constant> constants_of(const Plan& plan, const Workbench& bench) {
  std::vector<model::Constant> constants;
  const auto put = [&](const std::string& name, const Reading& reading) {
    constants.push_back(latency_constant(name, reading, bench.ticks_per_second()));
  };
  const auto read = [&](const std::string& name) { return reading_of(plan, bench, name); };
  for (const char* name :
       {"L1_lat", "L2_lat", "L3_lat", "L4_lat", "Mem_lat", "Mem_small_pages_lat"})
    if (item_named(plan, name) != nullptr) put(name, read(name));
  put("TLB_lat", difference(read("tlb_pages"), read("tlb_dense")));
  put("BR_lat", read("BR_lat"));
  // Every second branch of the random run goes wrong, none of the steady one.
  put("BR_miss_lat", difference(read("branch_random"), read("branch_steady"), 2));
  const Reading add = read("FP_add_lat");
  const Reading mul = read("FP_mul_lat");
  put("FP_lat", add.cycles >= mul.cycles ? add : mul);
  put("FP_add_lat", add);
  put("FP_mul_lat", mul);
  if (item_named(plan, "FP_fma_lat") != nullptr) put("FP_fma_lat", read("FP_fma_lat"));
  put("FP_div_lat", read("FP_div_lat"));
  put("FP_sqrt_lat", difference(read("sqrt+or"), read("bit_or")));
  put("Int_div_lat", minus_cycle(read("int_div+or")));
  put("Atomic_lat", read("Atomic_lat"));
  return constants;
}

std::string transfer_name(Neighbour neighbour) {
  switch (neighbour) {
    case Neighbour::same_core:
      return "Line_transfer_smt_lat";
    case Neighbour::far:
      return "Line_transfer_far_lat";
    case Neighbour::near:
      break;
  }
  return "Line_transfer_lat";
}

Transfer measure_transfer(Workbench& bench, int first, int second, int windows) {
  constexpr std::uint64_t kRoundTrips = 500;
  Transfer transfer;
  struct alignas(128) Ball {
    std::atomic<std::uint64_t> count{0};
  };
  const auto ball = std::make_unique<Ball>();
  std::uint64_t took = 0;
  const Nanoseconds begin = now();
  for (int window = 0; window < windows; ++window) {
    // On a busy machine a partner is often away, and a window takes long.
    if (window >= kFewestTransfers && now() - begin > kTransferTime) break;
    ball->count = 0;
    bench.team().run({first, second}, [&](int member) {
      const std::uint64_t side = member == first ? 0 : 1;
      bench.team().meet(2);
      const std::uint64_t start = ticks();
      for (std::uint64_t turn = side; turn < 2 * kRoundTrips; turn += 2) {
        // A partner that was put to sleep is waited for politely; such a window is never the best.
        for (int spins = 0; ball->count.load(std::memory_order_acquire) != turn; ++spins)
          spins < 4000 ? spin_pause() : std::this_thread::yield();
        ball->count.store(turn + 1, std::memory_order_release);
      }
      if (side == 1) took = ticks() - start;
    });
    transfer.estimate.add(static_cast<double>(2 * kRoundTrips) / static_cast<double>(took), false,
                          window * 5 / windows);
  }
  return transfer;
}

}  // namespace loft::machine
