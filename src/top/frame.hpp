// What a sample of all cores says: counts and metrics of each since its reading before, the
// kernel's accounts, energy, and what loft itself cost. Plain data, which every output is made
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "metric/program.hpp"
#include "sample/counting.hpp"
#include "top/counters.hpp"

namespace loft::top {

struct CoreSample {
  int cpu = -1;
  std::string why;   // why there are no counts: the core is off, its reader did not run; else empty
  std::string note;  // what else went wrong: a change of events that could not be started
  std::shared_ptr<const CoreSet> set;  // what it counts; null while the core is off
  Nanoseconds start{};                 // of the readings, since monitoring began
  Nanoseconds end{};
  std::vector<sample::Count> counts;   // between them, aligned with the events of the set
  std::vector<metric::Value> metrics;  // aligned with its metrics
  std::optional<double> busy;          // share of the time in which it ran something
  sample::Origin busy_origin = sample::Origin::counted;  // scaled where the kernel counts ticks
  std::optional<double> waiting;  // tasks that were ready and waited for this CPU, on average
  Nanoseconds wake_delay{};       // from the request to the reading

  [[nodiscard]] bool is_read() const { return why.empty(); }
  [[nodiscard]] double seconds() const { return to_seconds(end - start); }
  // Of an available count: in its unit, per second.
  [[nodiscard]] double rate(std::size_t event) const {
    return counts[event].value() * set->frame.events[event].scale / seconds();
  }
};

struct EnergySample {
  std::string domain;            // "package-0", "NVIDIA H200"
  std::optional<double> joules;  // in this sample
  std::optional<double> watts;
  bool is_gpu = false;
  sample::Origin origin = sample::Origin::counted;
};

// What loft took.
struct Cost {
  double cpu_share = 0;              // of one CPU, by all of loft, since the sample before
  Nanoseconds reader_time{};         // of a core for one reading, mean over the cores
  Nanoseconds monitor_time{};        // for one sample
  std::uint64_t resident_bytes = 0;  // 0: not known
  Nanoseconds lateness{};            // of the latest reading, after the moment it was due
  std::uint64_t late = 0;            // readings so far that did not come in time
  std::uint64_t skipped = 0;         // samples so far that were left out, because loft did not run
};

struct Frame {
  std::uint64_t number = 0;  // from 1
  Nanoseconds origin{};      // when monitoring began, by the monotonic clock
  Nanoseconds time{};        // since then
  std::vector<CoreSample> cores;
  std::vector<EnergySample> energy;
  Cost cost;
};

}  // namespace loft::top
