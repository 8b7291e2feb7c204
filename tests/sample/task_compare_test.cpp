#include "sample/task_compare.hpp"
#include "sample/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(TaskCompare, ThreadsOfARenamedProgramArePairedByBirth) {
  TaskTable a = table(100, 20, 100);
  TaskTable b = a;
  b.tasks[0].comm = "work-v2";
  const auto result = compare_tasks(a, b);
  ASSERT_EQ(result.tasks.size(), 1u);
  EXPECT_EQ(result.tasks[0].name, "work / work-v2");
  EXPECT_EQ(result.only_before + result.only_after, 0u);
}

// A report by function of one event that counts nanoseconds.
Report report_of(const std::vector<std::pair<std::string, Weight>>& functions,
                 const std::string& binary = "/bin/app") {
  Report report;
  report.events = {{.name = "task-clock", .is_time = true}};
  for (const auto& [name, weight] : functions) {
    ReportRow row;
    row.keys.function = name;
    row.keys.binary = binary;
    row.self = weight;
    report.rows.push_back(row);
    report.events[0].total += weight;
  }
  return report;
}

constexpr std::uint64_t kMilli = 1000000;

TEST(CompareReports, WhatChanceDoesIsNoChange) {
  const Report a = report_of({{"steady", {100, 100 * kMilli}}, {"slower", {100, 100 * kMilli}}});
  const Report b = report_of({{"steady", {115, 115 * kMilli}}, {"slower", {300, 300 * kMilli}}});
  const Comparison comparison = compare_reports({a}, {b});
  ASSERT_EQ(comparison.tables.size(), 1u);
  const ComparedTable& table = comparison.tables[0];
  EXPECT_EQ(table.unit, "s");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "slower");
  EXPECT_EQ(table.rows[0].change(), Change::more);
  EXPECT_NEAR(*table.rows[0].ratio(), 3, 1e-12);
  EXPECT_EQ(table.rows[1].change(), Change::none);
  EXPECT_NEAR(table.rows[0].before->error.value(), 2.576e-3 * std::sqrt(101.0), 1e-9);
  // The other way round the same function is faster.
  EXPECT_EQ(compare_reports({b}, {a}).tables[0].rows[0].change(), Change::less);
}

TEST(CompareReports, ExactCountsHaveNoChance) {
  const Report a = report_of({{"f", {1, 1000}}});
  const Report b = report_of({{"f", {1, 1001}}});
  EXPECT_EQ(compare_reports({a, true}, {b, true}).tables[0].rows[0].change(), Change::more);
  EXPECT_EQ(compare_reports({a, false}, {b, false}).tables[0].rows[0].change(), Change::unknown)
      << "one sample each tells nothing";
}

TEST(CompareReports, ASumOfSlicesOfOneRunIsNotCalledTheSame) {
  Report a = report_of({{"solve", {4, 40 * kMilli}}, {"[no address]", {7, 70 * kMilli}}});
  Report b = report_of({{"solve", {7, 70 * kMilli}}, {"[no address]", {12, 120 * kMilli}}});
  a.events[0].is_counted = b.events[0].is_counted = true;
  const Comparison comparison = compare_reports({a}, {b});
  ASSERT_EQ(comparison.tables.size(), 1u);
  const ComparedTable& table = comparison.tables[0];
  EXPECT_NEAR(*table.whole.ratio(), 1.73, 0.01);
  EXPECT_EQ(table.whole.change(), Change::unknown);
  EXPECT_FALSE(table.whole.error()) << "it was counted, but how much runs vary nobody knows";
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_FALSE(table.rows[0].error()) << table.rows[0].name;
  EXPECT_TRUE(table.rows[1].error()) << "where slices ended is sampled";
  EXPECT_EQ(table.rows[1].change(), Change::unknown) << "4 and 7 samples";
  EXPECT_EQ(compare_reports({a, true}, {b, true}).tables[0].whole.change(), Change::more);
}

TEST(CompareReports, ClonesAreOneFunctionAndRenamedBinariesArePaired) {
  const Report a = report_of({{"f.constprop.0", {50, 50 * kMilli}}, {"f", {50, 50 * kMilli}}});
  const Report b = report_of({{"f.isra.0", {100, 100 * kMilli}}}, "/bin/app-v2");
  const auto rows = compare_reports({a}, {b}).tables[0].rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "f");
  EXPECT_EQ(rows[0].binary, "/bin/app-v2");
  EXPECT_DOUBLE_EQ(rows[0].difference().value(), 0);
}

TEST(CompareReports, AFunctionOfOneRunOnlyIsComparedWithNothing) {
  const Report a = report_of({{"f", {100, 100 * kMilli}}, {"once", {1, kMilli}}});
  const Report b = report_of({{"f", {100, 100 * kMilli}}, {"added", {90, 90 * kMilli}}});
  const auto rows = compare_reports({a}, {b}).tables[0].rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "added");
  EXPECT_EQ(rows[0].change(), Change::more);
  EXPECT_FALSE(rows[0].ratio().has_value());
  EXPECT_EQ(rows[1].name, "once");
  EXPECT_EQ(rows[1].change(), Change::unknown) << "one sample more or less is chance";
}

// Slices hold such sums where they happened to end.
TEST(CompareReports, WhatHasNoPlaceIsNotComparedByFunction) {
  Report a = report_of({{"f", {100, 100 * kMilli}}});
  a.events[0].name = "wait-time";
  EXPECT_TRUE(compare_reports({a}, {a}).tables.empty());
}

TEST(CompareReports, AnEventOfOneRunOnlyIsSaid) {
  const Report a = report_of({{"f", {1, 1}}});
  Report b = a;
  b.events[0].name = "cycles";
  const Comparison comparison = compare_reports({a}, {b});
  EXPECT_TRUE(comparison.tables.empty());
  EXPECT_EQ(comparison.notes.size(), 2u);
}

TEST(PlainFunctionName, LosesWhatTheCompilerAdded) {
  for (const auto& [name, plain] : std::vector<std::pair<std::string, std::string>>{
           {"f.constprop.0", "f"},
           {"f.isra.1.part.2", "f"},
           {"f(int) [clone .constprop.0] [clone .cold]", "f(int)"},
           {"f.cold", "f"},
           {"f.llvm.123456", "f"},
           {"f.lto_priv.0", "f"},
           {"a.b", "a.b"},
           {"version.1", "version.1"},
           {".cold", ".cold"},
           {"", ""}})
    EXPECT_EQ(plain_function_name(name), plain) << name;
}

}  // namespace
}  // namespace loft::sample
