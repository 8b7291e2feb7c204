// The clock of recorders that poll: its descriptor is readable whenever it is time to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "source/supervisor.hpp"

namespace loft::source::scheduler {

// From half the mean to one and a half. A program whose own period is that of equal turns would
// show each set of events the same part of itself, again and again.
template <class Random>
std::uint64_t uneven_pause(std::uint64_t mean_ns, Random& random) {
  return std::uniform_int_distribution<std::uint64_t>(mean_ns / 2, mean_ns / 2 + mean_ns)(random);
}

class PollClock {
 public:
  // For polling every thread: at the length of a slice, but not more often than it is worth.
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
    if (take_expirations(fd_) == 0) return false;
    if (is_uneven_) (void)set(uneven_pause(pause_ns_, random_), 0);  // it could be set before
    return true;
  }
  [[nodiscard]] std::string pause() const {
    return (is_uneven_ ? "about every " : "every ") +
           format_seconds(static_cast<double>(pause_ns_) * 1e-9);
  }

 private:
  Result<void> set(std::uint64_t first_ns, std::uint64_t then_ns) {
    if (!fd_.is_open()) {
      LOFT_TRY(fd_, make_timer());
    }
    return set_timer(fd_, Nanoseconds(first_ns), Nanoseconds(then_ns));
  }

  Fd fd_;
  std::uint64_t pause_ns_ = 0;
  bool is_uneven_ = false;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace loft::source::scheduler
