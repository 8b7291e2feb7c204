#include "source/watch.hpp"

#include <map>

#include "base/text.hpp"
#include "source/busy_time.hpp"
#include "source/supervisor.hpp"

namespace loft::source {
namespace {

// What was counted since `before`, which is empty at the start.
std::vector<sample::Count> since(const std::vector<sample::Count>& now,
                                 const std::vector<sample::Count>& before) {
  std::vector<sample::Count> counts;
  for (std::size_t i = 0; i < now.size(); ++i)
    counts.push_back(before.empty() ? now[i] : now[i].since(before[i]));
  return counts;
}

// Of each CPU or thread; one that was not there before has counted since it came.
template <class Part, class Key>
std::vector<Part> since(const std::vector<Part>& now, const std::vector<Part>& before, Key key) {
  std::map<int, const Part*> earlier;
  for (const Part& part : before) earlier[part.*key] = &part;
  std::vector<Part> parts;
  for (const Part& part : now) {
    const auto found = earlier.find(part.*key);
    parts.push_back(part);
    if (found != earlier.end()) parts.back().counts = since(part.counts, found->second->counts);
  }
  return parts;
}

class Watch {
 public:
  Watch(CountingRun& run, const CountRequest& request, const WatchOptions& options)
      : run_(run), request_(request), options_(options) {}

  Result<sample::RunCounts> to_the_end() {
    std::function<void(int)> pass_on;
    if (run_.program() != nullptr) pass_on = [this](int signal) { run_.program()->signal(signal); };
    LOFT_TRY(Supervisor supervisor, Supervisor::create(std::move(pass_on)));
    LOFT_CHECK(prepare_waiting(supervisor));
    if (request_.whole_machine) busy_before_ = busy_time(request_.cpus);
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
    sample::IntervalCounts interval{previous_.time, reading.time, {}, {}, {}};
    interval.counts = since(reading.totals, previous_.totals);
    if (request_.split == Split::cpus)
      interval.cpus = since(reading.cpus, previous_.cpus, &sample::CpuCounts::cpu);
    if (request_.split == Split::threads)
      interval.threads = since(reading.threads, previous_.threads, &sample::ThreadCounts::tid);
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
    if (busy_before_)
      if (const auto busy = busy_time(request_.cpus)) result.busy = *busy - *busy_before_;
    if (request_.whole_machine && !request_.cpus.empty())
      result.watched_cpus = format_cpu_list(request_.cpus);
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
    result.regions = std::move(reading.regions);
    if (request_.split == Split::cpus) result.cpus = std::move(reading.cpus);
    result.intervals = std::move(intervals_);
    result.thresholds = run_.thresholds();
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
  std::optional<Nanoseconds> busy_before_;
  std::optional<Error> failed_;
};

}  // namespace

Result<sample::RunCounts> watch(CountingRun& run, const CountRequest& request,
                                const WatchOptions& options) {
  return Watch(run, request, options).to_the_end();
}

}  // namespace loft::source
