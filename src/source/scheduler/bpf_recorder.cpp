#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "source/living_tasks.hpp"
#include "source/scheduler/poll_clock.hpp"
#include "source/scheduler/probe.hpp"
#include "source/scheduler/recorder.hpp"
#include "source/scheduler/side_band.hpp"

namespace loft::source::scheduler {
namespace {

// Which processes are ours, told by the forks and exits that pass by. A process that has ended
// stays for one round, since what the kernel says of it is looked at after the round.
class OurProcesses final : public TaskEventsFilter {
 public:
  void add(pid_t pid, std::size_t threads) {
    threads_[static_cast<std::uint32_t>(pid)] = static_cast<int>(std::max<std::size_t>(1, threads));
  }
  void begin_round(TaskEvents& behind) {
    set_behind(behind);
    for (const std::uint32_t pid : ended_)
      if (const auto found = threads_.find(pid); found != threads_.end() && found->second <= 0)
        threads_.erase(found);
    ended_.clear();
  }
  [[nodiscard]] bool contain(std::uint32_t pid) const { return threads_.contains(pid); }
  [[nodiscard]] std::vector<pid_t> all() const {
    std::vector<pid_t> pids;
    for (const auto& [pid, threads] : threads_) pids.push_back(static_cast<pid_t>(pid));
    return pids;
  }

  using TaskEventsFilter::take;
  void take(const Fork& fork) override {
    ++threads_[fork.child.pid];
    behind_->take(fork);
  }
  void take(const Exit& exit) override {
    if (--threads_[exit.task.pid] <= 0) ended_.push_back(exit.task.pid);
    behind_->take(exit);
  }

 private:
  std::map<std::uint32_t, int> threads_;
  std::vector<std::uint32_t> ended_;
};

class BpfRecorder final : public Recorder {
 public:
  Result<void> open(const WatchPlan& plan) {
    options_.sets = plan.sets;
    options_.slice_ns = plan.slice_ns;
    options_.slices = plan.slices;
    options_.switches = plan.switches;
    options_.migrations = plan.migrations;
    options_.wakers = plan.wakers;
    options_.may_change = plan.may_change;
    if (plan.ring_bytes > 0)
      options_.ring_bytes = std::bit_ceil(std::max<std::size_t>(plan.ring_bytes, kLeastRing));
    LOFT_TRY(probe_, Probe::load(options_));
    LOFT_TRY(const CpuList cpus, online_cpus());
    const std::size_t pages =
        plan.ring_bytes > 0 ? perf_events::ring_pages(plan.ring_bytes) : kSideBandPages;
    LOFT_TRY(side_band_, SideBand::of_machine(cpus, pages));
    if (options_.sets.take_turns() && !plan.may_change)
      LOFT_CHECK(turns_.emplace().start_uneven(std::max(kTurn, kTurnPerCpu * cpus.size())));
    if (plan.program) {
      LOFT_CHECK(probe_->follow_program(*plan.program));
      ours_.add(*plan.program, 1);
    }
    for (const pid_t pid : plan.processes) {
      LOFT_CHECK(probe_->follow_process(pid));
      ours_.add(pid, tasks_of(pid).size());
    }
    is_of_machine_ = plan.whole_machine;
    return {};
  }

  Result<void> start() override {
    if (!is_of_machine_) return {};
    LOFT_CHECK(probe_->follow_machine());
    std::map<pid_t, std::size_t> threads;
    for (const LivingTask& task : living_tasks()) ++threads[task.pid];
    for (const auto& [pid, count] : threads) ours_.add(pid, count);
    return {};
  }

  std::string name() const override { return "bpf"; }
  std::string description() const override { return "BPF on the scheduler's tracepoints"; }
  const EventSets& counters() const override { return probe_->sets(); }
  Result<void> change(const std::vector<event::Event>& events) override {
    return probe_->change(events);
  }
  std::size_t basics() const override { return kSliceEvents.size(); }
  std::vector<KernelEvent> kernel_events() const override { return {side_band_->event()}; }
  std::vector<int> wake_fds() const override {
    std::vector<int> fds = side_band_->wake_fds();
    fds.push_back(probe_->wake_fd());
    return fds;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (options_.wakers && !tells_interrupts())
      notes.push_back(
          "this kernel does not tell interrupts apart: a thread that a timer or a device woke may "
          "seem to be woken by whoever ran on that CPU");
    if (losses_ == 0) return notes;
    notes.push_back(
        fmt::format("the kernel had no room for names and mappings {} times: those of processes "
                    "that still ran were read from /proc; --ring makes more room",
                    losses_));
    return notes;
  }
  Result<Tally> tally() const override { return probe_->tally(); }
  bool tells_interrupts() const override { return probe_->tells_interrupts(); }

  std::optional<int> clock_fd() const override {
    return turns_ ? std::optional(turns_->fd()) : std::nullopt;
  }
  void tick() override {
    if (turns_->take()) probe_->next_turn();
  }

  // What the kernel says of a process comes after the probe said that it is ours.
  void drain(TaskEvents& events) override {
    side_band_->collect();
    ours_.begin_round(events);
    probe_->drain(ours_);
    side_band_->hand_over(
        events, [this](std::uint32_t pid) { return is_of_machine_ || ours_.contain(pid); });
    if (side_band_->take_loss()) describe_again(events);
    const auto sums = probe_->tally();
    if (!sums || sums->lost == lost_reported_) return;
    events.take_lost(sums->lost - lost_reported_);
    lost_reported_ = sums->lost;
  }

  void stop(TaskEvents& events) override {
    probe_->stop();
    drain(events);
  }

 private:
  // What was lost may have been about any of them.
  void describe_again(TaskEvents& events) {
    ++losses_;
    const auto time = static_cast<std::uint64_t>(now().count());
    for (const pid_t pid : ours_.all()) (void)describe_process(pid, time, events);
  }

  // A turn takes some 20 us on every CPU.
  static constexpr std::uint64_t kTurn = 10'000'000;
  static constexpr std::uint64_t kTurnPerCpu = 500'000;
  static constexpr std::size_t kSideBandPages = 512;
  static constexpr std::size_t kLeastRing = 1 << 16;  // a page on every machine

  ProbeOptions options_;
  std::unique_ptr<Probe> probe_;
  std::optional<PollClock> turns_;
  std::optional<SideBand> side_band_;
  OurProcesses ours_;
  bool is_of_machine_ = false;
  std::uint64_t lost_reported_ = 0;
  std::uint64_t losses_ = 0;
};

}  // namespace

Result<std::unique_ptr<Recorder>> open_bpf_recorder(const WatchPlan& plan) {
  auto recorder = std::make_unique<BpfRecorder>();
  LOFT_CHECK(recorder->open(plan));
  return recorder;
}

}  // namespace loft::source::scheduler
