#include "sample/task_table.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

// Instructions are counted all the time, misses for the part that their set had counters.
TaskTable table() {
  TaskTable table;
  table.counters = {"instructions", "misses"};
  table.set_of = {0, 1};
  table.instructions = 0;
  return table;
}

TaskRow task(std::uint64_t instructions, std::uint64_t misses, std::uint64_t running,
             std::uint64_t instructions_meanwhile) {
  TaskRow row;
  row.counted.counts = {instructions, misses};
  row.counted.sets = {{1, 100, 100, 0}, {1, 100, running, instructions_meanwhile}};
  return row;
}

TEST(Estimates, WhatWasCountedAllTheTimeIsExact) {
  const TaskTable all = table();
  const auto misses = estimate(all, task(1000, 7, 100, 1000).counted, 1);
  EXPECT_EQ(misses.origin, Origin::counted);
  EXPECT_EQ(misses.value, 7);
}

TEST(Estimates, APartIsScaledByInstructionsWhereTheyAreKnown) {
  const TaskTable all = table();
  EXPECT_DOUBLE_EQ(estimate(all, task(1000, 7, 50, 250).counted, 1).value, 28);
  EXPECT_DOUBLE_EQ(estimate(all, task(1000, 7, 50, 0).counted, 1).value, 14) << "by time";
}

// One slice saw 61 faults in a short part of it, the others none: the task has few.
TEST(Estimates, SlicesAddUpToTheirTask) {
  for (const bool by_time : {false, true}) {
    TaskTable all = table();
    all.tasks.emplace_back();
    const auto add = [&](std::uint64_t misses, std::uint64_t running, std::uint64_t meanwhile) {
      TaskSlice slice;
      slice.counted = task(1000, misses, running, by_time ? 0 : meanwhile).counted;
      all.tasks[0].counted += slice.counted;
      all.slices.push_back(slice);
    };
    add(3, 5, 40);
    add(0, 80, 900);
    add(0, 60, 600);
    double sum = 0;
    const double whole = estimate(all, all.tasks[0], 1).value;
    for (const TaskSlice& slice : all.slices) {
      EXPECT_EQ(estimate(all, slice, 1).origin, Origin::scaled);
      EXPECT_LE(estimate(all, slice, 1).value, whole);
      sum += estimate(all, slice, 1).value;
    }
    EXPECT_DOUBLE_EQ(sum, whole) << by_time;
  }
}

TEST(Estimates, WhatNeverRanIsMissing) {
  const TaskTable all = table();
  EXPECT_EQ(estimate(all, task(1000, 0, 0, 0).counted, 1).origin, Origin::missing);
  EXPECT_EQ(estimate(all, Counted{}, 1).origin, Origin::missing);
  EXPECT_EQ(origin_of_all(all, {}), Origin::missing);
  EXPECT_EQ(origin_of_all(all, task(1000, 0, 0, 0).counted), Origin::scaled);
}

TEST(Estimates, AllTasksTogetherAreTheSumOfTheirEstimates) {
  TaskTable all = table();
  all.tasks = {task(1000, 10, 50, 500), task(100, 30, 50, 50)};
  const auto sum = estimate_of_all(all, 1);
  EXPECT_EQ(sum.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(sum.value, 20 + 60);
  EXPECT_EQ(estimate_of_all(all, 0).origin, Origin::counted);
  EXPECT_EQ(estimate_of_all(all, 0).value, 1100);
}

// Many short tasks: each saw the turn of one set.
TEST(Estimates, TasksThatHadNoTurnAreTakenToBeLikeTheOthers) {
  TaskTable all = table();
  all.tasks = {task(1000, 10, 100, 1000), task(1000, 0, 0, 0), task(2000, 0, 0, 0)};
  const auto sum = estimate_of_all(all, 1);
  EXPECT_EQ(sum.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(sum.value, 40);
}

}  // namespace
}  // namespace loft::sample
