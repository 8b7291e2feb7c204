#include "source/watch.hpp"

#include "base/text.hpp"
#include "source/supervisor.hpp"

namespace loft::source {
namespace {

class Watch {
 public:
  Watch(CountingRun& run, const CountRequest& request, const WatchOptions& options)
      : run_(run), request_(request), options_(options) {}

  Result<sample::RunCounts> to_the_end() {
    std::function<void(int)> pass_on;
    if (run_.program() != nullptr) pass_on = [this](int signal) { run_.program()->signal(signal); };
    LOFT_TRY(Supervisor supervisor, Supervisor::create(std::move(pass_on)));
    LOFT_CHECK(prepare_waiting(supervisor));
    LOFT_CHECK(run_.start());
    if (run_.program() != nullptr) LOFT_CHECK(supervisor.follow(run_.program()->pid()));
    while (!supervisor.is_over()) {
      LOFT_CHECK(supervisor.wait(std::nullopt));
      if (failed_) return Failure(*failed_);
    }
    return collect();
  }

 private:
  Result<void> prepare_waiting(Supervisor& supervisor) {
    if (options_.interval) {
      LOFT_TRY(timer_, make_timer());
      LOFT_CHECK(set_timer(timer_, *options_.interval, *options_.interval));
      supervisor.on_readable(timer_.get(), [this] { end_interval(); });
    }
    for (const int fd : run_.wake_fds()) supervisor.on_readable(fd, [this] { run_.drain(); });
    if (request_.command.empty())
      for (const pid_t pid : request_.pids) LOFT_CHECK(supervisor.follow(pid));
    return {};
  }

  void end_interval() {
    if (take_expirations(timer_) == 0) return;
    if (auto closed = close_interval(); !closed && !failed_) failed_ = closed.error();
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
    result.source = run_.source_name();
    result.target = describe_target();
    for (std::size_t i = 0; i < reading.totals.size(); ++i) {
      const event::Event& event = run_.events()[i];
      result.events.push_back({event.name, event.origin, event.unit, event.scale,
                               request_.whole_machine || !event.cpus.empty(),
                               std::move(reading.totals[i])});
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
  Fd timer_;
  Reading previous_;
  std::vector<sample::IntervalCounts> intervals_;
  std::optional<Error> failed_;
};

}  // namespace

Result<sample::RunCounts> watch(CountingRun& run, const CountRequest& request,
                                const WatchOptions& options) {
  return Watch(run, request, options).to_the_end();
}

}  // namespace loft::source
