#include "source/perf_events/combine.hpp"

#include <linux/perf_event.h>

#include <algorithm>

namespace loft::source::perf_events {
namespace {

using sample::Count;

// The readings of the CPUs are taken one after the other and a task takes a moment to move, so
// that the sum of running times misses a little. An event that had to share its counter misses
// whole rotations, milliseconds each.
constexpr Nanoseconds kSlack = std::chrono::microseconds(200);
constexpr double kRelativeSlack = 1e-3;

bool ran_all_the_time(Nanoseconds enabled, Nanoseconds running) {
  const auto missing = enabled - running;
  return missing <= kSlack || static_cast<double>(missing.count()) <=
                                  kRelativeSlack * static_cast<double>(enabled.count());
}

}  // namespace

Count count_of(const RawReading& reading) {
  return Count::of_reading(reading.value, reading.enabled, reading.running);
}

Count count_over_cpus(std::span<const RawReading> readings, const event::Event& event) {
  RawReading sum;
  Nanoseconds longest{-1};
  for (const RawReading& reading : readings) {
    sum.value += reading.value;
    sum.running += reading.running;
    // Where a task ran most its enabled time is kept best; elsewhere it may be another task's.
    if (reading.running > longest) sum.enabled = reading.enabled;
    longest = std::max(longest, reading.running);
  }
  sum.enabled = std::max(sum.enabled, sum.running);
  // Software events never wait for a counter.
  const bool software =
      event.encoding.type == PERF_TYPE_SOFTWARE || event.encoding.type == PERF_TYPE_TRACEPOINT;
  if (software || ran_all_the_time(sum.enabled, sum.running)) sum.running = sum.enabled;
  return count_of(sum);
}

Count part_of(const Count& total, std::uint64_t value) {
  Count part = total;
  if (part.is_available()) part.raw = value;
  return part;
}

RawReading operator+(const RawReading& a, const RawReading& b) {
  return {a.value + b.value, a.enabled + b.enabled, a.running + b.running};
}

RawReading operator-(const RawReading& a, const RawReading& b) {
  return {a.value - std::min(a.value, b.value), a.enabled - std::min(a.enabled, b.enabled),
          a.running - std::min(a.running, b.running)};
}

}  // namespace loft::source::perf_events
