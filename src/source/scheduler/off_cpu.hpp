// How long tasks that blocked were on no CPU, and who woke them. The kernel samples a task's call
// stack when it leaves its CPU; this holds the sample back until the task has a CPU again, and then
// writes it as one of offcpu-time, whose period is the time in between.
//
//   OffCpuTimes times(sampler.events().back().ids);
//   times.set_behind(file);
//   recorder.drain(times);                    // switches
//   sampler.drain([&](auto record) { times.take_raw(record); });
//   times.write_finished();                   // what is over by now goes on to the file
//   times.finish(now);
//
// A task that lost its CPU did not block: how long it waited for another is in its slices.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sample/wakeups.hpp"
#include "source/perf_events/sampler.hpp"
#include "source/scheduler/record.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

// The event that the samples are of: every switch of a task from its CPU.
[[nodiscard]] perf_events::SampledEvent blocking_event();

class OffCpuTimes final : public TaskEventsFilter {
 public:
  explicit OffCpuTimes(const std::vector<std::uint64_t>& ids) : ids_(ids.begin(), ids.end()) {}

  using TaskEventsFilter::take;
  void take(const Switch& change) override;
  void take(const Fork& fork) override;
  void take(const Exit& exit) override;
  void take_raw(std::span<const std::byte> record) override;

  // To be called when both switches and samples were drained, in this order.
  void write_finished();
  // What blocks still has done so until now.
  void finish(std::uint64_t now);

  [[nodiscard]] const OffCpuTotal& total() const { return total_; }
  // By whom is not known where a switch did not tell.
  [[nodiscard]] std::vector<sample::Wakeups> wakeups() const;

 private:
  enum class Kind { blocked, preempted, came };
  struct Mark {
    std::uint64_t time = 0;
    Kind kind = Kind::came;
    std::optional<Waker> waker = {};
  };
  struct Held {
    std::uint64_t time = 0;
    std::vector<std::byte> record;
  };
  struct Task {
    TaskId id;
    bool has_ended = false;
    std::vector<Mark> marks;
    std::vector<Held> held;
  };
  using Pair = std::pair<TaskId, TaskId>;  // who woke, who was woken

  Task& task(const TaskId& id);
  void note(const TaskId& id, const Mark& mark) { task(id).marks.push_back(mark); }
  void hold(std::span<const std::byte> record);
  void write_finished(Task& task);
  void end_block(Task& task, std::uint64_t since, const Mark& end);
  void hand_over(Held& held, std::uint64_t since, std::uint64_t until);
  void note_waker(const Task& task, const Waker& waker, std::uint64_t blocked_ns);

  std::set<std::uint64_t> ids_;
  std::map<std::uint32_t, Task> tasks_;  // by thread number
  std::map<Pair, sample::Wakeups> wakeups_;
  OffCpuTotal total_;
};

}  // namespace loft::source::scheduler
