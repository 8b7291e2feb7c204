// Two recordings side by side, with numbers that can be checked by hand.
#include "view/compare.hpp"

#include "view/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

namespace loft::view {
namespace {

using sample::ComparedTask;
using sample::Estimate;
using sample::Origin;
using sample::TaskComparison;
using testing::HasSubstr;
using testing::Not;

ComparedTask worker() {
  ComparedTask task;
  task.name = "worker";
  task.before_tid = 11;
  task.after_tid = 21;
  task.before_s = 2;
  task.after_s = 5;
  task.before_run_s = 1.5;
  task.after_run_s = 1.5;
  task.after_wait_s = 0.25;
  task.counts = {
      {"instructions", {Origin::counted, 1000, 1, {}}, {Origin::counted, 1500, 1, {}}},
      {"cycles", {Origin::counted, 2000, 1, {}}, {Origin::scaled, 9000, 0.5, 0.1}},
      {"LLC-misses", {Origin::counted, 0, 1, {}}, {Origin::missing, 0, 0, {}}},
  };
  task.phases = {{0.5, 1.5}, {0.5, 0.25}, {0, 0.5}};
  return task;
}

TaskComparison comparison_of(std::vector<ComparedTask> tasks) {
  TaskComparison comparison;
  comparison.before_path = "alone.data";
  comparison.after_path = "beside.data";
  comparison.work = "instructions";
  comparison.tasks = std::move(tasks);
  return comparison;
}

std::size_t count_of(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(CompareText, HasBothSidesAndTheirRatio) {
  const std::string text = compare_text(comparison_of({worker()}));
  const auto line = [](const char* what, const char* a, const char* b, const char* ratio) {
    char out[128];
    std::snprintf(out, sizeof out, "%-30s%16s%16s%9s\n", what, a, b, ratio);
    return std::string(out);
  };
  EXPECT_EQ(
      text,
      "A alone.data\nB beside.data\nphases are tenths of the instructions\n\n" +
          line("task", "A", "B", "B / A") + line("worker 11", "2.00 s", "5.00 s", "2.50") +
          line("    run", "1.50 s", "1.50 s", "1.00") + line("    waiting", "-", "250 ms", "-") +
          line("    instructions", "1,000", "1,500", "1.50") +
          line("    cycles", "2,000", "~9,000", "4.50") + line("    LLC-misses", "0", "-", "-") +
          "    slower by phase             3.00  0.50     -\n");
}

TEST(CompareText, LeavesOutWaitingThatNeitherSideKnows) {
  ComparedTask task = worker();
  task.after_wait_s.reset();
  EXPECT_THAT(compare_text(comparison_of({task})), Not(HasSubstr("waiting")));
}

TEST(CompareText, CountsTasksWithoutACounterpart) {
  TaskComparison comparison = comparison_of({});
  EXPECT_THAT(compare_text(comparison), Not(HasSubstr("counterpart")));
  comparison.only_after = 3;
  EXPECT_THAT(compare_text(comparison), HasSubstr("without a counterpart: 0 tasks of A, 3 of B\n"));
}

TEST(CompareCsv, AFieldThatIsNotKnownIsEmptyAndItsKindSaysSo) {
  const std::string csv = compare_csv(comparison_of({worker()}));
  EXPECT_EQ(csv,
            "comm,tid_a,tid_b,what,a,b,kind\n"
            "worker,11,21,lifetime_s,2,5,counted\n"
            "worker,11,21,run_s,1.5,1.5,counted\n"
            "worker,11,21,wait_s,,0.25,counted\n"
            "worker,11,21,instructions,1000,1500,counted\n"
            "worker,11,21,cycles,2000,9000,scaled\n"
            "worker,11,21,LLC-misses,0,,missing\n"
            "worker,11,21,phase 1,0.5,1.5,counted\n"
            "worker,11,21,phase 2,0.5,0.25,counted\n"
            "worker,11,21,phase 3,0,0.5,counted\n");
}

TEST(CompareJson, WhatIsNotKnownIsNull) {
  ComparedTask task = worker();
  task.before_s = 0;
  const std::string json = compare_json(comparison_of({task}));
  EXPECT_THAT(json, HasSubstr("\"slowdown\":null,\"run_s\":[1.500000000,1.500000000],"
                              "\"wait_s\":[null,0.250000000]"));
  EXPECT_THAT(json, HasSubstr("\"instructions\":{\"a\":1000,\"b\":1500,\"kind\":\"counted\"},"
                              "\"cycles\":{\"a\":2000,\"b\":9000,\"kind\":\"scaled\"},"
                              "\"LLC-misses\":{\"a\":0,\"b\":null,\"kind\":\"missing\"}"));
  EXPECT_THAT(json, HasSubstr("\"phases\":[[0.500000000,1.500000000],[0.500000000,0.250000000],"
                              "[0.000000000,0.500000000]]}\n]}\n"));
}

// The highest bar of a thread is 60 pixels; three phases are 700 / 3 pixels each.
TEST(CompareSvg, BarsAreRelativeToTheLongestPhaseOfTheirThread) {
  const std::string svg = compare_svg(comparison_of({worker()}));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"193.3\" y=\"106.0\" width=\"88.7\" height=\"20.0\" "
                             "fill=\"#0072B2\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"286.7\" y=\"66.0\" width=\"88.7\" height=\"60.0\" "
                             "fill=\"#D55E00\"/>"));
  EXPECT_THAT(svg, HasSubstr(">1.50 s</text>"));
  EXPECT_THAT(svg, HasSubstr(">B / A 2.50</text>"));
}

TEST(CompareSvg, DrawsTwelveThreadsAtMost) {
  const std::string svg = compare_svg(comparison_of(std::vector(20, worker())));
  EXPECT_EQ(count_of(svg, ">A 11, B 21<"), 12u);
}

// Once such a picture was empty, without a word.
TEST(CompareSvg, SaysWhyThereIsNothingToDraw) {
  ComparedTask without_phases = worker();
  without_phases.phases.clear();
  ComparedTask without_time = worker();
  without_time.phases = {{0, 0}, {0, 0}};
  for (const ComparedTask& task : {without_phases, without_time})
    EXPECT_THAT(compare_svg(comparison_of({task})), HasSubstr("no thread has enough slices"));
}

TEST(CompareViews, NoNameBreaksAnOutput) {
  ComparedTask task = worker();
  task.name = "=1+1,\"\x1b[2J\n<script>&";
  task.counts[0].name = "a\nb<";
  TaskComparison comparison = comparison_of({task});
  comparison.before_path = "</text><b>\x1b";
  for (const auto make : {compare_text, compare_csv, compare_json, compare_svg})
    EXPECT_THAT(make(comparison), Not(HasSubstr("\x1b")));
  EXPECT_THAT(compare_csv(comparison), HasSubstr("\"'=1+1,\"\"\\x1b[2J\\x0a<script>&\",11"));
  EXPECT_THAT(compare_json(comparison), Not(HasSubstr("<")));
  EXPECT_THAT(compare_svg(comparison), Not(HasSubstr("<b>")));
  EXPECT_EQ(count_of(compare_text(comparison), "\n"), 12u);
}

// A second of four before, three after, of which 0.5 may be chance; one function is as it was.
sample::Comparison changed() {
  sample::Comparison comparison;
  comparison.before_path = "a.data";
  comparison.after_path = "b.data";
  sample::ComparedTable table{"function", "task-clock", "s", {}, {}};
  table.whole = {"", "", sample::Amount{4, 0.3}, sample::Amount{3, 0.4}};
  table.rows = {{"solve", "/bin/app", sample::Amount{3, 0.3}, sample::Amount{2, 0.4}},
                {"added", "/bin/app", sample::Amount{0, 0.01}, sample::Amount{0.5, 0.1}},
                {"steady", "/bin/app", sample::Amount{1, 0.1}, sample::Amount{1, 0.1}},
                {"unsure", "/bin/app", sample::Amount{1, std::nullopt}, std::nullopt}};
  comparison.tables = {table};
  return comparison;
}

TEST(ComparisonText, ShowsWhatChangedAndCountsTheRest) {
  const std::string text = comparison_text(changed());
  EXPECT_THAT(text, HasSubstr("whole run                          4.00 s     3.00 s    -1.00 s    "
                              "0.75  less\n"));
  EXPECT_THAT(text, HasSubstr("  added                            0.00 s     500 ms    +500 ms   "
                              "    -  more\n"));
  EXPECT_THAT(text, HasSubstr("  unsure                           1.00 s          -          -   "
                              "    -  ?\n"));
  EXPECT_THAT(text, Not(HasSubstr("steady")));
  EXPECT_THAT(text, HasSubstr("  the same, as far as can be told: 1\n"));
  for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1)
    EXPECT_LE(text.find('\n', start) - start, 80u);
}

TEST(ComparisonData, WhatIsNotKnownIsEmptyOrNull) {
  EXPECT_THAT(comparison_csv(changed()),
              HasSubstr("function,task-clock,s,unsure,/bin/app,1,,,,unknown\n"));
  EXPECT_THAT(comparison_json(changed()),
              HasSubstr("{\"name\":\"unsure\",\"binary\":\"/bin/app\",\"a\":1,\"a_error\":null,"
                        "\"b\":null,\"b_error\":null,\"difference\":null,\"error\":null,"
                        "\"change\":\"unknown\"}"));
  EXPECT_THAT(comparison_csv(changed()), HasSubstr("run,task-clock,s,,,4,0.3,3,0.4,less\n"));
}

TEST(ComparisonPage, HasATableOfWhatChanged) {
  const PageData page = comparison_page({.comparison = changed()});
  ASSERT_EQ(page.tables.size(), 1u);
  const PageTable& table = page.tables[0];
  EXPECT_EQ(table.title, "What changed: task-clock");
  EXPECT_EQ(table.columns[2].name, "B - A");
  EXPECT_EQ(table.columns[2].numbers[0], -1);
  EXPECT_EQ(table.columns[7].texts[2], "may be chance");
  EXPECT_TRUE(page_html(page));
}

}  // namespace
}  // namespace loft::view
