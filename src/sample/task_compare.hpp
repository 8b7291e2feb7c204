// Two recordings of the same program side by side, such as alone and beside others: which threads
// took longer for the same work, in which part of it, and which counts moved.
//
// Threads are paired by name and by the order of their birth; by the latter alone where no name is
// in both. Work is instructions where both recordings have them, else run time. A phase is a tenth
// of a thread's work; its time is from the moment when the work before was done to the moment when
// its own was, waiting included.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sample/task_table.hpp"

namespace loft::sample {

struct ComparedPhase {
  double before_s = 0;  // in the first recording
  double after_s = 0;   // in the second
};

struct ComparedCount {
  std::string name;
  Estimate before;
  Estimate after;
};

struct ComparedTask {
  std::string name;
  std::uint32_t before_tid = 0;
  std::uint32_t after_tid = 0;
  double before_s = 0;  // from its first to its last moment
  double after_s = 0;
  std::optional<double> before_run_s, after_run_s;
  std::optional<double> before_wait_s, after_wait_s;
  std::vector<ComparedCount> counts;
  std::vector<ComparedPhase> phases;  // empty when there are too few slices

  [[nodiscard]] std::optional<double> slowdown() const {
    if (before_s <= 0) return std::nullopt;
    return after_s / before_s;
  }
};

struct TaskComparison {
  std::string before_path, after_path;
  std::string work;                 // what phases are equal parts of: "instructions" or "run time"
  std::vector<ComparedTask> tasks;  // those that ran longest, first
  std::size_t only_before = 0;      // tasks without a counterpart
  std::size_t only_after = 0;
};

inline constexpr std::size_t kComparedPhases = 10;

[[nodiscard]] TaskComparison compare_tasks(const TaskTable& before, const TaskTable& after);

}  // namespace loft::sample
