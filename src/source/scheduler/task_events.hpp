// What happens to the tasks of a program, whoever watched them: the scheduler probe, perf_events,
// or a test. A recorder tells it, a recording takes it.
//
// Times are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/event.hpp"

namespace loft::source::scheduler {

struct TaskId {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;

  auto operator<=>(const TaskId&) const = default;
};

struct Moment {
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
};

// A set of events over a slice: when it had counters for less time than it was wanted, its counts
// are a part. What the task did meanwhile, in instructions, is told of sets that take turns.
struct SetTime {
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::uint64_t work = 0;
};

// What a task did since its slice before. The slices of a task add up to all that it did.
struct Slice {
  Moment end;
  TaskId task;
  std::uint64_t ip = 0;  // where it was; 0 when it was cut somewhere else
  bool ip_is_kernel = false;
  std::uint64_t run_ns = 0;
  std::uint64_t wait_ns = 0;  // ready to run, on no CPU
  std::uint64_t switches = 0;
  std::uint64_t migrations = 0;
  std::span<const std::uint64_t> counts;  // aligned with EventSets::events
  std::span<const SetTime> sets;  // aligned with EventSets::sets; the first is not looked at
};

// Who made a task that had blocked ready to run.
struct Waker {
  TaskId task;                // numbers of 0: none that loft's namespace has
  bool is_interrupt = false;  // a timer or a device, in the time of whichever task
};

struct Switch {
  Moment at;
  TaskId out;
  TaskId in;
  bool out_is_ours = false;
  bool in_is_ours = false;
  bool out_can_run = false;  // it lost the CPU, it did not give it up
  std::optional<Waker> waker =
      {};  // of the task that comes, where it had blocked and that is known
};

struct Fork {
  Moment at;
  TaskId child;
  TaskId parent;
};

struct Exit {
  Moment at;
  TaskId task;
};

// What a task is called from now on.
struct Name {
  Moment at;
  TaskId task;
  std::string name;
};

// Code that a task can execute: what the kernel did not report, since it was there before.
struct CodeMapping {
  Moment at;
  TaskId task;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in the file
  std::string path;
  bool is_kernel = false;
};

struct Migration {
  Moment to;
  TaskId task;
  std::uint32_t from_cpu = 0;
};

class TaskEvents {
 public:
  virtual ~TaskEvents() = default;
  virtual void take(const Slice& slice) = 0;
  virtual void take(const Switch& change) = 0;
  virtual void take(const Fork& fork) = 0;
  virtual void take(const Exit& exit) = 0;
  virtual void take(const Migration& migration) = 0;
  virtual void take(const Name& name) = 0;
  virtual void take(const CodeMapping& mapping) = 0;
  // A whole record that the kernel wrote for an event of the recording.
  virtual void take_raw(std::span<const std::byte> record) = 0;
  virtual void take_lost(std::uint64_t records) = 0;
};

// Hands everything on as it is: for whoever looks at some of it in passing.
class TaskEventsFilter : public TaskEvents {
 public:
  void set_behind(TaskEvents& behind) { behind_ = &behind; }

  void take(const Slice& slice) override { behind_->take(slice); }
  void take(const Switch& change) override { behind_->take(change); }
  void take(const Fork& fork) override { behind_->take(fork); }
  void take(const Exit& exit) override { behind_->take(exit); }
  void take(const Migration& migration) override { behind_->take(migration); }
  void take(const Name& name) override { behind_->take(name); }
  void take(const CodeMapping& mapping) override { behind_->take(mapping); }
  void take_raw(std::span<const std::byte> record) override { behind_->take_raw(record); }
  void take_lost(std::uint64_t records) override { behind_->take_lost(records); }

 protected:
  TaskEvents* behind_ = nullptr;
};

// Whether a record of the kernel is one of those that a Tally counts. Names and mappings are not:
// they are told as often as somebody has to know them.
[[nodiscard]] inline bool tells_of_tasks(std::uint32_t type) {
  return type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT || type == PERF_RECORD_SWITCH;
}

// Every record of what tasks did is either written or counted as lost.
struct Tally {
  std::uint64_t seen = 0;
  std::uint64_t lost = 0;
  std::uint64_t lost_run_ns = 0;  // run time in last slices that were lost
  std::uint64_t lost_tasks = 0;   // tasks that could not be followed
  std::uint64_t missed = 0;       // times that a task had a CPU without a switch to it being seen
};

}  // namespace loft::source::scheduler
