#include "machine/core_estimates.hpp"

#include <algorithm>
#include <cmath>

namespace loft::machine {
namespace {

constexpr double kClimbs = 1.5;
// A miss of the first level costs a few cycles, one of the second a walk.
constexpr double kFirstStep = 3;
constexpr double kWalkStep = 12;

// Noise only adds to a cost, and more of a thing is never cheaper: each point is lowered to the
// least of those behind it.
std::vector<CostPoint> monotonous(std::vector<CostPoint> curve) {
  double least = INFINITY;
  for (auto point = curve.rbegin(); point != curve.rend(); ++point)
    point->cycles = least = std::min(least, point->cycles);
  return curve;
}

// The last count before the curve rises above `level`; nothing when it never does or always did.
std::optional<double> last_below(const std::vector<CostPoint>& curve, double level) {
  const auto above =
      std::ranges::find_if(curve, [level](const CostPoint& point) { return point.cycles > level; });
  if (above == curve.begin() || above == curve.end()) return std::nullopt;
  return std::prev(above)->count;
}

}  // namespace

std::optional<Climb> step_of(const std::vector<CostPoint>& points) {
  if (points.size() < 3) return std::nullopt;
  const std::vector<CostPoint> curve = monotonous(points);
  const double low = curve.front().cycles;
  const double high = curve.back().cycles;
  if (!(low > 0) || high < low * kClimbs) return std::nullopt;
  const auto above = std::ranges::find_if(
      curve, [&](const CostPoint& point) { return point.cycles > (low + high) / 2; });
  const double count = (std::prev(above)->count + above->count) / 2;
  return Climb{count, (above->count - count) / count};
}

std::optional<double> in_flight(double latency, const std::vector<CostPoint>& curve) {
  double most = 0;
  for (const CostPoint& point : curve)
    if (point.cycles > 0) most = std::max(most, std::min(point.count, latency / point.cycles));
  return most > 0 && latency > 0 ? std::optional(std::max(1.0, most)) : std::nullopt;
}

std::optional<double> remembered(double steady, double random,
                                 const std::vector<CostPoint>& by_length) {
  if (by_length.empty() || !(random > steady)) return std::nullopt;
  const std::vector<CostPoint> curve = monotonous(by_length);
  const double half = (steady + random) / 2;
  const auto above =
      std::ranges::find_if(curve, [half](const CostPoint& point) { return point.cycles > half; });
  if (above == curve.end()) return curve.back().count;
  if (above == curve.begin()) return curve.front().count;
  const CostPoint& below = *std::prev(above);
  const double part = (half - below.cycles) / (above->cycles - below.cycles);
  return below.count * std::pow(above->count / below.count, part);
}

TlbEntries tlb_entries(const std::vector<CostPoint>& extra_by_pages) {
  TlbEntries entries;
  if (extra_by_pages.size() < 3) return entries;
  const std::vector<CostPoint> curve = monotonous(extra_by_pages);
  const double base = curve.front().cycles;
  entries.second = last_below(curve, base + kWalkStep);
  entries.first = last_below(curve, base + kFirstStep);
  // One step alone, straight to the walk: there is one level, and it is the first.
  if (entries.first && entries.second && *entries.second < *entries.first * 2)
    entries.second.reset();
  if (!entries.first || !entries.second) return entries;
  std::vector<double> between;
  for (const CostPoint& point : curve)
    if (point.count > *entries.first && point.count <= *entries.second)
      between.push_back(point.cycles - base);
  // In growing order, since the curve is.
  entries.second_cycles = between[between.size() / 2];
  return entries;
}

}  // namespace loft::machine
