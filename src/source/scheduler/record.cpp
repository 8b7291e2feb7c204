#include "source/scheduler/record.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/child_process.hpp"
#include "base/file.hpp"
#include "base/privileges.hpp"
#include "base/text.hpp"
#include "sample/call_section.hpp"
#include "sample/region_section.hpp"
#include "sample/wakeups.hpp"
#include "source/calls/call_watch.hpp"
#include "source/living_tasks.hpp"
#include "source/region_file.hpp"
#include "source/scheduler/energy_sampler.hpp"
#include "source/scheduler/event_places.hpp"
#include "source/scheduler/off_cpu.hpp"
#include "source/scheduler/poll_clock.hpp"
#include "source/scheduler/probe.hpp"
#include "source/scheduler/recorder.hpp"
#include "source/scheduler/recording_file.hpp"
#include "source/scheduler/side_band.hpp"
#include "source/scheduler/wanted_events.hpp"
#include "source/supervisor.hpp"

namespace loft::source::scheduler {
namespace {

// Well below the second that a killed recorder may lose.
constexpr Nanoseconds kRound = std::chrono::milliseconds(200);

// A thread has one tracer: the recorder that holds threads at their birth is one, too.
constexpr std::string_view kTracingRecorder = "threads";

// Capabilities of the file are for opening; what follows needs none, but where sets of events
// change: before Linux 5.19 who may not load programs may not run one either, which each turn does.
// Root is left as it is: it looks into processes of others, and undoes what it changed for them.
void drop_capabilities(bool sets_change) {
  if (::geteuid() == 0) return;
  constexpr std::array kForChanges{CAP_BPF, CAP_PERFMON};
  keep_capabilities(std::span(kForChanges).first(sets_change ? kForChanges.size() : 0));
}

class RecordedRun {
 public:
  explicit RecordedRun(const RecordRequest& request) : request_(request) {}

  Result<RecordResult> run() {
    if (!request_.command.empty()) {
      if (auto regions = RegionFile::create())
        regions_ = *std::move(regions);
      else
        result_.notes.push_back("regions are not recorded: " + regions.error().why);
      LOFT_TRY(child_, ChildProcess::prepare(request_.command, streams_of(request_)));
    }
    LOFT_TRY(plan_.sets, choose_sets(request_));
    plan_.may_change = !!request_.next_events;
    LOFT_CHECK(isolate());
    LOFT_CHECK(open_recorder());
    LOFT_CHECK(open_samplers());
    // From here on Ctrl-C ends the program, and not the recording before its end is written.
    std::function<void(int)> pass_on;
    if (child_) pass_on = [this](int signal) { child_->signal(signal); };
    LOFT_TRY(Supervisor supervisor, Supervisor::create(std::move(pass_on)));
    supervisor_.emplace(std::move(supervisor));
    supervisor_->end_with(request_.life);
    LOFT_CHECK(create_file());
    LOFT_CHECK(watch_machine());
    drop_capabilities(plan_.sets.take_turns());
    LOFT_CHECK(watch_calls());
    LOFT_CHECK(let_go());
    LOFT_CHECK(prepare_waiting());
    while (!is_over()) LOFT_CHECK(step());
    return collect();
  }

 private:
  // Before anything is open that its guardian would keep open.
  Result<void> isolate() {
    if (!request_.isolation) return {};
    const auto program = child_ ? std::vector<pid_t>{child_->pid()} : request_.pids;
    LOFT_TRY(isolation_, Isolation::begin(program, *request_.isolation));
    result_.isolation = isolation_->report();
    return {};
  }

  // From the best down. A recorder that was asked for by name is the only one that is tried.
  Result<void> open_recorder() {
    plan_.slice_ns = static_cast<std::uint64_t>(request_.slice.count());
    plan_.slices = request_.types.pmu;
    plan_.switches = request_.types.sched;
    plan_.migrations = request_.types.mig;
    plan_.wakers = request_.off_cpu;
    if (child_) plan_.program = child_->pid();
    plan_.processes = request_.pids;
    plan_.whole_machine = request_.whole_machine;
    plan_.ring_bytes = request_.ring_bytes;
    start_ = now();  // what runs already counts from here on
    std::optional<Error> first;
    for (const RecorderKind& kind : recorders()) {
      if (!request_.recorder.empty() && request_.recorder != kind.name) continue;
      if (request_.recorder.empty() && !kind.can_count && !request_.events_may_be_missing) continue;
      if (request_.recorder.empty() && request_.whole_machine && !kind.sees_machine) continue;
      if (request_.recorder.empty() && plan_.may_change && !kind.can_change) continue;
      auto recorder = open(kind);
      if (recorder) {
        recorder_ = *std::move(recorder);
        if (first) result_.notes.push_back("not the best way to watch: " + to_string(*first));
        return {};
      }
      if (!first) first = recorder.error();
    }
    if (!first)
      return failure(ErrorKind::invalid_input, "record by '" + request_.recorder + "'",
                     "there is no such way");
    return Failure(*first);
  }

  [[nodiscard]] Result<std::unique_ptr<Recorder>> open(const RecorderKind& kind) const {
    const auto what = fmt::format("record by '{}'", kind.name);
    if (request_.calls && kind.name == kTracingRecorder)
      return failure(ErrorKind::unsupported, what, "it needs ptrace, which --calls uses",
                     "leave --calls out");
    if (request_.until_all_end && !kind.outlives_program)
      return failure(ErrorKind::unsupported, what, "it ends with the program", "leave --all out");
    if (plan_.may_change && !kind.can_change)
      return failure(ErrorKind::unsupported, what, "it cannot change events while it counts",
                     "leave --control out");
    if (request_.whole_machine && !kind.sees_machine)
      return failure(ErrorKind::unsupported, what,
                     "it follows programs, not all that runs on the machine",
                     "leave --recorder out");
    auto opened = kind.open(plan_);
    if (!opened && request_.whole_machine) opened.error().what = "record the whole machine";
    return opened;
  }

  // Last of all, so that it is not what loft itself does before that is recorded.
  Result<void> watch_machine() {
    if (!request_.whole_machine) return {};
    start_ = now();
    auto started = recorder_->start();
    if (!started) file_->discard();
    return started;
  }

  // Call stacks and energy, which every recorder has beside it.
  Result<void> open_samplers() {
    if (request_.types.epc) {
      energy_ = EnergySampler::open();
      if (energy_->names().empty())
        return failure(ErrorKind::unsupported, "record energy",
                       "this machine shows no meter that can be read",
                       "'loft doctor' tells which there are; leave epc out of --types");
    }
    const bool is_sampled = request_.frequency_hz != 0 || request_.period != 0;
    if (!is_sampled && !request_.off_cpu) return {};
    perf_events::SamplerPlan plan;
    if (is_sampled && request_.sampled.empty())
      plan.events = {{perf_events::clocks(), request_.period, request_.frequency_hz}};
    for (const event::Event& event : request_.sampled)
      plan.events.push_back({{event}, request_.period, request_.frequency_hz});
    if (request_.off_cpu) plan.events.push_back(blocking_event());
    plan.stacks = request_.stacks;
    plan.ring_bytes = request_.ring_bytes;
    plan.from_exec = child_.has_value();
    if (request_.whole_machine) {
      plan.tasks = {-1};
      plan.from_exec = false;
    } else {
      LOFT_TRY(plan.tasks, first_tasks());
    }
    LOFT_TRY(stacks_, perf_events::Sampler::open(plan));
    if (request_.off_cpu) off_cpu_.emplace(stacks_->events().back().ids);
    if (stacks_->lacks_kernel())
      result_.notes.push_back("samples are of user mode alone: no permission for the kernel's");
    return {};
  }

  // The program, or the threads of all processes that run already.
  [[nodiscard]] Result<std::vector<pid_t>> first_tasks() const {
    if (request_.whole_machine) return tids_of(source::living_tasks());
    if (child_) return std::vector<pid_t>{child_->pid()};
    std::vector<pid_t> tasks;
    for (const pid_t pid : request_.pids) {
      LOFT_TRY(const auto threads, threads_of(pid));
      std::ranges::copy(tids_of(threads), std::back_inserter(tasks));
    }
    return tasks;
  }

  static std::vector<pid_t> tids_of(const std::vector<LivingTask>& tasks) {
    std::vector<pid_t> tids;
    for (const LivingTask& task : tasks) tids.push_back(task.tid);
    return tids;
  }

  Result<void> create_file() {
    RecordingPlan plan;
    plan.basics = recorder_->basics();
    plan.counters = recorder_->counters();
    if (plan_.may_change) {
      places_.emplace(recorder_->counters());
      plan.counters = places_->in_recording();
      plan.spare = kMostCounters - plan.counters.events.size();
    }
    plan.slice_ns = plan_.slice_ns;
    plan.migrations = request_.types.mig && recorder_->basics() == kSliceEvents.size();
    plan.kernel_events = recorder_->kernel_events();
    if (stacks_)
      for (const KernelEvent& event : stacks_->events()) plan.kernel_events.push_back(event);
    if (energy_) plan.meters = energy_->names();
    LOFT_TRY(const CpuList cpus, online_cpus());
    plan.cpus = static_cast<std::uint32_t>(cpus.empty() ? 1 : cpus.back() + 1);
    for (const event::Event& event : plan.counters.events) result_.events.push_back(event.name);
    if (!places_)
      for (const EventSet& set : plan.counters.sets) result_.turns += set.takes_turns ? 1 : 0;
    LOFT_TRY(file_, RecordingFile::create(request_.output, std::move(plan)));
    if (off_cpu_) off_cpu_->set_behind(*file_);
    if (places_) places_->set_behind(behind_places());
    auto described = describe_beginning();
    if (!described) file_->discard();
    return described;
  }

  Result<void> describe_beginning() {
    describe_kernel(*file_);
    for (const pid_t pid : request_.pids)
      if (!describe_process(pid, 0, *file_)) return Failure(threads_of(pid).error());
    if (request_.whole_machine)
      for (const LivingTask& task : source::living_tasks())
        if (task.tid == task.pid) (void)describe_process(task.pid, 0, *file_);
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
    if (stacks_) LOFT_CHECK(stacks_->start());
    if (!child_) return {};
    if (!request_.whole_machine) start_ = now();
    auto started = child_->start([this] {
      if (calls_) calls_->drain();
    });
    if (!started) file_->discard();
    return started;
  }

  Result<void> watch_calls() {
    if (!request_.calls) return {};
    calls_.emplace(*request_.calls);
    Result<void> watched;
    if (child_) watched = calls_->launch(child_->pid());
    for (const pid_t pid : request_.pids)
      if (watched) watched = calls_->attach(pid);
    if (!watched) file_->discard();
    return watched;
  }

  Result<void> wait_for_calls() {
    if (!calls_) return {};
    supervisor_->on_readable(calls_->fd(), [this] {
      calls_->drain();
      has_ticked_ = true;
    });
    const auto interval = calls_->interval();
    if (!interval) return {};
    LOFT_TRY(calls_clock_, make_timer());
    LOFT_CHECK(set_timer(calls_clock_, *interval, *interval));
    supervisor_->on_readable(calls_clock_.get(), [this] {
      if (take_expirations(calls_clock_) != 0) calls_->look();
      has_ticked_ = true;
    });
    return {};
  }

  // The program goes on as it was; what was counted of it goes into the file.
  Result<void> keep_calls() {
    if (!calls_) return {};
    LOFT_CHECK(calls_->detach());
    if (calls_->error()) result_.notes.push_back(to_string(*calls_->error()));
    sample::CallRun run = calls_->take();
    run.end.elapsed = result_.wall;
    run.command = request_.command;
    if (child_ && !supervisor_->all_ended())
      run.notes.emplace_back("loft was ended before the program: calls until then");
    note_calls(run, result_);
    if (!result_.broken)
      file_->add_section(event::recording::kCallsSection, sample::call_section(run));
    return {};
  }

  // After the last switch.
  void keep_off_cpu() {
    if (!off_cpu_) return;
    stacks_->drain([this](std::span<const std::byte> record) { off_cpu_->take_raw(record); });
    off_cpu_->finish(static_cast<std::uint64_t>(now().count()));
    result_.off_cpu = off_cpu_->total();
    auto wakeups = off_cpu_->wakeups();
    for (sample::Wakeups& one : wakeups) one.is_sure = recorder_->tells_interrupts();
    if (recorder_->name() != "bpf")
      result_.notes.push_back("who woke whom is not known: only BPF on the scheduler tells");
    else
      file_->add_section(event::recording::kWakeupsSection, sample::wakeup_section(wakeups));
  }

  // What the program added up itself.
  void keep_regions() {
    if (!regions_ || !regions_->is_used()) return;
    sample::RunCounts run = regions_->run();
    result_.regions = count_regions(run);
    std::ranges::move(regions_->notes(), std::back_inserter(result_.notes));
    if (!result_.broken)
      file_->add_section(event::recording::kRegionsSection, sample::region_section(run));
  }

  Result<void> prepare_waiting() {
    const auto processes = child_ ? std::vector<pid_t>{child_->pid()} : request_.pids;
    for (const pid_t pid : processes) LOFT_CHECK(supervisor_->follow(pid));
    if (const auto clock = recorder_->clock_fd())
      supervisor_->on_readable(*clock, [this] {
        recorder_->tick();
        has_ticked_ = true;
      });
    if (energy_) {
      LOFT_CHECK(energy_clock_.start(plan_.slice_ns));
      supervisor_->on_readable(energy_clock_.fd(), [this] {
        if (energy_clock_.take() && !result_.broken) energy_->sample(*file_, now());
        has_ticked_ = true;
      });
    }
    LOFT_CHECK(wait_for_calls());
    const auto drain = [this] { is_round_due_ = true; };
    for (const int fd : recorder_->wake_fds()) supervisor_->on_readable(fd, drain);
    if (stacks_)
      for (const int fd : stacks_->wake_fds()) supervisor_->on_readable(fd, drain);
    return {};
  }

  [[nodiscard]] std::uint64_t living_tasks() const {
    const std::uint64_t all = first_tasks_ + file_->forks();
    return all - std::min(all, file_->exits());
  }

  [[nodiscard]] bool is_over() const {
    if (supervisor_->is_interrupted()) return true;
    if (request_.whole_machine && !child_) return false;
    if (!supervisor_->all_ended()) return false;
    return !request_.until_all_end || result_.broken || living_tasks() == 0;
  }

  // A tick of the recorder's clock alone needs no round.
  Result<void> step() {
    has_ticked_ = is_round_due_ = false;
    LOFT_CHECK(supervisor_->wait(until_next_round()));
    if (has_ticked_ && !is_round_due_ && !supervisor_->is_over() && until_next_round().count() > 0)
      return {};
    write_round();
    return {};
  }

  [[nodiscard]] Nanoseconds until_next_round() const {
    return std::max(Nanoseconds(0), last_round_ + kRound - now());
  }

  // When the file cannot take more, the program is left alone from then on.
  void write_round() {
    last_round_ = now();
    if (result_.broken) return;
    drain_all();
    look_for_change();
    if (const auto written = file_->end_round(); !written) give_up(written.error());
  }

  void look_for_change() {
    if (!request_.next_events || supervisor_->is_over()) return;
    const auto events = request_.next_events();
    if (!events) return;
    const Result<void> changed = change_to(*events);
    result_.changes += changed ? 1 : 0;
    request_.on_change(changed);
  }

  // The recording gets to know of events before slices have them.
  Result<void> change_to(const std::vector<event::Event>& asked) {
    LOFT_TRY(const auto events, choose_at_once(asked));
    LOFT_CHECK(recorder_->change(events));
    return places_->add_new(recorder_->counters(), *file_);
  }

  [[nodiscard]] TaskEvents& behind_places() {
    return off_cpu_ ? static_cast<TaskEvents&>(*off_cpu_) : *file_;
  }
  [[nodiscard]] TaskEvents& sink() {
    return places_ ? static_cast<TaskEvents&>(*places_) : behind_places();
  }

  // Switches first: a sample of a task that blocked is then there before the task comes back.
  void drain_all() {
    recorder_->drain(sink());
    if (stacks_)
      stacks_->drain(
          [this](std::span<const std::byte> record) { behind_places().take_raw(record); });
    if (off_cpu_) off_cpu_->write_finished();
    if (energy_) energy_->sample(*file_, now());
  }

  void give_up(const Error& error) {
    result_.broken = error;
    if (request_.on_broken) request_.on_broken(error);
    supervisor_->stop_reading();
    if (calls_) (void)calls_->detach();  // the program is traced no more; nothing is kept of calls
    recorder_->stop(sink());
  }

  Result<RecordResult> collect() {
    if (calls_) calls_->drain();
    if (child_ && supervisor_->all_ended()) {
      LOFT_TRY(const ProcessEnd end, child_->wait());
      result_.exit_status = end.shell_status();
    } else if (child_) {
      child_->release();
    }
    result_.wall = now() - start_;
    if (isolation_)
      for (const std::string& line : isolation_->end()) result_.isolation.push_back(line);
    if (!result_.broken) {
      drain_all();
      if (energy_) energy_->finish(*file_, now());
      recorder_->stop(sink());
      keep_off_cpu();
      if (const auto written = file_->end_round(); !written) give_up(written.error());
    }
    LOFT_CHECK(keep_calls());
    keep_regions();
    LOFT_TRY(result_.tally, recorder_->tally());
    result_.recorder = recorder_->name();
    result_.description = recorder_->description();
    for (const std::string& note : recorder_->notes()) result_.notes.push_back(note);
    result_.written = file_->taken();
    result_.lost = file_->lost();
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
    facts.loft = {{fact::kRecorder, result_.recorder},
                  {fact::kSliceNs, number(plan_.slice_ns)},
                  {fact::kTurns, number(result_.turns)},
                  {fact::kChanges, number(result_.changes)},
                  {fact::kSeen, number(result_.tally.seen + result_.lost - result_.tally.lost)},
                  {fact::kWritten, number(result_.written)},
                  {fact::kLost, number(result_.lost)},
                  {fact::kLostRunNs, number(result_.tally.lost_run_ns)},
                  {fact::kLostTasks, number(result_.tally.lost_tasks)},
                  {fact::kMissed, number(result_.tally.missed)},
                  {fact::kStillRunning, number(result_.still_running)},
                  {fact::kWallNs, number(static_cast<std::uint64_t>(result_.wall.count()))},
                  {fact::kExitStatus, number(static_cast<std::uint64_t>(result_.exit_status))}};
    if (isolation_) facts.loft.emplace_back(fact::kIsolatedOn, format_cpu_list(isolation_->cpus()));
    if (request_.more_facts)
      for (auto& more : request_.more_facts()) facts.loft.push_back(std::move(more));
    return facts;
  }

  const RecordRequest& request_;
  std::optional<RegionFile> regions_;  // before the program, which finds it
  std::optional<ChildProcess> child_;
  std::optional<Isolation> isolation_;
  WatchPlan plan_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<perf_events::Sampler> stacks_;
  std::optional<OffCpuTimes> off_cpu_;
  std::optional<EnergySampler> energy_;
  PollClock energy_clock_;  // at the length of a slice
  Fd calls_clock_;
  std::unique_ptr<RecordingFile> file_;
  std::optional<EventPlaces> places_;  // where events may change
  std::uint64_t first_tasks_ = 0;
  Nanoseconds start_{};
  std::optional<Supervisor> supervisor_;
  Nanoseconds last_round_{};
  bool has_ticked_ = false;
  bool is_round_due_ = false;
  RecordResult result_;
  std::optional<calls::CallWatch> calls_;
};

}  // namespace

void note_calls(const sample::CallRun& run, RecordResult& result) {
  RecordedCalls& calls = result.calls.emplace();
  calls.kept = run.calls.size();
  calls.lost = run.lost;
  for (const sample::WatchedFunction& function : run.functions)
    ++(function.is_watched() ? calls.functions : calls.not_watched);
  for (const std::string& note : run.notes) result.notes.push_back(note);
}

std::size_t count_regions(const sample::RunCounts& run) {
  return static_cast<std::size_t>(
      std::ranges::count_if(run.regions, [](const auto& region) { return !region.thread; }));
}

StandardStreams streams_of(const RecordRequest& request) {
  StandardStreams streams;
  if (request.output == kStandardOutput) streams.out = STDERR_FILENO;
  return streams;
}

Result<RecordResult> record(const RecordRequest& request) { return RecordedRun(request).run(); }

}  // namespace loft::source::scheduler
