// The cost of pages, by their number.
#include <algorithm>

#include "machine/buffer.hpp"
#include "machine/core_probes.hpp"

namespace loft::machine {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kFewest = 16;
constexpr std::size_t kMost = 8192;
constexpr int kLinks = 64;
constexpr int kWindows = 4;
constexpr double kWindow = 0.0002;

// Five per doubling: TLBs have a power of two of entries, or some eighths more.
std::vector<std::size_t> counts() {
  std::vector<std::size_t> counts;
  for (std::size_t base = kFewest; base < kMost; base *= 2)
    for (const std::size_t eighths : {8, 9, 10, 12, 14}) counts.push_back(base * eighths / 8);
  counts.push_back(kMost);
  return counts;
}

// Cycles per link.
Result<double> cost_of(Workbench& bench, Buffer& ring, std::size_t nodes, std::size_t stride) {
  bench.team().run({0}, [&](int) { ring.link_ring(nodes, stride, stride > kLine); });
  TrialSetup setup;
  setup.kernel = chain_kernel(Op::chase, kLinks);
  setup.work = kLinks;
  setup.starts = {ring.data()};
  setup.warm_trips = 2 * nodes / kLinks + 1;
  LOFT_TRY(auto trial, bench.prepare(std::move(setup)));
  bench.run_round(trial, kWindows, kWindow);
  return bench.cycles_per_tick() / trial.estimate.best();
}

}  // namespace

Result<std::vector<CostPoint>> sweep_pages(Workbench& bench, std::size_t memory, int passes) {
  std::vector<CostPoint> points;
  if (memory < kMost * kPage) return points;
  LOFT_TRY(auto pages, Buffer::allocate(kMost * kPage, Pages::small));
  LOFT_TRY(auto lines, Buffer::allocate(kMost * kLine, Pages::huge));
  bench.team().run({0}, [&](int) {
    pages.touch();
    lines.touch();
  });
  std::vector<CostPoint> dense;
  for (const std::size_t count : counts()) {
    points.push_back({static_cast<double>(count), 0});
    dense.push_back(points.back());
  }
  const auto keep_least = [](CostPoint& point, double cycles) {
    if (point.cycles == 0 || cycles < point.cycles) point.cycles = cycles;
  };
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto nodes = static_cast<std::size_t>(points[i].count);
      LOFT_TRY(const double scattered, cost_of(bench, pages, nodes, kPage));
      LOFT_TRY(const double together, cost_of(bench, lines, nodes, kLine));
      keep_least(points[i], scattered);
      keep_least(dense[i], together);
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].cycles = std::max(0.0, points[i].cycles - dense[i].cycles);
  return points;
}

}  // namespace loft::machine
