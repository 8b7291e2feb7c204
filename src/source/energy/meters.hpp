// The energy meters that the kernel shows as files: powercap (RAPL) and hwmon.
//
//   for (const Meter& meter : energy::meters(root)) print(energy::read(meter));
#pragma once

#include <string>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"

namespace loft::source::energy {

struct Meter {
  enum class Quantity { energy, power };  // joules since some moment, or watts now

  std::string name;    // "package-0", "coretemp energy1"
  std::string origin;  // "powercap" or "hwmon"
  std::string path;    // the file that is read
  Quantity quantity = Quantity::energy;
  double range = 0;  // joules after which it begins again; 0: not known
};

// Every meter below `root`, readable or not.
std::vector<Meter> meters(const SystemRoot& root);

// Joules or watts.
[[nodiscard]] Result<double> read(const Meter& meter);

}  // namespace loft::source::energy
