// The tables of a recording's page, from rows and moments that are counted by hand.
#include "view/recording_page_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::view {
namespace {

using sample::Dimension;
using sample::ReportRow;
using testing::ElementsAre;
using testing::IsNan;

const PageColumn& column(const PageTable& table, std::string_view name,
                         std::string_view event = "") {
  static const PageColumn none{"there is no such column"};
  for (const PageColumn& each : table.columns)
    if (each.name == name && (event.empty() || each.event == event)) return each;
  ADD_FAILURE() << "no column " << name;
  return none;
}

std::vector<std::string> names_of(const PageTable& table) {
  std::vector<std::string> names;
  for (const PageColumn& each : table.columns) names.push_back(each.name);
  return names;
}

ReportRow row_of(std::uint32_t event, const char* function, double share, std::uint64_t samples) {
  ReportRow row;
  row.event = event;
  row.keys.function = function;
  row.keys.binary = "/bin/app";
  row.keys.file = "app.c";
  row.self.samples = samples;
  row.share = share;
  return row;
}

sample::Report report_of(std::vector<ReportRow> rows) {
  sample::Report report;
  report.by = {Dimension::function};
  report.events.resize(2);
  report.events[0].name = "cpu-clock";
  report.events[1].name = "cache-misses";
  report.rows = std::move(rows);
  report.rows_left_out = {0, 0};
  return report;
}

TEST(FunctionTable, HasTheBinaryBesideTheFunction) {
  const PageTable table =
      function_table(report_of({row_of(0, "solve", 0.75, 3), row_of(0, "main", 0.25, 1)}));
  EXPECT_EQ(table.title, "Functions");
  EXPECT_THAT(names_of(table),
              ElementsAre("function", "binary", "share", "samples", "source file"));
  EXPECT_THAT(column(table, "function").texts, ElementsAre("solve", "main"));
  EXPECT_THAT(column(table, "share").numbers, ElementsAre(0.75, 0.25));
  EXPECT_THAT(column(table, "samples").numbers, ElementsAre(3, 1));
}

TEST(FunctionTable, AFunctionHasOneRowForAllEvents) {
  const PageTable table = function_table(
      report_of({row_of(0, "solve", 1, 4), row_of(1, "main", 0.5, 1), row_of(1, "solve", 0.5, 1)}));
  EXPECT_THAT(column(table, "function").texts, ElementsAre("solve", "main"));
  EXPECT_THAT(column(table, "samples", "cpu-clock").numbers, ElementsAre(4, 0));
  EXPECT_THAT(column(table, "samples", "cache-misses").numbers, ElementsAre(1, 1));
}

// Once such a cell was 0, as if the event had no sample there.
TEST(FunctionTable, ARowThatWasLeftOutForAnEventIsNotKnown) {
  auto report = report_of({row_of(0, "solve", 1, 4), row_of(1, "main", 0.5, 2)});
  report.rows_left_out = {0, 2};
  const PageTable table = function_table(report);
  EXPECT_THAT(column(table, "samples", "cpu-clock").numbers, ElementsAre(4, 0));
  EXPECT_THAT(column(table, "samples", "cache-misses").numbers, ElementsAre(IsNan(), 2));
  EXPECT_THAT(column(table, "share", "cache-misses").numbers, ElementsAre(IsNan(), 0.5));
  EXPECT_EQ(table.left_out, "2 others of cache-misses");
}

TEST(FunctionTable, WithCallersItHasWhatAFunctionCalledToo) {
  auto rows = std::vector{row_of(0, "main", 0.25, 1), row_of(0, "solve", 0.75, 3)};
  for (ReportRow& row : rows) row.inclusive = row.self;
  rows[0].inclusive_share = 1;
  rows[1].inclusive_share = 0.75;
  const PageTable table = function_table(report_of(rows));
  EXPECT_THAT(names_of(table),
              ElementsAre("function", "binary", "total", "self", "samples", "source file"));
  EXPECT_THAT(column(table, "total").numbers, ElementsAre(1, 0.75));
  EXPECT_THAT(column(table, "self").numbers, ElementsAre(0.25, 0.75));
}

TEST(FunctionTable, RowsOfOtherKindsAreWrittenInWords) {
  auto row = row_of(0, "solve", 1, 1);
  row.keys.comm = "app";
  row.keys.line = 7;
  row.keys.pid = 10;
  row.keys.tid = 11;
  row.keys.cpu = 3;
  auto report = report_of({row, row_of(0, "idle", 0, 0)});
  report.rows[1].keys.file = "";
  report.by = {Dimension::line, Dimension::thread, Dimension::process,
               Dimension::cpu,  Dimension::binary, Dimension::comm};
  const PageTable table = function_table(report);
  EXPECT_EQ(table.title, "Rows");
  EXPECT_THAT(names_of(table), ElementsAre("function", "source line", "thread", "process", "CPU",
                                           "binary", "name", "share", "samples"));
  EXPECT_THAT(column(table, "source line").texts, ElementsAre("app.c:7", ""));
  EXPECT_THAT(column(table, "thread").texts, ElementsAre("app 11", ""));
  EXPECT_THAT(column(table, "process").texts, ElementsAre("app 10", ""));
  EXPECT_THAT(column(table, "CPU").texts, ElementsAre("CPU 3", ""));
}

class ThreadTable : public testing::Test {
 protected:
  ThreadTable() {
    history.add_comm({0, 10, 10, "app", false});
    history.add_comm({0, 10, 11, "worker", false});
    summary.metadata.events.resize(2);
    for (auto& event : summary.metadata.events) event.attr.sample_type = 1u << 7;  // with the CPU
    events.resize(2);
    events[0] = {.name = "cpu-clock", .total = {4, 400}, .is_time = true};
    events[1] = {.name = "faults", .total = {4, 0}, .period_is_known = false};
  }
  void add(std::uint32_t tid, std::uint32_t event, std::uint32_t cpu, std::uint64_t period,
           std::uint32_t dice = 0) {
    sample::TimelineEntry entry{};
    entry.pid = 10;
    entry.tid = tid;
    entry.event = event;
    entry.cpu = cpu;
    entry.period = period;
    entry.dice = dice;
    result.timeline.add(entry);
  }
  [[nodiscard]] PageTable table() {
    const sample::Locations locations(history, store, {});
    return thread_table({summary, result, locations, history, events});
  }

  sample::TaskHistory history;
  symbols::SymbolStore store;
  sample::RecordingSummary summary;
  sample::ProfileResult result;
  std::vector<sample::ReportEvent> events;
};

TEST_F(ThreadTable, SharesAreOfPeriodsWhereTheyAreKnownElseOfSamples) {
  add(10, 0, 0, 100);
  add(11, 0, 0, 300);
  add(11, 0, 5, 0);
  add(11, 1, 5, 77);
  const PageTable made = table();
  EXPECT_THAT(column(made, "thread").texts, ElementsAre("app", "worker"));
  EXPECT_THAT(column(made, "tid").texts, ElementsAre("10", "11"));
  EXPECT_THAT(column(made, "process").texts, ElementsAre("10", "10"));
  EXPECT_THAT(column(made, "share", "cpu-clock").numbers, ElementsAre(0.25, 0.75));
  EXPECT_THAT(column(made, "samples", "cpu-clock").numbers, ElementsAre(1, 2));
  EXPECT_THAT(column(made, "share", "faults").numbers, ElementsAre(0, 0.25));
  EXPECT_THAT(column(made, "CPUs").numbers, ElementsAre(1, 2));
  EXPECT_TRUE(column(made, "share", "cpu-clock").origins.empty());
}

TEST_F(ThreadTable, WhereSamplesDoNotSayTheCpuNobodyKnows) {
  summary.metadata.events[0].attr.sample_type = 0;
  add(10, 0, 0, 100);
  EXPECT_THAT(column(table(), "CPUs").numbers, ElementsAre(IsNan()));
}

// Of a long recording every second moment is kept: what it stands for is an estimate.
TEST_F(ThreadTable, WhatIsCountedFromAPartOfTheMomentsIsMarked) {
  result.timeline = sample::Timeline(2);
  for (const std::uint32_t dice : {0u, 1u, 2u}) add(10, 0, 0, 50, dice);  // the second one goes
  ASSERT_EQ(result.timeline.step(), 2u);
  const PageTable made = table();
  EXPECT_THAT(column(made, "samples", "cpu-clock").numbers, ElementsAre(4));
  EXPECT_THAT(column(made, "share", "cpu-clock").numbers, ElementsAre(0.5));
  EXPECT_THAT(column(made, "share", "cpu-clock").origins, ElementsAre(sample::Origin::scaled));
}

}  // namespace
}  // namespace loft::view
