// One way of watching all tasks of a program. The best one that works is used, and named.
//
// A recorder is opened completely before anything starts; then the program is let go and the
// recorder is drained now and then until it is over.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/recording_file.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

struct WatchPlan {
  EventSets sets;
  std::uint64_t slice_ns = 10'000'000;
  bool slices = true;            // type pmu
  bool switches = true;          // type sched
  bool migrations = true;        // type mig
  bool wakers = false;           // switches tell who woke the task that comes, where that is known
  bool may_change = false;       // the one set of events may be followed by others; see change()
  std::size_t ring_bytes = 0;    // of each ring, rounded up to a power of two; 0: as is usual
  std::optional<pid_t> program;  // held before its exec
  std::vector<pid_t> processes;  // that run already
  bool whole_machine = false;    // everything that runs, or begins to
};

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  virtual ~Recorder() = default;

  [[nodiscard]] virtual std::string name() const = 0;         // for scripts: "bpf"
  [[nodiscard]] virtual std::string description() const = 0;  // for people
  // What this recorder cannot record.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

  // With the whole machine: begins to watch what runs. Everything else is watched since it was
  // opened.
  [[nodiscard]] virtual Result<void> start() { return {}; }

  // The events as they are counted.
  [[nodiscard]] virtual const EventSets& counters() const = 0;
  // Counts these instead of the set before. Every slice is of one set alone; what ran is counted by
  // the one or by the other. A set that is new is the last of counters() from then on. An error
  // leaves everything as it is. Only where the plan said that this may come.
  [[nodiscard]] virtual Result<void> change(const std::vector<event::Event>& events) {
    (void)events;
    return failure(ErrorKind::unsupported, "change events", "this recorder cannot");
  }
  // How many of kSliceEvents its slices have.
  [[nodiscard]] virtual std::size_t basics() const = 0;
  [[nodiscard]] virtual std::vector<KernelEvent> kernel_events() const = 0;

  // Of wakers: whether those that are interrupts are told from the tasks that they interrupted.
  [[nodiscard]] virtual bool tells_interrupts() const { return false; }

  // Becomes readable when housekeeping is due, even without new records: no drain is needed then.
  [[nodiscard]] virtual std::optional<int> clock_fd() const { return std::nullopt; }
  virtual void tick() {}

  virtual void drain(TaskEvents& events) = 0;
  // After the last task, or to leave them alone.
  virtual void stop(TaskEvents& events) = 0;
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;
  [[nodiscard]] virtual Result<Tally> tally() const = 0;
};

// The scheduler probe.
[[nodiscard]] Result<std::unique_ptr<Recorder>> open_bpf_recorder(const WatchPlan& plan);

// Events that threads inherit, with samples that read a whole group: for one's own programs without
// privilege, with counts from Linux 6.12 on.
[[nodiscard]] Result<std::unique_ptr<Recorder>> open_perf_recorder(const WatchPlan& plan);

// A perf recorder on kernels where it can count; an error on those where it cannot.
[[nodiscard]] Result<std::unique_ptr<Recorder>> open_counting_perf_recorder(const WatchPlan& plan);

// Counters for every thread, which ptrace holds at its birth: for kernels on which threads that
// inherit counters cannot tell what they counted.
[[nodiscard]] Result<std::unique_ptr<Recorder>> open_thread_recorder(const WatchPlan& plan);

// Looks into /proc: for users to whom the kernel grants no events.
[[nodiscard]] Result<std::unique_ptr<Recorder>> open_proc_recorder(const WatchPlan& plan);

struct RecorderKind {
  const char* name;
  Result<std::unique_ptr<Recorder>> (*open)(const WatchPlan&);
  bool can_count;  // events; one that cannot is no substitute where they were asked for
  bool outlives_program = true;  // follows also what goes on after the program's end
  bool sees_machine = false;     // can follow everything that runs
  bool can_change = false;       // what is counted, while it counts
};

// All of them, the best first.
[[nodiscard]] std::vector<RecorderKind> recorders();

}  // namespace loft::source::scheduler
