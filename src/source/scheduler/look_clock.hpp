// The clock of rungs that do something now and then: readable whenever it is time to.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace loft::source::scheduler {

// From half the mean to one and a half. A program whose own period is that of equal turns would
// show each set of events the same part of itself, again and again.
template <class Random>
std::uint64_t uneven_pause(std::uint64_t mean_ns, Random& random) {
  return std::uniform_int_distribution<std::uint64_t>(mean_ns / 2, mean_ns / 2 + mean_ns)(random);
}

class LookClock {
 public:
  // For looks at every thread: at the length of a slice, but not more often than they are worth.
  [[nodiscard]] Result<void> start(std::uint64_t slice_ns) {
    constexpr std::uint64_t kShortest = 20'000'000;
    pause_ns_ = std::max(slice_ns, kShortest);
    return set(pause_ns_, pause_ns_);
  }

  // For event sets that take turns: each is of another length.
  [[nodiscard]] Result<void> start_uneven(std::uint64_t mean_ns) {
    pause_ns_ = mean_ns;
    is_uneven_ = true;
    return set(uneven_pause(pause_ns_, random_), 0);
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Whether it is time; once for each time.
  [[nodiscard]] bool take() {
    std::uint64_t times = 0;
    if (::read(fd_.get(), &times, sizeof times) != sizeof times) return false;
    if (is_uneven_) (void)set(uneven_pause(pause_ns_, random_), 0);  // it could be set before
    return true;
  }
  [[nodiscard]] std::string pause() const {
    return (is_uneven_ ? "about every " : "every ") +
           format_seconds(static_cast<double>(pause_ns_) * 1e-9);
  }

 private:
  static timespec time_of(std::uint64_t ns) {
    return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }

  Result<void> set(std::uint64_t first_ns, std::uint64_t then_ns) {
    if (!fd_.is_open()) fd_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const itimerspec wanted{time_of(then_ns), time_of(first_ns)};
    if (!fd_.is_open() || ::timerfd_settime(fd_.get(), 0, &wanted, nullptr) != 0)
      return failure_of_errno(errno, "set a timer");
    return {};
  }

  Fd fd_;
  std::uint64_t pause_ns_ = 0;
  bool is_uneven_ = false;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace loft::source::scheduler
