// The CPU's own clock: the time-stamp counter on x86-64, the virtual counter on arm64. A tick is
// not a cycle: it has a fixed rate, which the core's clock leaves as it likes.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace loft::machine {

// Waits until everything before has finished, and lets nothing behind begin.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
  return static_cast<std::uint64_t>(high) << 32 | low;
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value)::"memory");
  return value;
#else
  return static_cast<std::uint64_t>(now(CLOCK_MONOTONIC_RAW).count());
#endif
}

inline void spin_pause() {
#if defined(__x86_64__)
  asm volatile("pause" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Ticks a second, from two readings of both clocks. The longer apart, the better: a reading is
// good to some hundred nanoseconds.
class TickRate {
 public:
  TickRate() : start_(read()) {}
  [[nodiscard]] double per_second() const {
    const Reading end = read();
    return static_cast<double>(end.ticks - start_.ticks) / to_seconds(end.time - start_.time);
  }
  [[nodiscard]] Nanoseconds elapsed() const { return read().time - start_.time; }

 private:
  struct Reading {
    std::uint64_t ticks;
    Nanoseconds time;
  };
  // Of several tries the one that was least interrupted.
  static Reading read() {
    Reading best{};
    std::uint64_t shortest = ~0ULL;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t before = ticks();
      const Nanoseconds time = now(CLOCK_MONOTONIC_RAW);
      const std::uint64_t took = ticks() - before;
      if (took < shortest) {
        shortest = took;
        best = {before + took / 2, time};
      }
    }
    return best;
  }

  Reading start_;
};

}  // namespace loft::machine
