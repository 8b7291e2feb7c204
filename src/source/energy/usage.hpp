// The energy that a stretch of time took, by every gauge of the machine, and when. No gauge tells
// programs apart.
//
//   auto usage = EnergyUsage::start();
//   while (running) usage.poll();                 // every so often, for the course of it
//   for (const sample::EnergyUsed& used : usage.so_far()) ...
#pragma once

#include <vector>

#include "sample/counting.hpp"
#include "source/energy/gauges.hpp"

namespace loft::source::energy {

class EnergyUsage {
 public:
  [[nodiscard]] static EnergyUsage start(const SystemRoot& root = {});

  [[nodiscard]] bool has_gauges() const { return !used_.empty(); }
  // Keeps what has moved: polled often, the course has the steps of the meters themselves.
  void poll();

  // Since the start, up to now. Left out are gauges that were not known all the time, and those
  // that never moved: no machine runs without energy.
  [[nodiscard]] std::vector<sample::EnergyUsed> so_far();

 private:
  Gauges gauges_;
  Nanoseconds start_{};
  std::vector<sample::EnergyUsed> used_;
  std::vector<bool> is_known_;
};

}  // namespace loft::source::energy
