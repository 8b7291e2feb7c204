// Everything on a machine that tells energy, read together: powercap, hwmon, the perf power PMU
// where powercap may not be read (both show the same counters), the registers behind both where
// there is neither, and GPUs.
//
//   auto gauges = Gauges::open();
//   const auto joules = gauges.advance(now());   // of each, since the call before
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/places.hpp"
#include "source/energy/meters.hpp"

namespace loft::source::energy {

struct Gauge {
  std::string name;
  std::function<std::optional<double>()> read;  // joules since some moment, or watts now
  bool is_power = false;
  bool is_gpu = false;
  double range = 0;  // joules after which it begins again; 0: not known
  double last = 0;
  Nanoseconds last_time{};
  Nanoseconds pause{};  // of one that is slow to read: until it is worth that again
};

class Gauges {
 public:
  // Those that can be read; none is no error.
  [[nodiscard]] static Gauges open(const SystemRoot& root = {});

  [[nodiscard]] std::size_t size() const { return gauges_.size(); }
  [[nodiscard]] const std::string& name(std::size_t gauge) const { return gauges_[gauge].name; }
  [[nodiscard]] bool is_gpu(std::size_t gauge) const { return gauges_[gauge].is_gpu; }
  // Whether it shows watts, so that its joules are a sum over readings.
  [[nodiscard]] bool is_power(std::size_t gauge) const { return gauges_[gauge].is_power; }

  // Joules of each gauge since the call before, or since it was opened. Nothing where that is not
  // known: it cannot be read, or went around and nobody knows how far. Power is taken to have
  // changed evenly since the reading before.
  [[nodiscard]] std::vector<std::optional<double>> advance(Nanoseconds at);

  // Joules for callers that ask often: gauges that take long to read (those of some GPUs take
  // milliseconds) are read seldom.
  struct Step {
    bool is_read = false;
    std::optional<double> joules;  // since it was last read
    double seconds = 0;
  };
  [[nodiscard]] std::vector<Step> advance_sparingly(Nanoseconds at);

  // Whether it could be read, and is there now.
  bool add(Gauge gauge);

 private:
  // Whether powercap is among them.
  bool add_files(const SystemRoot& root);
  // Whether it has one that can be read.
  bool add_power_pmu();
  void add_registers();
  void add_gpus();

  std::vector<Gauge> gauges_;
};

}  // namespace loft::source::energy
