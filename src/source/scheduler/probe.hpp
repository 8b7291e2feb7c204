// The scheduler probe, loaded: a BPF program that follows tasks from inside the kernel.
//
//   LOFT_TRY(auto probe, Probe::load(options));
//   LOFT_CHECK(probe->follow_program(pid));   // from its exec on
//   while (...) probe->drain(recording);
//
// The kernel takes everything away when the probe's owner goes, however it goes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/result.hpp"
#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

struct ProbeOptions {
  EventSets sets;  // at most kMostCounters events in kMostSets sets
  std::uint64_t slice_ns = 10'000'000;
  bool switches = true;
  bool slices = true;
  bool migrations = true;
  bool wakers = false;      // switches tell who woke the task that comes
  bool may_change = false;  // sets may be added; those that there are take turns by change() alone
  std::size_t ring_bytes = 8u << 20;  // a power of two
};

inline constexpr std::size_t kMostCounters = 24;
inline constexpr std::size_t kMostSets = 8;

class Probe {
 public:
  // `permission` without CAP_BPF and CAP_PERFMON, `unsupported` where the kernel or this build has
  // no such thing.
  [[nodiscard]] static Result<std::unique_ptr<Probe>> load(const ProbeOptions& options);

  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  // A process that is about to exec: it counts from then on.
  [[nodiscard]] virtual Result<void> follow_program(pid_t pid) = 0;
  // A process that runs, all its threads: each counts from when it next gets a CPU.
  [[nodiscard]] virtual Result<void> follow_process(pid_t pid) = 0;
  // Every process of the machine that is not followed yet, likewise.
  [[nodiscard]] virtual Result<void> follow_machine() = 0;

  [[nodiscard]] virtual const EventSets& sets() const = 0;
  // With `may_change`: these get the counters of every CPU, as a set that there was or a new one.
  [[nodiscard]] virtual Result<void> change(const std::vector<event::Event>& events) = 0;

  // The next of the sets that take turns gets the counters of every CPU.
  virtual void next_turn() = 0;

  // Stops watching; what tasks that go on did until they last left a CPU is their last slice.
  virtual void stop() = 0;

  // Hands over what has come; false when there was nothing.
  virtual bool drain(TaskEvents& events) = 0;
  // Of wakers: whether those that are interrupts are told from the tasks that they interrupted.
  [[nodiscard]] virtual bool tells_interrupts() const = 0;
  // Readable when much has come.
  [[nodiscard]] virtual int wake_fd() const = 0;
  [[nodiscard]] virtual Result<Tally> tally() const = 0;
};

}  // namespace loft::source::scheduler
