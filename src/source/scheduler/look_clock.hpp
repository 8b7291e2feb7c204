// The clock of rungs that look for themselves: readable whenever it is time to.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace loft::source::scheduler {

class LookClock {
 public:
  // At the length of a slice, but not more often than a look at every thread is worth.
  [[nodiscard]] Result<void> start(std::uint64_t slice_ns) {
    constexpr std::uint64_t kShortest = 20'000'000;
    pause_ns_ = std::max(slice_ns, kShortest);
    fd_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const timespec pause{static_cast<time_t>(pause_ns_ / 1'000'000'000),
                         static_cast<long>(pause_ns_ % 1'000'000'000)};
    const itimerspec wanted{pause, pause};
    if (!fd_.is_open() || ::timerfd_settime(fd_.get(), 0, &wanted, nullptr) != 0)
      return failure_of_errno(errno, "set a timer");
    return {};
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Whether it is time; once for each time.
  [[nodiscard]] bool take() const {
    std::uint64_t times = 0;
    return ::read(fd_.get(), &times, sizeof times) == sizeof times;
  }
  [[nodiscard]] std::string pause() const {
    return format_seconds(static_cast<double>(pause_ns_) * 1e-9);
  }

 private:
  Fd fd_;
  std::uint64_t pause_ns_ = 0;
};

}  // namespace loft::source::scheduler
