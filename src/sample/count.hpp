// What was counted of one event, and how far it can be trusted.
//
// A number never travels without its origin: counted (every occurrence), scaled (the event shared
// a counter, so it was extrapolated), modelled (computed by a model, not observed) or missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace loft::sample {

enum class Origin { counted, scaled, modelled, missing };

// The words of the JSON output: "counted", "scaled", "modelled", "missing".
const char* to_string(Origin origin);

// Where an extrapolated count lies, with 95 %.
struct Range {
  double low = 0;
  double high = 0;
  double unknown = 0;  // share of the count that depends on what could not be seen, 0 to 1
};

struct Count {
  Origin origin = Origin::missing;
  std::uint64_t raw = 0;            // as the counter read; meaningless when missing
  Nanoseconds enabled{0};           // how long the event should have counted
  Nanoseconds running{0};           // how long it did; less than enabled when counters are shared
  std::string why;                  // only when missing: "no such counter on this machine"
  std::optional<Range> range = {};  // of a count that was modelled from windows of the run

  // A value as the kernel reports it: missing when it never ran, scaled when it ran in part.
  static Count of_reading(std::uint64_t raw, Nanoseconds enabled, Nanoseconds running);
  static Count exact(std::uint64_t value) { return {Origin::counted, value, {}, {}, {}}; }
  static Count missing(std::string why) { return {Origin::missing, 0, {}, {}, std::move(why)}; }

  [[nodiscard]] bool is_available() const { return origin != Origin::missing; }

  // Share of the time in which it really counted, 0 to 1; 1 for exact counts.
  [[nodiscard]] double running_share() const;

  // The best estimate of the true count. Only for available counts.
  [[nodiscard]] double value() const;

  // Counts of two threads, CPUs or sources of the same event. A part that never got a counter is
  // extrapolated from the other; a part missing for any other reason makes the sum missing: a total
  // that silently lacks a part would be a wrong number.
  Count& operator+=(const Count& other);

  // It was enabled, but its turn at a counter never came.
  [[nodiscard]] bool never_ran() const {
    return origin == Origin::missing && enabled.count() > 0 && running.count() == 0;
  }

  // What was counted since `earlier`, a reading of the same counter.
  [[nodiscard]] Count since(const Count& earlier) const;
};

}  // namespace loft::sample
