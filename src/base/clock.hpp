// Time as a type. Nanoseconds of the monotonic clock, the one that perf_events stamps with when
// asked for CLOCK_MONOTONIC, so that our times and the kernel's can be compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace loft {

using Nanoseconds = std::chrono::nanoseconds;

inline Nanoseconds now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

// What the kernel counts without a sign.
inline Nanoseconds nanoseconds(std::uint64_t count) {
  return Nanoseconds(static_cast<Nanoseconds::rep>(count));
}

inline double to_seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace loft
