#include "source/scheduler/record.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/child_process.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/open.hpp"
#include "source/scheduler/energy_sampler.hpp"
#include "source/scheduler/rung.hpp"
#include "source/scheduler/side_band.hpp"
#include "source/signal_trap.hpp"

namespace loft::source::scheduler {
namespace {

// Well below the second that a killed recorder may lose.
constexpr int kRoundMilliseconds = 200;

// Every slice has these already.
bool is_in_every_slice(const event::Event& event) {
  return event.encoding.type == PERF_TYPE_SOFTWARE &&
         (event.encoding.config == PERF_COUNT_SW_TASK_CLOCK ||
          event.encoding.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
          event.encoding.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

// Capabilities of the file are for opening; what follows needs none. Root stays root: the kernel
// would let it back in anyway.
void drop_capabilities() {
  if (::geteuid() == 0) return;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  ::syscall(SYS_capset, &header, none);
}

class Recorder {
 public:
  explicit Recorder(const RecordRequest& request) : request_(request) {}

  Result<RecordResult> run() {
    if (!request_.command.empty()) {
      LOFT_TRY(child_, ChildProcess::prepare(request_.command));
    }
    LOFT_CHECK(choose_events());
    LOFT_CHECK(isolate());
    LOFT_CHECK(open_rung());
    LOFT_CHECK(open_samplers());
    LOFT_CHECK(create_file());
    // Before Linux 5.19 who may not load programs may not run one either, which each turn does.
    if (!plan_.sets.take_turns()) drop_capabilities();
    LOFT_TRY(const SignalTrap signals, SignalTrap::set());
    LOFT_CHECK(let_go());
    LOFT_CHECK(prepare_waiting(signals));
    while (!is_over()) LOFT_CHECK(step(signals));
    return collect();
  }

 private:
  Result<void> choose_events() {
    LOFT_TRY(const auto events, wanted(request_.events));
    std::vector<std::vector<event::Event>> turns;
    for (const auto& set : request_.turns) {
      LOFT_TRY(turns.emplace_back(), wanted(set));
    }
    LOFT_TRY(plan_.sets, plan_sets(events, turns, {perf_events::fit_together, exists}));
    return {};
  }

  [[nodiscard]] Result<std::vector<event::Event>> wanted(
      const std::vector<event::Event>& events) const {
    std::vector<event::Event> some;
    for (const event::Event& event : events) {
      if (is_in_every_slice(event)) continue;
      if (!event.cpus.empty())
        return failure(ErrorKind::invalid_input, "record '" + event.name + "'",
                       "it counts the whole machine, not a task",
                       "leave it to 'loft stat', or record energy with --types epc");
      if (request_.events_may_be_missing && !exists(event)) continue;
      some.push_back(event);
    }
    return some;
  }

  // Before anything is open that its guardian would keep open.
  Result<void> isolate() {
    if (!request_.isolation) return {};
    const auto program = child_ ? std::vector<pid_t>{child_->pid()} : request_.pids;
    LOFT_TRY(isolation_, Isolation::begin(program, *request_.isolation));
    result_.isolation = isolation_->report();
    return {};
  }

  static bool exists(event::Event event) {
    event.modifiers.kernel = event.modifiers.hypervisor = false;  // permission is not the question
    perf_event_attr attr = perf_events::make_attr(event, {});
    return Fd(std::max(-1, perf_events::open_raw(attr, {0, -1}, -1))).is_open();
  }

  // From the best down. A rung that was asked for by name is the only one that is tried.
  Result<void> open_rung() {
    plan_.slice_ns = static_cast<std::uint64_t>(request_.slice.count());
    plan_.slices = request_.types.pmu;
    plan_.switches = request_.types.sched;
    plan_.migrations = request_.types.mig;
    if (child_) plan_.program = child_->pid();
    plan_.processes = request_.pids;
    start_ = now();  // what runs already counts from here on
    std::optional<Error> first;
    for (const RungKind& kind : rungs()) {
      if (!request_.rung.empty() && request_.rung != kind.name) continue;
      if (request_.rung.empty() && !kind.can_count && !request_.events_may_be_missing) continue;
      auto rung = request_.until_all_end && !kind.outlives_program
                      ? failure(ErrorKind::unsupported, fmt::format("record by '{}'", kind.name),
                                "it ends with the program", "leave --all out")
                      : kind.open(plan_);
      if (rung) {
        rung_ = *std::move(rung);
        if (first) result_.notes.push_back("not the best way to watch: " + to_string(*first));
        return {};
      }
      if (!first) first = rung.error();
    }
    if (!first)
      return failure(ErrorKind::invalid_input, "record by '" + request_.rung + "'",
                     "there is no such way");
    return Failure(*first);
  }

  // Call stacks and energy, which every rung has beside it.
  Result<void> open_samplers() {
    if (request_.types.epc) {
      energy_ = EnergySampler::open();
      if (energy_->names().empty())
        return failure(ErrorKind::unsupported, "record energy",
                       "this machine shows no meter that can be read",
                       "'loft doctor' tells which there are; leave epc out of --types");
    }
    if (request_.frequency_hz == 0) return {};
    SamplerPlan plan{request_.frequency_hz, request_.stacks, {}, child_.has_value()};
    LOFT_TRY(plan.tasks, first_tasks());
    LOFT_TRY(stacks_, StackSampler::open(plan));
    if (stacks_->lacks_kernel())
      result_.notes.push_back("call stacks are of user mode alone: no permission for the kernel's");
    return {};
  }

  // The program, or the threads of all processes that run already.
  [[nodiscard]] Result<std::vector<pid_t>> first_tasks() const {
    if (child_) return std::vector<pid_t>{child_->pid()};
    std::vector<pid_t> tasks;
    for (const pid_t pid : request_.pids) {
      LOFT_TRY(const auto names, list_directory(fmt::format("/proc/{}/task", pid)));
      for (const std::string& name : names)
        if (const auto tid = parse_u64(name)) tasks.push_back(static_cast<pid_t>(*tid));
    }
    return tasks;
  }

  Result<void> create_file() {
    RecordingPlan plan;
    plan.basics = rung_->basics();
    plan.counters = rung_->counters();
    plan.slice_ns = plan_.slice_ns;
    plan.migrations = request_.types.mig && rung_->basics() == kSliceEvents.size();
    plan.kernel_events = rung_->kernel_events();
    if (stacks_) plan.kernel_events.push_back(stacks_->event());
    if (energy_) plan.meters = energy_->names();
    LOFT_TRY(const CpuList cpus, online_cpus());
    plan.cpus = static_cast<std::uint32_t>(cpus.empty() ? 1 : cpus.back() + 1);
    for (const event::Event& event : plan.counters.events) result_.events.push_back(event.name);
    for (const EventSet& set : plan.counters.sets) result_.turns += set.takes_turns ? 1 : 0;
    LOFT_TRY(file_, RecordingFile::create(request_.output, std::move(plan)));
    auto described = describe_beginning();
    if (!described) file_->discard();
    return described;
  }

  Result<void> describe_beginning() {
    describe_kernel(*file_);
    for (const pid_t pid : request_.pids) LOFT_CHECK(describe_process(pid, *file_));
    LOFT_TRY(const auto tasks, first_tasks());
    first_tasks_ = tasks.size();
    if (child_) {
      const auto pid = static_cast<std::uint32_t>(child_->pid());
      const std::string& path = request_.command.front();
      file_->take(Name{{}, {pid, pid}, path.substr(path.rfind('/') + 1).substr(0, 15)});
    }
    return file_->end_round();
  }

  Result<void> let_go() {
    if (!child_) return {};
    start_ = now();
    auto started = child_->start();
    if (!started) file_->discard();
    return started;
  }

  Result<void> prepare_waiting(const SignalTrap& signals) {
    polled_.push_back({signals.fd(), POLLIN, 0});
    std::vector<pid_t> processes = request_.pids;
    if (child_) processes = {child_->pid()};
    for (const pid_t pid : processes) {
      Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (!fd.is_open()) return failure_of_errno(errno, fmt::format("watch process {}", pid));
      polled_.push_back({fd.get(), POLLIN, 0});
      processes_.push_back(std::move(fd));
    }
    first_clock_ = polled_.size();
    running_ = processes_.size();
    if (const auto clock = rung_->clock_fd()) polled_.push_back({*clock, POLLIN, 0});
    first_wake_ = polled_.size();
    for (const int fd : rung_->wake_fds()) polled_.push_back({fd, POLLIN, 0});
    if (stacks_)
      for (const int fd : stacks_->wake_fds()) polled_.push_back({fd, POLLIN, 0});
    return {};
  }

  [[nodiscard]] std::uint64_t living_tasks() const {
    const std::uint64_t all = first_tasks_ + file_->forks();
    return all - std::min(all, file_->exits());
  }

  [[nodiscard]] bool is_over() const {
    if (is_interrupted_) return true;
    if (running_ > 0) return false;
    return !request_.until_all_end || result_.broken || living_tasks() == 0;
  }

  Result<void> step(const SignalTrap& signals) {
    const int ready = ::poll(polled_.data(), polled_.size(), until_next_round());
    if (ready < 0 && errno != EINTR) return failure_of_errno(errno, "wait for the program");
    if (polled_[0].revents != 0) take_signals(signals);
    if (first_clock_ < first_wake_ && polled_[first_clock_].revents != 0) {
      rung_->tick();
      if (ready == 1 && until_next_round() > 0) return {};
    }
    for (std::size_t i = 1; i < first_clock_; ++i) {
      if (polled_[i].revents == 0) continue;
      polled_[i].fd = -1;
      --running_;
    }
    for (std::size_t i = first_wake_; i < polled_.size(); ++i)
      if ((polled_[i].revents & POLLHUP) != 0) polled_[i].fd = -1;  // its task is gone
    write_round();
    return {};
  }

  // Milliseconds; other things may wake us before.
  [[nodiscard]] int until_next_round() const {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now() - last_round_);
    return kRoundMilliseconds -
           static_cast<int>(std::clamp<std::int64_t>(passed.count(), 0, kRoundMilliseconds));
  }

  void take_signals(const SignalTrap& signals) {
    while (const auto info = signals.take()) {
      if (!child_ || running_ == 0) {
        is_interrupted_ = true;
        continue;
      }
      // The terminal has sent it to the program as well.
      const bool from_terminal = info->ssi_code == SI_KERNEL;
      if (!from_terminal) child_->signal(static_cast<int>(info->ssi_signo));
    }
  }

  // When the file cannot take more, the program is left alone from then on.
  void write_round() {
    last_round_ = now();
    if (result_.broken) return;
    drain_all();
    if (const auto written = file_->end_round(); !written) give_up(written.error());
  }

  void drain_all() {
    if (stacks_) stacks_->drain(*file_);
    rung_->drain(*file_);
    if (energy_) energy_->sample(*file_, now());
  }

  void give_up(const Error& error) {
    result_.broken = error;
    if (request_.on_broken) request_.on_broken(error);
    polled_.resize(first_clock_);
    first_wake_ = first_clock_;
    rung_->stop(*file_);
  }

  Result<RecordResult> collect() {
    if (child_ && running_ == 0) {
      LOFT_TRY(const ProcessEnd end, child_->wait());
      result_.exit_status = end.shell_status();
    }
    result_.wall = now() - start_;
    if (isolation_)
      for (const std::string& line : isolation_->end()) result_.isolation.push_back(line);
    if (!result_.broken) {
      drain_all();
      rung_->stop(*file_);
      if (const auto written = file_->end_round(); !written) give_up(written.error());
    }
    LOFT_TRY(result_.tally, rung_->tally());
    result_.rung = rung_->name();
    result_.description = rung_->description();
    for (const std::string& note : rung_->notes()) result_.notes.push_back(note);
    result_.written = file_->taken();
    result_.tasks = first_tasks_ + file_->forks();
    result_.slices = file_->slices();
    result_.switches = file_->switches();
    result_.still_running = living_tasks();
    if (!result_.broken)
      if (const auto finished = file_->finish(facts()); !finished) give_up(finished.error());
    result_.bytes = file_->bytes();
    return std::move(result_);
  }

  RecordingFacts facts() const {
    namespace fact = event::recording::fact;
    RecordingFacts facts;
    facts.version = request_.version;
    facts.command_line = request_.command_line;
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    facts.loft = {{fact::kRecorder, result_.rung},
                  {fact::kSliceNs, number(plan_.slice_ns)},
                  {fact::kTurns, number(result_.turns)},
                  {fact::kSeen, number(result_.tally.seen)},
                  {fact::kWritten, number(result_.written)},
                  {fact::kLost, number(result_.tally.lost)},
                  {fact::kLostRunNs, number(result_.tally.lost_run_ns)},
                  {fact::kLostTasks, number(result_.tally.lost_tasks)},
                  {fact::kMissed, number(result_.tally.missed)},
                  {fact::kStillRunning, number(result_.still_running)},
                  {fact::kWallNs, number(static_cast<std::uint64_t>(result_.wall.count()))},
                  {fact::kExitStatus, number(static_cast<std::uint64_t>(result_.exit_status))}};
    if (isolation_) facts.loft.emplace_back(fact::kIsolatedOn, format_cpu_list(isolation_->cpus()));
    return facts;
  }

  const RecordRequest& request_;
  std::optional<ChildProcess> child_;
  std::optional<Isolation> isolation_;
  WatchPlan plan_;
  std::unique_ptr<Rung> rung_;
  std::optional<StackSampler> stacks_;
  std::optional<EnergySampler> energy_;
  std::unique_ptr<RecordingFile> file_;
  std::uint64_t first_tasks_ = 0;
  Nanoseconds start_{};
  std::vector<pollfd> polled_;  // signals, processes, the rung's clock, then what it wakes by
  std::size_t first_clock_ = 0;
  std::size_t first_wake_ = 0;
  Nanoseconds last_round_{};
  std::vector<Fd> processes_;
  std::size_t running_ = 0;
  bool is_interrupted_ = false;
  RecordResult result_;
};

}  // namespace

Result<RecordResult> record(const RecordRequest& request) { return Recorder(request).run(); }

}  // namespace loft::source::scheduler
