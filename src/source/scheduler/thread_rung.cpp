// A group of counters for every thread, opened while ptrace holds it at its birth. For kernels
// before 6.12, on which threads that inherit a group cannot tell what they counted.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.hpp"
#include "source/perf_events/group.hpp"
#include "source/perf_events/task_trace.hpp"
#include "source/scheduler/living_tasks.hpp"
#include "source/scheduler/look_clock.hpp"
#include "source/scheduler/rung.hpp"

namespace loft::source::scheduler {
namespace {

using perf_events::AttrOptions;
using perf_events::Group;
using perf_events::RawReading;
using perf_events::TaskTrace;

event::Event task_clock() {
  event::Event event;
  event.name = "task-clock";
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
  return event;
}

void user_mode_only(event::Event& event) {
  event.modifiers.kernel = event.modifiers.hypervisor = false;
}

class ThreadRung final : public Rung, private TaskTrace::Visitor {
 public:
  Result<void> open(const WatchPlan& plan) {
    if (!plan.program)
      return failure(ErrorKind::unsupported, "watch each thread by counters of its own",
                     "only a program that loft starts can be held at the birth of its threads");
    plan_ = plan;
    program_ = *plan.program;
    events_ = {task_clock()};
    events_.insert(events_.end(), plan.events.begin(), plan.events.end());
    auto first = open_group(program_, true);
    if (!first && first.error().kind == ErrorKind::permission) {
      leave_the_kernel_out();
      first = open_group(program_, true);
    }
    if (!first) return Failure(first.error());
    const auto pid = static_cast<std::uint32_t>(program_);
    threads_[program_] = {{pid, pid}, *std::move(first), {}, {}};
    counters_.assign(events_.begin() + 1, events_.end());
    LOFT_CHECK(clock_.start(plan.slice_ns));
    LOFT_TRY(auto trace, TaskTrace::follow(program_));
    trace_.emplace(std::move(trace));
    return {};
  }

  std::string name() const override { return "threads"; }
  std::string description() const override {
    return "counters for every thread, read every " + clock_.pause();
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes{
        "threads are held at their birth by ptrace: programs that are started meanwhile gain no "
        "rights by setuid. There are no switches, no addresses and no maps"};
    if (is_user_only_)
      notes.push_back("counted in user mode alone: the kernel is out of bounds for this user");
    if (unwatched_ > 0)
      notes.push_back(fmt::format("{} threads have no counters: {}", unwatched_, why_unwatched_));
    return notes;
  }
  const std::vector<event::Event>& counters() const override { return counters_; }
  std::size_t basics() const override { return 1; }
  std::vector<KernelEvent> kernel_events() const override { return {}; }
  std::vector<int> wake_fds() const override { return {trace_->fd(), clock_.fd()}; }

  void drain(TaskEvents& events) override {
    sink_ = &events;
    trace_->drain(*this);
    const bool is_time = clock_.take();
    for (auto& [tid, thread] : threads_)
      if (is_time) end_slice(thread);
    sink_ = nullptr;
  }

  void stop(TaskEvents& events) override {
    if (!trace_) return;  // it was stopped before
    sink_ = &events;
    trace_->drain(*this);
    for (auto& [tid, thread] : threads_) end_slice(thread);
    sink_ = nullptr;
    trace_.reset();
  }

  Result<Tally> tally() const override {
    Tally tally;
    tally.seen = records_;
    tally.lost_tasks = unwatched_;
    return tally;
  }

 private:
  struct Watched {
    TaskId task;
    Group group;
    std::vector<RawReading> told;  // what slices have
    std::string name;
  };

  void leave_the_kernel_out() {
    is_user_only_ = true;
    std::erase_if(events_, [](const event::Event& event) {
      return event.encoding.type == PERF_TYPE_TRACEPOINT;
    });
    for (event::Event& event : events_) {
      if (&event != &events_.front() && event.modifiers.kernel && event.modifiers.user)
        event.name += ":u";
      user_mode_only(event);
    }
  }

  Result<Group> open_group(pid_t tid, bool from_exec) const {
    Group group;
    for (const event::Event& event : events_) {
      AttrOptions options{.enable_on_exec = from_exec, .disabled = from_exec};
      // Members follow their leader.
      if (!group.is_empty()) options = {.disabled = false};
      LOFT_CHECK(group.add(event, {tid, -1}, options));
    }
    return group;
  }

  static Moment moment() { return {static_cast<std::uint64_t>(now().count()), 0}; }

  void born(pid_t tid) override {
    const auto found = task_with(tid);
    if (!found) return;
    const TaskId task{static_cast<std::uint32_t>(found->pid), static_cast<std::uint32_t>(tid)};
    const auto parent =
        static_cast<std::uint32_t>(found->pid == found->tid ? found->parent : found->pid);
    sink_->take(Fork{moment(), task, {parent, parent}});
    ++records_;
    auto group = open_group(tid, false);
    if (!group) {
      ++unwatched_;
      why_unwatched_ = to_string(group.error());
      return;
    }
    threads_[tid] = {task, *std::move(group), {}, {}};
  }

  void ended(pid_t tid) override {
    const auto found = threads_.find(tid);
    if (found == threads_.end()) return;
    end_slice(found->second);
    sink_->take(Exit{moment(), found->second.task});
    ++records_;
    threads_.erase(found);
  }

  // The first thread of its process has ended by that; its number goes to the one that called exec.
  void renamed(pid_t from, pid_t tid) override {
    ended(tid);
    auto moved = threads_.extract(from);
    if (moved.empty()) return;
    end_slice(moved.mapped());
    moved.key() = tid;
    moved.mapped().task.tid = static_cast<std::uint32_t>(tid);
    threads_.insert(std::move(moved));
  }

  void end_slice(Watched& thread) {
    tell_name(thread);
    const auto values = thread.group.read();
    if (!values || values->empty()) return;
    thread.told.resize(values->size());
    const auto more = [&](std::size_t i) {
      return (*values)[i].value - std::min((*values)[i].value, thread.told[i].value);
    };
    Slice slice;
    slice.end = moment();
    slice.task = thread.task;
    slice.run_ns = more(0);
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 1; i < values->size(); ++i) counts.push_back(more(i));
    if (slice.run_ns == 0 && std::ranges::all_of(counts, [](auto count) { return count == 0; }))
      return;
    slice.counts = counts;
    const std::size_t last = values->size() - 1;
    slice.enabled_ns =
        static_cast<std::uint64_t>(((*values)[last].enabled - thread.told[last].enabled).count());
    slice.running_ns =
        static_cast<std::uint64_t>(((*values)[last].running - thread.told[last].running).count());
    thread.told = *values;
    if (!plan_.slices) return;
    sink_->take(slice);
    ++records_;
  }

  void tell_name(Watched& thread) {
    const auto task = task_with(static_cast<pid_t>(thread.task.tid));
    if (!task || task->name == thread.name) return;
    thread.name = task->name;
    sink_->take(Name{moment(), thread.task, task->name});
  }

  WatchPlan plan_;
  pid_t program_ = 0;
  std::vector<event::Event> events_;  // run time, then the counters
  std::vector<event::Event> counters_;
  bool is_user_only_ = false;
  LookClock clock_;
  std::map<pid_t, Watched> threads_;
  std::optional<TaskTrace> trace_;
  TaskEvents* sink_ = nullptr;
  std::uint64_t records_ = 0;
  std::uint64_t unwatched_ = 0;
  std::string why_unwatched_;
};

}  // namespace

Result<std::unique_ptr<Rung>> open_thread_rung(const WatchPlan& plan) {
  auto rung = std::make_unique<ThreadRung>();
  LOFT_CHECK(rung->open(plan));
  return rung;
}

}  // namespace loft::source::scheduler
