#include "source/supervisor.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace loft::source {
namespace {

timespec timespec_of(Nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

}  // namespace

Result<Fd> make_timer() {
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.is_open()) return failure_of_errno(errno, "make a timer");
  return timer;
}

Result<void> set_timer(const Fd& timer, Nanoseconds first, Nanoseconds period) {
  const itimerspec setting{timespec_of(period), timespec_of(first)};
  if (::timerfd_settime(timer.get(), 0, &setting, nullptr) != 0)
    return failure_of_errno(errno, "set a timer");
  return {};
}

std::uint64_t take_expirations(const Fd& timer) {
  std::uint64_t times = 0;
  return ::read(timer.get(), &times, sizeof times) == sizeof times ? times : 0;
}

Result<Supervisor> Supervisor::create(std::function<void(int)> pass_on) {
  LOFT_TRY(SignalTrap signals, SignalTrap::set());
  Supervisor supervisor(std::move(signals));
  supervisor.pass_on_ = std::move(pass_on);
  supervisor.polled_.push_back({supervisor.signals_.fd(), POLLIN, 0});
  supervisor.watched_.emplace_back();
  return supervisor;
}

Result<void> Supervisor::follow(pid_t pid) {
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.is_open()) return failure_of_errno(errno, fmt::format("watch process {}", pid));
  polled_.push_back({process.get(), POLLIN, 0});
  watched_.push_back({std::move(process), {}, false});
  ++running_;
  is_following_ = true;
  return {};
}

void Supervisor::on_readable(int fd, std::function<void()> action) {
  polled_.push_back({fd, POLLIN, 0});
  watched_.push_back({Fd(), std::move(action), false});
}

void Supervisor::end_with(int fd) {
  if (fd < 0) return;
  polled_.push_back({fd, 0, 0});
  watched_.push_back({Fd(), [] {}, true});
}

void Supervisor::stop_reading() {
  for (std::size_t i = 1; i < polled_.size(); ++i)
    if (!watched_[i].process.is_open()) polled_[i].fd = -1;
}

Result<void> Supervisor::wait(std::optional<Nanoseconds> most) {
  timespec limit{};
  if (most) limit = timespec_of(std::max(*most, Nanoseconds(0)));
  for (pollfd& entry : polled_) entry.revents = 0;
  if (::ppoll(polled_.data(), polled_.size(), most ? &limit : nullptr, nullptr) < 0) {
    if (errno == EINTR) return {};
    return failure_of_errno(errno, "wait for the program");
  }
  if (polled_[0].revents != 0) take_signals();
  for (std::size_t i = 1; i < polled_.size(); ++i) {
    if (polled_[i].revents == 0 || polled_[i].fd < 0) continue;
    if (watched_[i].process.is_open()) {
      polled_[i].fd = -1;
      --running_;
      continue;
    }
    const bool is_over = (polled_[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    watched_[i].action();
    is_interrupted_ = is_interrupted_ || watched_[i].ends_waiting;
    if (is_over) polled_[i].fd = -1;
  }
  return {};
}

void Supervisor::take_signals() {
  while (const auto info = signals_.take()) {
    if (!pass_on_ || running_ == 0)
      is_interrupted_ = true;
    else if (info->ssi_code != SI_KERNEL)  // else the terminal has sent it to the program as well
      pass_on_(static_cast<int>(info->ssi_signo));
  }
}

}  // namespace loft::source
