// Follows a program, or processes that run already, to their end. This is the one loop that waits
// for signals, for the ends of processes, for timers and for descriptors with something to read.
//
//   LOFT_TRY(auto supervisor, Supervisor::create([&](int signal) { child.signal(signal); }));
//   supervisor.on_readable(ring_fd, [&] { drain(); });
//   LOFT_CHECK(child.start());
//   LOFT_CHECK(supervisor.follow(child.pid()));
//   while (!supervisor.is_over()) LOFT_CHECK(supervisor.wait(std::nullopt));
//
// SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end loft meanwhile. They reach the program: one that
// was sent to loft alone is passed on. Where there is no program to pass it on to, or when that has
// ended, the signal ends the waiting.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "source/signal_trap.hpp"

namespace loft::source {

// Becomes readable after each `period`, the first time after `first`; a period of zero: just once.
[[nodiscard]] Result<Fd> make_timer();
[[nodiscard]] Result<void> set_timer(const Fd& timer, Nanoseconds first, Nanoseconds period);
// How often it has expired since it was last asked.
[[nodiscard]] std::uint64_t take_expirations(const Fd& timer);

class Supervisor {
 public:
  // `pass_on` sends a signal to the program; empty where loft started none.
  [[nodiscard]] static Result<Supervisor> create(std::function<void(int)> pass_on);

  // Follows a process to its end.
  [[nodiscard]] Result<void> follow(pid_t pid);

  // Calls `action` whenever `fd` is readable, until the other side of it hangs up.
  void on_readable(int fd, std::function<void()> action);
  void stop_reading();  // all of them
  // Ends the waiting, as a signal would, when the other side of `fd` is gone; -1: there is none.
  void end_with(int fd);

  // Waits until something happens, at most for `most`, and calls the actions.
  [[nodiscard]] Result<void> wait(std::optional<Nanoseconds> most);

  // Of the processes that are followed, if any are.
  [[nodiscard]] bool all_ended() const { return is_following_ && running_ == 0; }
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }
  [[nodiscard]] bool is_over() const { return all_ended() || is_interrupted_; }

 private:
  struct Watched {
    Fd process;  // open where it is a process; else the descriptor belongs to somebody else
    std::function<void()> action;
    bool ends_waiting = false;
  };

  explicit Supervisor(SignalTrap signals) : signals_(std::move(signals)) {}
  void take_signals();

  SignalTrap signals_;
  std::function<void(int)> pass_on_;
  std::vector<pollfd> polled_;    // the first is for the signals
  std::vector<Watched> watched_;  // aligned with it
  bool is_following_ = false;
  std::size_t running_ = 0;
  bool is_interrupted_ = false;
};

}  // namespace loft::source
