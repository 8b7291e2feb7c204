// Ticks of the processor's clock beside the system's: what programs read while they are measured,
// made times afterwards.
//
//   const TickClock clock;                        // before the program starts
//   ...
//   const double scale = clock.nanoseconds_per_tick();
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace loft::source {

[[nodiscard]] std::uint64_t read_ticks();

class TickClock {
 public:
  TickClock() : start_tick_(read_ticks()), start_time_(now()) {}

  // Since the start. Where that was a moment ago, it waits until there is something to compare.
  [[nodiscard]] double nanoseconds_per_tick() const;
  // How many ticks that is; 0 for no time.
  [[nodiscard]] std::uint64_t ticks_of(Nanoseconds time) const;
  [[nodiscard]] std::uint64_t start_tick() const { return start_tick_; }
  [[nodiscard]] Nanoseconds start_time() const { return start_time_; }

 private:
  std::uint64_t start_tick_;
  Nanoseconds start_time_;
};

}  // namespace loft::source
