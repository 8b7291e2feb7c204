// The signals that end programs, as something to wait for beside other things.
//
//   LOFT_TRY(const SignalTrap signals, SignalTrap::set());
//   while (const auto info = signals.take()) ...   // whenever signals.fd() is readable
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::source {

// Takes the signals that end programs as readable events, and gives them back afterwards.
class SignalTrap {
 public:
  static Result<SignalTrap> set() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&wanted, number);
    SignalTrap trap;
    ::pthread_sigmask(SIG_BLOCK, &wanted, &trap.before_);
    trap.armed_ = true;
    trap.fd_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!trap.fd_.is_open()) return failure_of_errno(errno, "wait for signals");
    return trap;
  }
  SignalTrap(SignalTrap&& other) noexcept
      : fd_(std::move(other.fd_)),
        before_(other.before_),
        armed_(std::exchange(other.armed_, false)) {}
  SignalTrap& operator=(SignalTrap&&) = delete;
  ~SignalTrap() {
    if (armed_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int fd() const { return fd_.get(); }

  [[nodiscard]] std::optional<signalfd_siginfo> take() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return info;
  }

 private:
  SignalTrap() = default;
  Fd fd_;
  sigset_t before_{};
  bool armed_ = false;
};

}  // namespace loft::source
