// Bytes that a program moves between the levels of memory, and what they mean under the roofs: the
// memory-level roofline. A program has one rate and an intensity at each level, so that it is a row
// of points, each of which hangs under the bandwidth of its own level.
//
//   const auto points = level_points(roofline, work.bytes, work.levels, ops, seconds);
//   for (const LevelPoint& point : points) show(point.level, point.share);
//   const std::optional<Limit> limit = level_limit(roofline, points, ops / seconds);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine_model.hpp"
#include "model/roofline.hpp"
#include "sample/count.hpp"

namespace loft::model {

// In both directions together. Nothing: not known.
struct LevelBytes {
  std::optional<double> l2;  // between L1 and L2
  std::optional<double> l3;  // between L2 and L3
  std::optional<double> dram;

  [[nodiscard]] bool is_known() const { return l2 || l3 || dram; }
  LevelBytes& operator+=(const LevelBytes& other);  // what one of them lacks, the sum lacks
  [[nodiscard]] LevelBytes scaled_by(double factor) const;
  bool operator==(const LevelBytes&) const = default;
};

// A program's place at one level.
struct LevelPoint {
  std::string level;                       // "L1" (the core's loads and stores) … "DRAM"
  double bytes = 0;                        // that passed it
  std::optional<double> intensity;         // operations per byte; nothing without either
  std::optional<double> bytes_per_second;  // nothing without time
  std::optional<double> attainable;        // op/s, by the level's bandwidth alone
  std::optional<double> share;             // of that bandwidth that is used
  sample::Origin origin = sample::Origin::modelled;
};

// From the core outwards. Empty where no level is known. `seconds` is 0 where the time is not
// known.
[[nodiscard]] std::vector<LevelPoint> level_points(const Roofline& roofline, double core_bytes,
                                                   const LevelBytes& levels,
                                                   std::optional<double> ops, double seconds);

// The lowest of the levels' bandwidths and of the ceilings that a point of this rate is not clearly
// above. Nothing without roofs.
[[nodiscard]] std::optional<Limit> level_limit(const Roofline& roofline,
                                               const std::vector<LevelPoint>& points, double rate);

// Bandwidths are measured in bytes that the core loads and stores. As bytes that a level moves they
// are more: a store reads its line before it writes it, and an L3 that holds victims alone
// exchanges each line that it gives for another.
[[nodiscard]] Machine roofs_of_traffic(Machine machine, bool l3_is_exclusive);

}  // namespace loft::model
