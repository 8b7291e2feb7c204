// Finished runs of one program joined interval by interval, each with other events: more events
// than there are counters, without turns.
//
//   const TaskJoin joined = join_tasks({read_tasks(*a), read_tasks(*b)});
//   joined.tasks[0].intervals[3].values[column]
//
// Threads are paired by name and by the order of their birth. A thread is at the same place in two
// runs when it has done the same share of its work: instructions where all runs have them, else run
// time. Intervals are the slices of the run that has the fewest. What slices of another run reach
// over the border of an interval is divided evenly over their work, and marked scaled.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sample/task_table.hpp"

namespace loft::sample {

struct JoinedColumn {
  std::string event;
  std::size_t run = 0;      // which recording counted it
  std::size_t counter = 0;  // its place there
};

struct JoinedInterval {
  double from = 0;  // of the thread's work, 0 to 1
  double to = 0;
  std::vector<double> run_s;     // run time in each recording
  std::vector<Estimate> values;  // by column
};

struct JoinedTask {
  std::string name;
  std::vector<std::uint32_t> tids;  // in each recording
  std::vector<double> work;         // instructions, or seconds, in each recording
  std::vector<JoinedInterval> intervals;
  std::vector<Estimate> totals;  // by column
};

struct TaskJoin {
  std::vector<std::string> paths;
  bool by_instructions = false;
  std::vector<JoinedColumn> columns;
  std::vector<JoinedTask> tasks;       // those that ran longest in the first recording, first
  std::vector<std::size_t> left_over;  // tasks of each recording that are not in all, or never ran
};

[[nodiscard]] TaskJoin join_tasks(const std::vector<TaskTable>& runs);

// By how much the work of a thread differs at most between two of the runs, as a share.
[[nodiscard]] double difference_of_work(const JoinedTask& task);

}  // namespace loft::sample
