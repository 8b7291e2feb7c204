#include "sample/task_compare.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

// One thread whose slices each do the same work; from slice `slow_from` on they take longer.
TaskTable table(std::uint64_t slice_ns, std::size_t slow_from, std::uint64_t slow_ns) {
  TaskTable table;
  table.counters = {"instructions"};
  table.instructions = 0;
  TaskRow row;
  row.comm = "work";
  row.tid = 7;
  row.first_time = 1000;
  row.counted.counts = {0};
  row.run_ns = 0;
  std::uint64_t now = row.first_time;
  for (std::size_t i = 0; i < 20; ++i) {
    now += i >= slow_from ? slow_ns : slice_ns;
    table.slices.push_back({0, 0, now, 100, {}, {{50}, {}}});
    row.counted.counts[0] += 50;
    row.run_ns = *row.run_ns + 100;
    ++row.slices;
  }
  row.last_time = now;
  table.tasks = {row};
  return table;
}

TEST(TaskCompare, ASlowPhaseIsSeenWhereItIs) {
  const auto result = compare_tasks(table(100, 20, 100), table(100, 10, 300));
  ASSERT_EQ(result.tasks.size(), 1u);
  EXPECT_EQ(result.work, "instructions");
  const auto& task = result.tasks[0];
  EXPECT_DOUBLE_EQ(task.slowdown().value_or(0), 2.0);
  ASSERT_EQ(task.phases.size(), kComparedPhases);
  for (std::size_t i = 0; i < kComparedPhases; ++i) {
    EXPECT_NEAR(task.phases[i].before_s, 200e-9, 1e-15) << i;
    EXPECT_NEAR(task.phases[i].after_s, i < 5 ? 200e-9 : 600e-9, 1e-15) << i;
  }
  ASSERT_EQ(task.counts.size(), 1u);
  EXPECT_EQ(task.counts[0].before.value, task.counts[0].after.value);
  EXPECT_EQ(task.counts[0].before.origin, Origin::counted);
}

TEST(TaskCompare, WithoutInstructionsWorkIsRunTime) {
  TaskTable a = table(100, 20, 100);
  TaskTable b = a;
  b.counters = {"page-faults"};
  b.instructions.reset();
  EXPECT_EQ(compare_tasks(a, b).work, "run time");
  EXPECT_TRUE(compare_tasks(a, b).tasks[0].counts.empty());
}

TEST(TaskCompare, TooFewSlicesMakeNoPhases) {
  TaskTable a = table(100, 20, 100);
  a.slices.resize(5);
  EXPECT_TRUE(compare_tasks(a, a).tasks[0].phases.empty());
}

TEST(TaskCompare, TasksArePairedByNameAndOrder) {
  TaskTable a = table(100, 20, 100);
  a.tasks.push_back(a.tasks[0]);
  a.tasks[1].tid = 8;
  TaskTable b = a;
  b.tasks[0].tid = 107;
  b.tasks[1].tid = 108;
  b.tasks.push_back({});
  b.tasks[2].comm = "other";
  const auto result = compare_tasks(a, b);
  ASSERT_EQ(result.tasks.size(), 2u);
  for (const auto& task : result.tasks) EXPECT_EQ(task.after_tid, task.before_tid + 100);
  EXPECT_EQ(result.only_before, 0u);
  EXPECT_EQ(result.only_after, 1u);
}

}  // namespace
}  // namespace loft::sample
