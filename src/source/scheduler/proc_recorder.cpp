// The last recorder: reads /proc now and then. It needs no permission at all.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "source/living_tasks.hpp"
#include "source/scheduler/poll_clock.hpp"
#include "source/scheduler/recorder.hpp"

namespace loft::source::scheduler {
namespace {

class ProcRecorder final : public Recorder {
 public:
  Result<void> open(const WatchPlan& plan) {
    plan_ = plan;
    std::vector<pid_t> processes = plan.processes;
    if (plan.program) processes.push_back(*plan.program);
    for (const pid_t pid : processes) {
      if (!scheduler_sums(pid, pid))
        return failure(ErrorKind::unsupported, fmt::format("watch process {} by /proc", pid),
                       "this kernel does not show how long its tasks ran (schedstat)");
      processes_.insert(pid);
      for (const LivingTask& task : tasks_of(pid)) meet(task);
    }
    return clock_.start(plan.slice_ns);
  }

  std::string name() const override { return "proc"; }
  std::string description() const override { return "looking into /proc " + clock_.pause(); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes{
        "tasks that lived between two looks are missing, and what others ran after the last look; "
        "there are no switches, no addresses and no maps"};
    if (!plan_.sets.events.empty()) notes.push_back("no events were counted: /proc has none");
    return notes;
  }
  const EventSets& counters() const override { return counters_; }
  std::size_t basics() const override { return 3; }  // run time, waiting, times on a CPU
  std::vector<KernelEvent> kernel_events() const override { return {}; }
  std::vector<int> wake_fds() const override { return {clock_.fd()}; }

  void drain(TaskEvents& events) override {
    (void)clock_.take();  // whatever the reason, /proc is read
    poll(events);
  }

  void stop(TaskEvents& events) override { poll(events); }

  Result<Tally> tally() const override {
    Tally tally;
    tally.seen = records_;
    return tally;
  }

 private:
  struct Known {
    LivingTask task;
    SchedulerSums reported;  // what slices have
    bool is_here = true;
  };

  static TaskId id_of(const LivingTask& task) {
    return {static_cast<std::uint32_t>(task.pid), static_cast<std::uint32_t>(task.tid)};
  }

  // What a task did before it was watched is not ours; a task that was born since has done nothing.
  Known& meet(const LivingTask& task, bool is_newborn = false) {
    Known known{task, {}, true};
    if (!is_newborn) known.reported = scheduler_sums(task.pid, task.tid).value_or(SchedulerSums());
    return known_[task.tid] = std::move(known);
  }

  void poll(TaskEvents& events) {
    const auto time = static_cast<std::uint64_t>(now().count());
    for (auto& [tid, known] : known_) known.is_here = false;
    // Children are found while their parents are read: the list grows meanwhile.
    std::vector<pid_t> waiting(processes_.begin(), processes_.end());
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto tasks = tasks_of(waiting[i]);
      if (tasks.empty()) processes_.erase(waiting[i]);
      for (const LivingTask& task : tasks) {
        take(task, time, events);
        for (const pid_t child : children_of(task))
          if (processes_.insert(child).second) waiting.push_back(child);
      }
    }
    bury(time, events);
  }

  void take(const LivingTask& task, std::uint64_t time, TaskEvents& events) {
    auto found = known_.find(task.tid);
    if (found != known_.end() && found->second.task.start != task.start) {
      events.take(Exit{{time, task.cpu}, id_of(found->second.task)});  // its number was used again
      ++records_;
      found = known_.end();
    }
    const bool is_newborn = found == known_.end();
    Known& known = is_newborn ? meet(task, true) : found->second;
    if (is_newborn) {
      const auto parent = static_cast<std::uint32_t>(task.tid == task.pid ? task.parent : task.pid);
      events.take(Fork{{time, task.cpu}, id_of(task), {parent, parent}});
      ++records_;
    }
    if (is_newborn || known.task.name != task.name)
      events.take(Name{{time, task.cpu}, id_of(task), task.name});
    known.task = task;
    known.is_here = true;
    if (plan_.slices) end_slice(known, time, events);
  }

  void end_slice(Known& known, std::uint64_t time, TaskEvents& events) {
    const auto sums = scheduler_sums(known.task.pid, known.task.tid);
    if (!sums) return;
    const std::uint64_t run = sums->run_ns - std::min(sums->run_ns, known.reported.run_ns);
    if (run == 0) return;
    Slice slice;
    slice.end = {time, known.task.cpu};
    slice.task = id_of(known.task);
    slice.run_ns = run;
    slice.wait_ns = sums->wait_ns - std::min(sums->wait_ns, known.reported.wait_ns);
    slice.switches = sums->turns - std::min(sums->turns, known.reported.turns);
    known.reported = *sums;
    events.take(slice);
    ++records_;
  }

  void bury(std::uint64_t time, TaskEvents& events) {
    std::erase_if(known_, [&](const auto& entry) {
      if (entry.second.is_here) return false;
      events.take(Exit{{time, entry.second.task.cpu}, id_of(entry.second.task)});
      ++records_;
      return true;
    });
  }

  WatchPlan plan_;
  EventSets counters_;  // none
  PollClock clock_;
  std::set<pid_t> processes_;
  std::map<pid_t, Known> known_;  // by tid
  std::uint64_t records_ = 0;
};

}  // namespace

Result<std::unique_ptr<Recorder>> open_proc_recorder(const WatchPlan& plan) {
  auto recorder = std::make_unique<ProcRecorder>();
  LOFT_CHECK(recorder->open(plan));
  return recorder;
}

}  // namespace loft::source::scheduler
