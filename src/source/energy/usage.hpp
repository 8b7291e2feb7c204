// The energy that a stretch of time took, by every meter of the machine that counts joules:
// powercap, hwmon, and GPUs. No meter tells programs apart.
//
//   const auto usage = EnergyUsage::start();
//   run();
//   for (const sample::EnergyUsed& used : usage.so_far()) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/places.hpp"
#include "sample/counting.hpp"
#include "source/energy/meters.hpp"
#include "source/energy/nvml.hpp"

namespace loft::source::energy {

class EnergyUsage {
 public:
  // A meter that cannot be read is left out.
  [[nodiscard]] static EnergyUsage start(const SystemRoot& root = {});

  // Since the start. A meter that went around meanwhile is left out: how far is not known.
  [[nodiscard]] std::vector<sample::EnergyUsed> so_far() const;

 private:
  struct Running {
    Meter meter;
    double joules = 0;
  };
  std::vector<Running> meters_;
  std::optional<Nvml> nvml_;
  std::vector<double> gpu_joules_;  // by device; negative: cannot be read
};

}  // namespace loft::source::energy
