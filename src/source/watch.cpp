#include "source/watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.hpp"
#include "source/signal_trap.hpp"

namespace loft::source {
namespace {

Result<Fd> make_timer(Nanoseconds interval) {
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.is_open()) return failure_of_errno(errno, "make a timer");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(interval);
  const timespec period{seconds.count(), (interval - seconds).count()};
  const itimerspec setting{period, period};
  if (::timerfd_settime(timer.get(), 0, &setting, nullptr) != 0)
    return failure_of_errno(errno, "set a timer");
  return timer;
}

class Watch {
 public:
  Watch(CountingRun& run, const CountRequest& request, const WatchOptions& options)
      : run_(run), request_(request), options_(options) {}

  Result<sample::RunCounts> to_the_end() {
    LOFT_TRY(const SignalTrap signals, SignalTrap::set());
    LOFT_CHECK(prepare_waiting(signals));
    LOFT_CHECK(run_.start());
    if (run_.program() != nullptr) LOFT_CHECK(await(run_.program()->pid()));
    while (!ended_) LOFT_CHECK(step(signals));
    return collect();
  }

 private:
  enum Kind : short { kSignal, kTimer, kWake, kProcess };

  Result<void> prepare_waiting(const SignalTrap& signals) {
    add(signals.fd(), kSignal);
    if (options_.interval) {
      LOFT_TRY(timer_, make_timer(*options_.interval));
      add(timer_.get(), kTimer);
    }
    for (const int fd : run_.wake_fds()) add(fd, kWake);
    if (request_.command.empty())
      for (const pid_t pid : request_.pids) LOFT_CHECK(await(pid));
    return {};
  }

  void add(int fd, Kind kind) {
    polled_.push_back({fd, POLLIN, 0});
    kinds_.push_back(kind);
  }

  Result<void> await(pid_t pid) {
    Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!fd.is_open()) return failure_of_errno(errno, fmt::format("watch process {}", pid));
    add(fd.get(), kProcess);
    processes_.push_back(std::move(fd));
    ++running_;
    return {};
  }

  Result<void> step(const SignalTrap& signals) {
    if (::poll(polled_.data(), polled_.size(), -1) < 0 && errno != EINTR)
      return failure_of_errno(errno, "wait for the program");
    for (std::size_t i = 0; i < polled_.size(); ++i) {
      if (polled_[i].revents == 0) continue;
      switch (kinds_[i]) {
        case kSignal:
          take_signal(signals);
          break;
        case kTimer:
          LOFT_CHECK(end_interval());
          break;
        case kWake:
          run_.drain();
          if ((polled_[i].revents & POLLHUP) != 0) polled_[i].fd = -1;  // its task is gone
          break;
        case kProcess:
          polled_[i].fd = -1;
          if (--running_ == 0) ended_ = true;
          break;
      }
    }
    return {};
  }

  void take_signal(const SignalTrap& signals) {
    while (const auto info = signals.take()) {
      if (run_.program() == nullptr) {
        ended_ = true;
        continue;
      }
      // The terminal has sent it to the program as well.
      const bool from_terminal = info->ssi_code == SI_KERNEL;
      if (!from_terminal) run_.program()->signal(static_cast<int>(info->ssi_signo));
    }
  }

  Result<void> end_interval() {
    std::uint64_t ticks = 0;
    if (::read(timer_.get(), &ticks, sizeof ticks) != sizeof ticks) return {};
    return close_interval();
  }

  Result<void> close_interval() {
    LOFT_TRY(Reading reading, run_.read());
    sample::IntervalCounts interval{previous_.time, reading.time, {}};
    for (std::size_t i = 0; i < reading.totals.size(); ++i)
      interval.counts.push_back(previous_.totals.empty()
                                    ? reading.totals[i]
                                    : reading.totals[i].since(previous_.totals[i]));
    if (options_.on_interval) options_.on_interval(interval);
    intervals_.push_back(std::move(interval));
    previous_ = std::move(reading);
    return {};
  }

  Result<sample::RunCounts> collect() {
    sample::RunCounts result;
    Nanoseconds wall{};
    if (run_.program() != nullptr) {
      run_.drain();  // while the program's last state can still be asked for
      LOFT_TRY(const ProcessEnd end, run_.program()->wait());
      result.exit_status = end.shell_status();
      wall = end.elapsed;
      const auto time = [](const timeval& value) -> Nanoseconds {
        return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
      };
      result.user = time(end.usage.ru_utime);
      result.system = time(end.usage.ru_stime);
    }
    if (options_.interval) LOFT_CHECK(close_interval());
    LOFT_TRY(Reading reading, run_.read());
    result.wall = run_.program() != nullptr ? wall : reading.time;
    result.command = request_.command;
    result.source = run_.source();
    result.target = describe_target();
    for (std::size_t i = 0; i < reading.totals.size(); ++i) {
      const event::Event& event = run_.events()[i];
      result.events.push_back(sample::CountedEvent::of(event, std::move(reading.totals[i])));
      result.events.back().whole_machine = request_.whole_machine || !event.cpus.empty();
    }
    result.threads = std::move(reading.threads);
    result.functions = std::move(reading.functions);
    result.blocks = std::move(reading.blocks);
    result.thread_functions = std::move(reading.thread_functions);
    if (request_.split == Split::cpus) result.cpus = std::move(reading.cpus);
    result.intervals = std::move(intervals_);
    result.notes = run_.notes();
    if (const auto complete = run_.check(); !complete) {
      if (!options_.on_incomplete) return Failure(complete.error());
      options_.on_incomplete(complete.error());
    }
    return result;
  }

  std::string describe_target() const {
    if (request_.whole_machine)
      return request_.cpus.empty() ? "all CPUs" : "CPUs " + format_cpu_list(request_.cpus);
    if (request_.pids.empty()) return join(request_.command, " ");
    std::string text = request_.pids.size() == 1 ? "process" : "processes";
    for (const pid_t pid : request_.pids) text += " " + std::to_string(pid);
    return text;
  }

  CountingRun& run_;
  const CountRequest& request_;
  const WatchOptions& options_;
  std::vector<pollfd> polled_;
  std::vector<Kind> kinds_;
  std::vector<Fd> processes_;
  std::size_t running_ = 0;
  Fd timer_;
  Reading previous_;
  std::vector<sample::IntervalCounts> intervals_;
  bool ended_ = false;
};

}  // namespace

Result<sample::RunCounts> watch(CountingRun& run, const CountRequest& request,
                                const WatchOptions& options) {
  return Watch(run, request, options).to_the_end();
}

}  // namespace loft::source
