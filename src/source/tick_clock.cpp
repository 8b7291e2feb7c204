#include "source/tick_clock.hpp"

#include <thread>

#include "loft/region_clock.h"

namespace loft::source {

std::uint64_t read_ticks() { return loft_region_ticks_(); }

double TickClock::nanoseconds_per_tick() const {
  constexpr Nanoseconds kLongEnough = std::chrono::milliseconds(20);
  if (const Nanoseconds passed = now() - start_time_; passed < kLongEnough)
    std::this_thread::sleep_for(kLongEnough - passed);
  const std::uint64_t ticks = read_ticks() - start_tick_;
  const Nanoseconds passed = now() - start_time_;
  return static_cast<double>(passed.count()) / static_cast<double>(ticks == 0 ? 1 : ticks);
}

std::uint64_t TickClock::ticks_of(Nanoseconds time) const {
  if (time.count() <= 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(time.count()) / nanoseconds_per_tick());
}

}  // namespace loft::source
