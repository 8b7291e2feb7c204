// Which thread ran on which CPU when, from the switch records of a recording.
//
//   for (const RunSlice& slice : read_schedule(*recording)) ...
//
// Readers that walk over the records anyway use ScheduleReader, which has the rules.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "sample/run_slice.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

using sample::RunSlice;

// A switch record with who it is about.
struct TaskSwitch {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<std::uint32_t> cpu;
  std::uint64_t time = 0;
  bool is_out = false;
  bool is_preempted = false;  // it lost the CPU, it did not give it up
};

// Takes the records of a recording in order of time, and reports each time that a thread had a CPU.
//
// - A thread runs from the switch to it until the switch from it on the same CPU. If the two name
//   different CPUs, records in between are missing, and the slice is left out.
// - A thread whose first switch is away from its CPU ran since its birth, since its exec, or since
//   the recording began, whichever came last, but not before the last other switch on that CPU.
// - A thread that was never switched away ran until another one got its CPU, until its exit, or
//   until the recording ended.
// - The idle task is no thread. Recordings without switches have no schedule.
class ScheduleReader {
 public:
  using OnRun = std::function<void(const RunSlice&)>;
  ScheduleReader(const Recording& recording, OnRun on_run)
      : recording_(recording), on_run_(std::move(on_run)) {}

  // Returns the switch where the record is one that tells who and when.
  std::optional<TaskSwitch> take(const PlacedRecord& placed);
  // After the last record: reports threads that still run.
  void finish();

 private:
  struct Thread {
    bool is_running = false;
    bool was_switched = false;
    std::optional<std::uint32_t> cpu;
    std::uint64_t since = 0;
    std::optional<std::uint64_t> born;
    std::optional<std::uint64_t> exited;
  };

  void take_fork(std::uint32_t tid, std::uint64_t time);
  void take_exec(const RawRecord& record, std::uint64_t time);
  void take_switch(const TaskSwitch& change);
  void take_cpu(std::uint32_t tid, std::optional<std::uint32_t> cpu, std::uint64_t time);
  [[nodiscard]] std::uint64_t unseen_start(const Thread& thread, const TaskSwitch& change) const;
  void end_run(std::uint32_t tid, Thread& thread, std::uint64_t time, bool was_preempted = false);

  const Recording& recording_;
  OnRun on_run_;
  std::unordered_map<std::uint32_t, Thread> threads_;                // by tid
  std::unordered_map<std::uint32_t, std::uint64_t> last_switch_on_;  // by CPU
  std::unordered_map<std::uint32_t, std::uint32_t> running_on_;      // by CPU: the last tid there
  bool has_switches_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

// In order of their ends.
[[nodiscard]] std::vector<RunSlice> read_schedule(const Recording& recording);

}  // namespace loft::source
