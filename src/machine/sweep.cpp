#include "machine/sweep.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "machine/buffer.hpp"

namespace loft::machine {
namespace {

constexpr std::uint64_t kSmallest = 4096;
constexpr int kLinksPerTrip = 64;
constexpr int kWindows = 6;
constexpr double kWindow = 0.0003;
constexpr std::chrono::seconds kEnough(1);

// One visit to one size; what is better than before stays.
Result<void> visit(Workbench& bench, Buffer& ring, Isa isa, model::SweepPoint& point) {
  bench.team().run({0}, [&](int) { ring.link_ring(point.bytes / kLine, kLine); });
  TrialSetup chase;
  chase.kernel = chain_kernel(Op::chase, kLinksPerTrip);
  chase.work = kLinksPerTrip;
  chase.starts = {ring.data()};
  LOFT_TRY(auto latency, bench.prepare(std::move(chase)));
  bench.run_round(latency, kWindows, kWindow);
  const double ns = 1e9 / (latency.estimate.best() * bench.ticks_per_second());
  if (point.latency_ns == 0 || ns < point.latency_ns) point.latency_ns = ns;

  TrialSetup load;
  load.kernel = memory_kernel(isa, MemoryOp::load);
  load.work = load.kernel.bytes();
  load.bytes = point.bytes;
  if (load.bytes < load.kernel.stride) return {};  // the loop is longer than the set
  LOFT_TRY(auto bandwidth, bench.prepare(std::move(load)));
  bench.run_round(bandwidth, kWindows, kWindow);
  point.bytes_per_second =
      std::max(point.bytes_per_second, bandwidth.estimate.best() * bench.ticks_per_second());
  return {};
}

}  // namespace

std::vector<std::uint64_t> sweep_sizes(std::uint64_t most) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = kSmallest; size <= most; size *= 2) {
    sizes.push_back(size);
    if (size / 2 * 3 <= most) sizes.push_back(size / 2 * 3);
  }
  return sizes;
}

Result<std::vector<model::SweepPoint>> sweep(Workbench& bench, Isa isa, std::uint64_t most,
                                             int passes) {
  LOFT_TRY(auto ring, Buffer::allocate(most, Pages::huge));
  bench.team().run({0}, [&](int) { ring.touch(); });
  std::vector<model::SweepPoint> points;
  for (const std::uint64_t size : sweep_sizes(most)) points.push_back({size, 0, 0});
  const Nanoseconds start = now();
  for (int pass = 0; pass < passes; ++pass) {
    // Large caches make a pass long; the first one is enough to find them.
    if (pass > 0 && now() - start > kEnough * passes) break;
    for (model::SweepPoint& point : points) LOFT_CHECK(visit(bench, ring, isa, point));
  }
  return points;
}

}  // namespace loft::machine
