// The tasks of a recording: who started whom, when each ran on which CPU, and what it did there.
// Views show it as a tree, a time line or a table of slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loft::sample {

struct TaskRow {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<std::size_t> parent;  // index of the task that started it
  std::string comm;                   // its last name
  std::uint64_t first_time = 0;       // of its birth, or when it was first seen
  std::uint64_t last_time = 0;        // of its end, or when it was last seen
  bool has_ended = false;
  std::uint64_t slices = 0;
  std::optional<std::uint64_t> run_ns;
  std::optional<std::uint64_t> wait_ns;  // ready to run, on no CPU
  std::optional<std::uint64_t> switches;
  std::optional<std::uint64_t> migrations;
  std::vector<std::uint64_t> counts;  // aligned with TaskTable::counters
  std::uint64_t enabled_ns = 0;  // of the counters; running for less, they have only seen a part
  std::uint64_t running_ns = 0;
  std::vector<double>
      joules;  // its share, aligned with TaskTable::meters: modelled, never measured

  [[nodiscard]] bool is_scaled() const { return running_ns < enabled_ns; }
};

// A task on a CPU, from when it got it until it left.
struct TaskRun {
  std::size_t task = 0;
  std::uint32_t cpu = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct TaskSlice {
  std::size_t task = 0;
  std::uint32_t cpu = 0;
  std::uint64_t end = 0;
  std::uint64_t run_ns = 0;
  std::optional<std::uint64_t> wait_ns;
  std::vector<std::uint64_t> counts;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

// What one energy meter showed over the whole recording: the whole machine, others and idle time
// included. Tasks share what was used between two samples by what they did in between.
struct MeterSum {
  std::string name;
  std::uint64_t microjoules = 0;
  double joules_of_nobody = 0;  // used while no slice of a task ended
};

struct TaskTable {
  std::string path;
  std::vector<std::string> counters;
  std::vector<TaskRow> tasks;  // in the order of their appearance
  std::vector<TaskRun> runs;   // by start; empty when switches were not recorded
  std::vector<TaskSlice> slices;
  std::vector<MeterSum> meters;
  bool energy_goes_by_instructions = false;  // otherwise by run time
  std::uint64_t first_time = 0;
  std::uint64_t last_time = 0;
  std::uint64_t lost = 0;
  bool has_switches = false;
  // Waiting is the kernel's own sum; otherwise only that of tasks that were pushed off a CPU is
  // known.
  bool waiting_is_whole = false;
  std::string watched_by;  // how it was recorded, if the recording says so
};

// Counts of a part, for the whole; the same when nothing was missed.
[[nodiscard]] inline double scaled(std::uint64_t count, std::uint64_t enabled_ns,
                                   std::uint64_t running_ns) {
  if (running_ns == 0 || running_ns >= enabled_ns) return static_cast<double>(count);
  return static_cast<double>(count) * static_cast<double>(enabled_ns) /
         static_cast<double>(running_ns);
}

}  // namespace loft::sample
