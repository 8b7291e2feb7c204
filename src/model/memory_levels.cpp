#include "model/memory_levels.hpp"

#include <algorithm>
#include <array>

#include "model/at_the_roof.hpp"

namespace loft::model {
namespace {

std::optional<double> sum_of(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : value;
}

// Lines that a kernel moves per line that it loads or stores.
struct Moved {
  std::string_view op;
  double lines = 1;      // reads, fills for stores, write-backs
  double exchanged = 2;  // where each line that comes sends another one back
};
constexpr std::array<Moved, 6> kMoved{{{"load", 1, 2},
                                       {"store", 2, 2},
                                       {"2ld1st", 4.0 / 3, 2},
                                       {"copy", 1.5, 2},
                                       {"ntstore", 1, 1},
                                       {"ntcopy", 1, 1}}};

}  // namespace

LevelBytes& LevelBytes::operator+=(const LevelBytes& other) {
  l2 = sum_of(l2, other.l2);
  l3 = sum_of(l3, other.l3);
  dram = sum_of(dram, other.dram);
  return *this;
}

LevelBytes LevelBytes::scaled_by(double factor) const {
  return {scaled(l2, factor), scaled(l3, factor), scaled(dram, factor)};
}

std::vector<LevelPoint> level_points(const Roofline& roofline, double core_bytes,
                                     const LevelBytes& levels, std::optional<double> ops,
                                     double seconds) {
  std::vector<LevelPoint> points;
  if (!levels.is_known()) return points;
  const auto add = [&](const char* level, std::optional<double> bytes, sample::Origin origin) {
    if (!bytes) return;
    LevelPoint& point = points.emplace_back();
    point.level = level;
    point.bytes = *bytes;
    point.origin = origin;
    if (seconds > 0) point.bytes_per_second = *bytes / seconds;
    if (ops.value_or(0) > 0 && *bytes > 0) point.intensity = *ops / *bytes;
    const auto slope = std::ranges::find(roofline.slopes, point.level, &Slope::level);
    if (slope == roofline.slopes.end()) return;
    if (point.intensity) point.attainable = slope->bytes_per_second * *point.intensity;
    if (point.bytes_per_second) point.share = *point.bytes_per_second / slope->bytes_per_second;
  };
  add("L1", core_bytes, sample::Origin::counted);
  add("L2", levels.l2, sample::Origin::modelled);
  add("L3", levels.l3, sample::Origin::modelled);
  add("DRAM", levels.dram, sample::Origin::modelled);
  return points;
}

std::optional<Limit> level_limit(const Roofline& roofline, const std::vector<LevelPoint>& points,
                                 double rate) {
  std::optional<Limit> lowest;
  const auto consider = [&](const auto& line, double roof, bool is_bandwidth) {
    if (lowest && roof >= lowest->attainable) return;
    lowest = Limit{line.name, roof, rate / roof, is_bandwidth, line.verdict, line.basis};
  };
  for (const Ceiling& ceiling : roofline.ceilings)
    if (ceiling.flops_per_second * kAtTheRoof >= rate || &ceiling == &roofline.ceilings.front())
      consider(ceiling, ceiling.flops_per_second, false);
  for (const LevelPoint& point : points) {
    const auto slope = std::ranges::find(roofline.slopes, point.level, &Slope::level);
    if (slope != roofline.slopes.end() && point.attainable)
      consider(*slope, *point.attainable, true);
  }
  return lowest;
}

Machine roofs_of_traffic(Machine machine, bool l3_is_exclusive) {
  for (Roof& roof : machine.roofs) {
    if (roof.kind != RoofKind::bandwidth || roof.level == "L1") continue;
    const auto moved = std::ranges::find(kMoved, roof.op, &Moved::op);
    if (moved == kMoved.end()) continue;
    const double factor = roof.level == "L3" && l3_is_exclusive ? moved->exchanged : moved->lines;
    roof.best *= factor;
    roof.median *= factor;
    roof.per_cycle *= factor;
  }
  return machine;
}

}  // namespace loft::model
