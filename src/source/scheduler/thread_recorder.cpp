// A group of counters for every thread, opened while ptrace holds it at its birth. For kernels
// before 6.12, on which threads that inherit a group cannot tell what they counted.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "source/living_tasks.hpp"
#include "source/perf_events/group.hpp"
#include "source/perf_events/task_trace.hpp"
#include "source/scheduler/poll_clock.hpp"
#include "source/scheduler/recorder.hpp"

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

class ThreadRecorder final : public Recorder, private TaskTrace::Visitor {
 public:
  Result<void> open(const WatchPlan& plan) {
    if (!plan.program)
      return failure(ErrorKind::unsupported, "watch each thread by counters of its own",
                     "only a program that loft starts can be held at the birth of its threads");
    plan_ = plan;
    program_ = *plan.program;
    use(plan.sets);
    auto first = open_groups(program_, true);
    if (!first && first.error().kind == ErrorKind::permission) {
      is_user_only_ = true;
      use(plan.sets.in_user_mode());
      first = open_groups(program_, true);
    }
    if (!first) return Failure(first.error());
    const auto pid = static_cast<std::uint32_t>(program_);
    threads_[program_] = {{pid, pid}, *std::move(first), {}, {}};
    LOFT_CHECK(turns_.empty() ? clock_.start(plan.slice_ns)
                              : clock_.start_uneven(std::max(plan.slice_ns, kTurn)));
    LOFT_TRY(auto trace, TaskTrace::follow(program_));
    trace_.emplace(std::move(trace));
    return {};
  }

  std::string name() const override { return "threads"; }
  std::string description() const override {
    return "counters for every thread, read " + clock_.pause();
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes{
        "threads are held at their birth by ptrace: programs that are started meanwhile gain no "
        "rights by setuid. There are no switches, no addresses and no maps"};
    if (is_user_only_)
      notes.push_back("counted in user mode alone: the kernel is out of bounds for this user");
    if (!left_.empty())
      notes.push_back(
          fmt::format("the program traces {} of its processes itself: these are recorded, what "
                      "they start is not",
                      left_.size()));
    if (unwatched_ > 0)
      notes.push_back(fmt::format("{} threads have no counters: {}", unwatched_, why_unwatched_));
    return notes;
  }
  const EventSets& counters() const override { return sets_; }
  std::size_t basics() const override { return 1; }
  std::vector<KernelEvent> kernel_events() const override { return {}; }
  std::vector<int> wake_fds() const override { return {trace_->fd(), clock_.fd()}; }

  void drain(TaskEvents& events) override {
    sink_ = &events;
    trace_->drain(*this);
    if (clock_.take()) {
      for (auto& [tid, thread] : threads_) end_slice(thread);
      next_turn();
    }
    sink_ = nullptr;
  }

  void stop(TaskEvents& events) override {
    if (!trace_) return;  // it was stopped before
    sink_ = &events;
    trace_->drain(*this);
    for (const pid_t tid : left_)  // nobody told of their ends
      if (!task_with(tid)) ended(tid);
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
    std::vector<Group> groups;  // run time with what needs no counter, then by set
    std::vector<std::vector<RawReading>> reported;  // by group: what slices have
    std::string name;
  };

  // The set that has its turn; 0 where none take turns.
  std::size_t turn() const { return turns_.empty() ? 0 : turns_[turn_]; }

  void use(EventSets sets) {
    sets_ = std::move(sets);
    turns_.clear();
    for (std::size_t s = 0; s < sets_.sets.size(); ++s)
      if (sets_.sets[s].takes_turns) turns_.push_back(s);
  }

  Result<std::vector<Group>> open_groups(pid_t tid, bool from_exec) const {
    std::vector<Group> groups(sets_.sets.size());
    event::Event clock = task_clock();
    if (is_user_only_) user_mode_only(clock);
    const AttrOptions running{.enable_on_exec = from_exec, .disabled = from_exec};
    LOFT_CHECK(groups.front().add(clock, {tid, -1}, running));
    for (std::size_t s = 0; s < groups.size(); ++s) {
      const EventSet& set = sets_.sets[s];
      const bool waits = set.takes_turns && s != turn();
      for (std::size_t i = set.first; i < set.first + set.size; ++i)
        LOFT_CHECK(groups[s].add(sets_.events[i], {tid, -1}, waits ? AttrOptions{} : running));
    }
    return groups;
  }

  // A thread that is ending cannot be switched, and need not be.
  void next_turn() {
    if (turns_.empty()) return;
    const std::size_t old = turn();
    turn_ = (turn_ + 1) % turns_.size();
    for (auto& [tid, thread] : threads_) {
      (void)thread.groups[old].disable();
      (void)thread.groups[turn()].enable();
    }
  }

  static Moment moment() { return {static_cast<std::uint64_t>(now().count()), 0}; }

  void born(pid_t tid) override {
    ended(tid);  // one that was left may have ended, and its number be used again
    const auto found = task_with(tid);
    if (!found) return;
    const TaskId task{static_cast<std::uint32_t>(found->pid), static_cast<std::uint32_t>(tid)};
    const auto parent =
        static_cast<std::uint32_t>(found->pid == found->tid ? found->parent : found->pid);
    sink_->take(Fork{moment(), task, {parent, parent}});
    ++records_;
    auto groups = open_groups(tid, false);
    if (!groups) {
      ++unwatched_;
      why_unwatched_ = to_string(groups.error());
      return;
    }
    threads_[tid] = {task, *std::move(groups), {}, {}};
  }

  void ended(pid_t tid) override {
    const auto found = threads_.find(tid);
    if (found == threads_.end()) return;
    end_slice(found->second);
    sink_->take(Exit{moment(), found->second.task});
    ++records_;
    threads_.erase(found);
  }

  void left(pid_t tid) override { left_.insert(tid); }

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

  // A slice as it comes together, set by set.
  struct Draft {
    std::uint64_t run_ns = 0;
    Nanoseconds on_cpu{};
    std::vector<std::uint64_t> counts;
    std::vector<SetTime> times;
  };

  void end_slice(Watched& thread) {
    tell_name(thread);
    thread.reported.resize(thread.groups.size());
    Draft draft{0,
                {},
                std::vector<std::uint64_t>(sets_.events.size()),
                std::vector<SetTime>(sets_.sets.size())};
    for (std::size_t s = 0; s < thread.groups.size(); ++s) take_set(thread, s, draft);
    if (draft.run_ns == 0 &&
        std::ranges::all_of(draft.counts, [](auto count) { return count == 0; }))
      return;
    if (sets_.work) draft.times[turn()].work = draft.counts[*sets_.work];
    if (!plan_.slices) return;
    Slice slice;
    slice.end = moment();
    slice.task = thread.task;
    slice.run_ns = draft.run_ns;
    slice.counts = draft.counts;
    slice.sets = draft.times;
    sink_->take(slice);
    ++records_;
  }

  // The first group leads with the run time.
  void take_set(Watched& thread, std::size_t s, Draft& draft) {
    if (thread.groups[s].is_empty()) return;
    const auto values = thread.groups[s].read();
    if (!values) return;
    auto& reported = thread.reported[s];
    reported.resize(values->size());
    const auto more = [&](std::size_t i) {
      return (*values)[i].value - std::min((*values)[i].value, reported[i].value);
    };
    const Nanoseconds enabled = values->front().enabled - reported.front().enabled;
    std::size_t clocks = 0;
    if (s == 0) {
      clocks = 1;
      draft.run_ns = more(0);
      draft.on_cpu = enabled;
    }
    for (std::size_t i = clocks; i < values->size(); ++i)
      draft.counts[sets_.sets[s].first + i - clocks] = more(i);
    draft.times[s] = share_of(draft.run_ns, values->front().running - reported.front().running,
                              sets_.sets[s].takes_turns ? draft.on_cpu : enabled);
    reported = *values;
  }

  // The part of its run time for which a group had its counters. The kernel wants a group that
  // waits for its turn for no time at all; we want it all the time.
  static SetTime share_of(std::uint64_t run_ns, Nanoseconds running, Nanoseconds enabled) {
    if (running.count() <= 0) return {run_ns, 0, 0};
    if (running >= enabled) return {run_ns, run_ns, 0};
    const double share =
        static_cast<double>(running.count()) / static_cast<double>(enabled.count());
    return {run_ns, static_cast<std::uint64_t>(static_cast<double>(run_ns) * share), 0};
  }

  void tell_name(Watched& thread) {
    const auto task = task_with(static_cast<pid_t>(thread.task.tid));
    if (!task || task->name == thread.name) return;
    thread.name = task->name;
    sink_->take(Name{moment(), thread.task, task->name});
  }

  WatchPlan plan_;
  pid_t program_ = 0;
  // Each turn switches the counters of every thread.
  static constexpr std::uint64_t kTurn = 20'000'000;

  EventSets sets_;
  std::vector<std::size_t> turns_;  // the sets that take turns
  std::size_t turn_ = 0;            // which of them has its own
  bool is_user_only_ = false;
  PollClock clock_;
  std::map<pid_t, Watched> threads_;
  std::optional<TaskTrace> trace_;
  TaskEvents* sink_ = nullptr;
  std::uint64_t records_ = 0;
  std::uint64_t unwatched_ = 0;
  std::set<pid_t> left_;  // processes that the program traces itself
  std::string why_unwatched_;
};

}  // namespace

Result<std::unique_ptr<Recorder>> open_thread_recorder(const WatchPlan& plan) {
  auto recorder = std::make_unique<ThreadRecorder>();
  LOFT_CHECK(recorder->open(plan));
  return recorder;
}

}  // namespace loft::source::scheduler
