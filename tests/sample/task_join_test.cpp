#include "sample/task_join.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

// One thread with so many slices of `instructions` each; slice i counts `count(i)` of the event.
template <class Count>
TaskTable run_of(const char* event, std::size_t slices, std::uint64_t instructions, Count count) {
  TaskTable table;
  table.path = event;
  table.counters = {"instructions", event};
  table.set_of.resize(2);
  table.instructions = 0;
  TaskRow row;
  row.comm = "work";
  row.tid = 7;
  row.counted.counts = {0, 0};
  for (std::size_t i = 0; i < slices; ++i) {
    table.slices.push_back(
        {0, 0, 100 * i, 1'000'000, {}, {{instructions, std::uint64_t{count(i)}}, {}}});
    row.counted += table.slices.back().counted;
    ++row.slices;
  }
  table.tasks = {row};
  return table;
}

TEST(TaskJoin, EventsOfAllRunsStandAtTheSameShareOfTheInstructions) {
  const auto misses = run_of("misses", 4, 1000, [](std::size_t i) { return 10 * (i + 1); });
  const auto branches = run_of("branches", 8, 505, [](std::size_t i) { return i; });  // 1 % more
  const TaskJoin joined = join_tasks({misses, branches});
  EXPECT_TRUE(joined.by_instructions);
  ASSERT_EQ(joined.columns.size(), 3u) << "instructions of the first run alone";
  EXPECT_EQ(joined.columns[2].event, "branches");
  EXPECT_EQ(joined.columns[2].run, 1u);
  ASSERT_EQ(joined.tasks.size(), 1u);
  const JoinedTask& task = joined.tasks[0];
  EXPECT_NEAR(difference_of_work(task), 0.01, 1e-9);
  ASSERT_EQ(task.intervals.size(), 4u) << "those of the run with the fewest slices";
  for (std::size_t i = 0; i < 4; ++i) {
    const JoinedInterval& interval = task.intervals[i];
    EXPECT_NEAR(interval.to, 0.25 * static_cast<double>(i + 1), 1e-12);
    EXPECT_DOUBLE_EQ(interval.values[0].value, 1000);
    EXPECT_DOUBLE_EQ(interval.values[1].value, 10.0 * static_cast<double>(i + 1));
    EXPECT_DOUBLE_EQ(interval.values[2].value, 4.0 * static_cast<double>(i) + 1);
    EXPECT_EQ(interval.values[2].origin, Origin::counted) << "whole slices";
    EXPECT_DOUBLE_EQ(interval.run_s[1], 0.002);
  }
}

TEST(TaskJoin, ASliceOverABorderIsDividedAndMarkedAndNothingIsLost) {
  const auto two = run_of("misses", 2, 300, [](std::size_t) { return 5u; });
  const auto three = run_of("branches", 3, 200, [](std::size_t) { return 60u; });
  const TaskJoin joined = join_tasks({two, three});
  const auto& intervals = joined.tasks.at(0).intervals;
  ASSERT_EQ(intervals.size(), 2u);
  for (const JoinedInterval& interval : intervals) {
    EXPECT_DOUBLE_EQ(interval.values[2].value, 90);
    EXPECT_EQ(interval.values[2].origin, Origin::scaled);
    EXPECT_EQ(interval.values[1].origin, Origin::counted);
  }
  EXPECT_DOUBLE_EQ(joined.tasks[0].totals[2].value, 180);
}

// What happens after the last instruction, and before the first, is in the last and first interval.
TEST(TaskJoin, SlicesWithoutWorkAreCountedOnce) {
  auto run = run_of("faults", 2, 100, [](std::size_t) { return 1u; });
  TaskSlice nothing = run.slices[0];
  nothing.counted.counts = {0, 40};
  run.slices.push_back(nothing);
  nothing.counted.counts = {0, 7};
  run.slices.insert(run.slices.begin(), nothing);
  const TaskJoin joined = join_tasks({run, run});
  const auto& intervals = joined.tasks.at(0).intervals;
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_DOUBLE_EQ(intervals[0].values[1].value, 8);
  EXPECT_DOUBLE_EQ(intervals[1].values[1].value, 41);
}

TEST(TaskJoin, WithoutInstructionsInEveryRunTimeAlignsThem) {
  auto first = run_of("misses", 4, 1000, [](std::size_t) { return 1u; });
  auto second = run_of("branches", 4, 1000, [](std::size_t) { return 1u; });
  second.instructions.reset();
  const TaskJoin joined = join_tasks({first, second});
  EXPECT_FALSE(joined.by_instructions);
  EXPECT_DOUBLE_EQ(joined.tasks.at(0).work[1], 0.004);
  EXPECT_EQ(joined.columns.size(), 4u);
}

TEST(TaskJoin, AThreadThatIsNotInEveryRunIsLeftOver) {
  auto first = run_of("misses", 2, 1000, [](std::size_t) { return 1u; });
  auto second = first;
  second.tasks.push_back({});
  second.tasks.back().comm = "more";
  const TaskJoin joined = join_tasks({first, second});
  EXPECT_EQ(joined.tasks.size(), 1u);
  EXPECT_EQ(joined.left_over, (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace loft::sample
