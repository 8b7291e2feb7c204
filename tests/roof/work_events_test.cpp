#include "roof/work_events.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.hpp"
#include "roof/compare_work.hpp"
#include "roof/counted_work.hpp"

namespace loft::roof {
namespace {

using sample::Count;

std::vector<std::string> names(const std::string& list) {
  std::vector<std::string> all;
  for (const std::string_view name : split(list, ',')) all.emplace_back(name);
  return all;
}

// Counts by name, all others 0.
std::vector<std::uint64_t> row(const std::vector<std::string>& columns,
                               const std::map<std::string, std::uint64_t>& values) {
  std::vector<std::uint64_t> counts;
  for (const std::string& name : columns)
    counts.push_back(values.contains(name) ? values.at(name) : 0);
  return counts;
}

TEST(WorkColumns, EachEventIsFoundByItsNameWhereverItStands) {
  std::vector<std::string> columns = names(work_and_engine_event_names());
  std::ranges::reverse(columns);
  columns.insert(columns.begin(), "task-clock");
  for (std::string& name : columns)
    if (name == "load_bytes" || name == "flops_dp") name = "virtual::" + name;
  const WorkColumns found(columns);
  EXPECT_TRUE(found.are_complete());
  const Done done = found.done_in(row(columns, {{"task-clock", 99},
                                                {"instructions", 1000},
                                                {"virtual::load_bytes", 64},
                                                {"store_bytes", 16},
                                                {"flops_sp", 8},
                                                {"virtual::flops_dp", 12},
                                                {"flops_fma", 6},
                                                {"class_x87_arith", 7},
                                                {"branches", 100},
                                                {"branches_return", 3},
                                                {"branches_indirect_jump", 2}}));
  EXPECT_EQ(done.work.instructions, 1000);
  EXPECT_EQ(done.work.bytes, 80);
  EXPECT_EQ(done.work.flops_sp, 8);
  EXPECT_EQ(done.work.flops_dp, 12);
  EXPECT_EQ(done.work.flops_fma, 6);
  EXPECT_EQ(done.work.flops_x87, 7);
  EXPECT_EQ(done.work.flops(), 8 + 12 + 7);
  EXPECT_EQ(done.engine.branches, 100);
  EXPECT_EQ(done.engine.searches, 5);
}

TEST(WorkColumns, AWidthHasAsManyOperationsAsLanes) {
  const auto columns = names(work_event_names());
  const model::FlopsByWidth widths = WorkColumns(columns)
                                         .done_in(row(columns, {{"fp_scalar_sp", 1},
                                                                {"fp_scalar_dp", 2},
                                                                {"fp_128_sp", 1},
                                                                {"fp_128_dp", 1},
                                                                {"fp_256_sp", 1},
                                                                {"fp_256_dp", 1},
                                                                {"fp_512_sp", 1},
                                                                {"fp_512_dp", 1}}))
                                         .work.widths;
  EXPECT_EQ(widths.scalar, 3);
  EXPECT_EQ(widths.bits128, 4 + 2);
  EXPECT_EQ(widths.bits256, 8 + 4);
  EXPECT_EQ(widths.bits512, 16 + 8);
}

TEST(WorkColumns, WithoutAnEventOfTheWorkThereIsNone) {
  auto columns = names(work_event_names());
  std::erase(columns, "store_bytes");
  const WorkColumns found(columns);
  EXPECT_FALSE(found.are_complete());
  EXPECT_FALSE(found.work_in(std::vector<Count>(columns.size(), Count::exact(1))));
}

// Recordings of older versions have no columns of divisions and roots.
TEST(WorkColumns, DivisionsAndRootsMayBeMissing) {
  auto columns = names(work_event_names());
  const auto with =
      WorkColumns(columns).work_in(std::vector<Count>(columns.size(), Count::exact(1)));
  ASSERT_TRUE(with);
  EXPECT_EQ(with->flops_div, 1);
  EXPECT_EQ(with->flops_sqrt, 1);
  std::erase(columns, "flops_div");
  std::erase(columns, "flops_sqrt");
  const WorkColumns found(columns);
  EXPECT_TRUE(found.are_complete());
  const auto work = found.work_in(std::vector<Count>(columns.size(), Count::exact(1)));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops_div, 0);
  EXPECT_EQ(work->bytes, 2);
}

TEST(WorkColumns, OfTheOthersOnlyTheInstructionsMayBeMissing) {
  const auto columns = names(work_event_names());
  const WorkColumns found(columns);
  std::vector<Count> counts(columns.size(), Count::exact(1));
  counts[found.instructions().value()] = Count::missing("no counter");
  const auto work = found.work_in(counts);
  ASSERT_TRUE(work);
  EXPECT_FALSE(work->instructions);
  EXPECT_EQ(work->bytes, 2);
  const auto last =
      static_cast<std::size_t>(std::ranges::find(columns, "class_x87_arith") - columns.begin());
  ASSERT_LT(last, counts.size());
  counts[last] = Count::missing("no counter");
  EXPECT_FALSE(found.work_in(counts));
  counts.resize(last);
  EXPECT_FALSE(found.work_in(counts)) << "a row that is too short";
}

// Branches cost 0.15 ns each, searches 2.8 ns.
TEST(EngineTime, IsTheSumOfItsBranchesAndSearches) {
  EXPECT_DOUBLE_EQ((EngineWork{.branches = 1e9, .searches = 1e8}.seconds()), 0.15 + 0.28);
  EXPECT_DOUBLE_EQ(without_engine(2, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(without_engine(2, 1.9), 0.5) << "the engine never takes nearly all of the time";
}

TEST(CountedWork, AThreadThatBecameAnotherProgramIsOne) {
  sample::RunCounts counted;
  for (const std::string& name : names(work_event_names())) {
    sample::CountedEvent event;
    event.name = name;
    event.total = Count::exact(5);
    counted.events.push_back(event);
  }
  const std::vector<Count> two(counted.events.size(), Count::exact(2));
  const std::vector<Count> three(counted.events.size(), Count::exact(3));
  counted.threads = {{7, 7, "sh", two}, {7, 7, "app", three}};
  counted.functions = {{"main", "/bin/app", three}};
  const CountedWork work = counted_work(counted);
  ASSERT_EQ(work.threads.size(), 1u);
  EXPECT_EQ(work.threads[0].name, "app");
  EXPECT_EQ(work.threads[0].work.value().instructions, 5);
  EXPECT_EQ(work.total.value().bytes, 10);
  ASSERT_EQ(work.functions.size(), 1u);
  EXPECT_EQ(work.functions[0].key.binary, "/bin/app");
  EXPECT_EQ(work.functions[0].work.value().flops_dp, 3);
}

CountedWork work_of(double flops, double bytes) {
  CountedWork counted;
  counted.total = model::Work{};
  counted.total->flops_dp = flops;
  counted.total->bytes = bytes;
  counted.total->instructions = 10;
  counted.functions.push_back({{"solve.constprop.0", "/bin/a"}, counted.total});
  return counted;
}

TEST(CompareWork, ExactWorkThatDiffersIsAChangeAndModelledBytesAreNot) {
  CountedWork after = work_of(64, 129);
  after.functions[0].key = {"solve", "/bin/b"};
  auto tables = compare_work(work_of(64, 128), after);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].metric, "operations");
  ASSERT_EQ(tables[0].rows.size(), 1u) << "a clone in a renamed binary is the same function";
  EXPECT_EQ(tables[0].rows[0].change(), sample::Change::none);
  EXPECT_EQ(tables[1].rows[0].change(), sample::Change::more);
  after.bytes_are_of_memory = true;
  tables = compare_work(work_of(64, 128), after);
  EXPECT_EQ(tables[1].rows[0].change(), sample::Change::unknown);
  EXPECT_EQ(tables[2].rows[0].change(), sample::Change::none);
  after.by = CountedBy::counters;
  EXPECT_EQ(compare_work(work_of(64, 128), after)[0].whole.change(), sample::Change::unknown);
}

TEST(CompareWork, WhatOneRunLacksIsNotZeroWhereItWasNotCounted) {
  CountedWork before = work_of(64, 128);
  before.functions.push_back({{"only_before", "/bin/a"}, before.total});
  before.functions.push_back({{"not_counted", "/bin/a"}, std::nullopt});
  const auto tables = compare_work(before, work_of(64, 128));
  for (const auto& row : tables.at(0).rows) {
    const auto expected = row.name == "only_before"   ? sample::Change::less
                          : row.name == "not_counted" ? sample::Change::unknown
                                                      : sample::Change::none;
    EXPECT_EQ(row.change(), expected) << row.name;
  }
  CountedWork uncounted = before;
  uncounted.total.reset();
  EXPECT_TRUE(compare_work(before, uncounted).empty());
}

}  // namespace
}  // namespace loft::roof
