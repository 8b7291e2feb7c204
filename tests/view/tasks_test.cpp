// Tasks of a recording as tree, schedule and slices: positions and shares were computed by hand.
#include "view/tasks.hpp"

#include "view/wakeups.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "view/estimates.hpp"

namespace loft::view {
namespace {

using sample::Estimate;
using sample::Origin;
using sample::TaskRow;
using sample::TaskTable;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMs = 1'000'000;

TaskRow task(std::uint32_t tid, const char* name, std::optional<std::size_t> parent = {}) {
  TaskRow row;
  row.pid = 10;
  row.tid = tid;
  row.comm = name;
  row.parent = parent;
  return row;
}

// 40 ms on two CPUs: solver has CPU 0 for 10 ms and CPU 1 for 20, worker CPU 0 for 10.
TaskTable two_tasks() {
  TaskTable table;
  table.path = "a.data";
  table.first_time = 100 * kMs;
  table.last_time = 140 * kMs;
  table.has_switches = true;
  table.tasks = {task(10, "solver"), task(11, "worker", 0)};
  table.runs = {
      {0, 0, 100 * kMs, 110 * kMs}, {1, 0, 110 * kMs, 120 * kMs}, {0, 1, 120 * kMs, 140 * kMs}};
  return table;
}

TEST(Schedule, ALineShowsWhoHadTheCpuInEachColumn) {
  const std::string text = schedule_text(two_tasks(), 58);  // 40 columns of 1 ms
  EXPECT_EQ(text,
            "a.data: 40.0 ms, one column is 1.00 ms\n"
            "CPU 0   AAAAAAAAAABBBBBBBBBB....................  50.0 %\n"
            "CPU 1   ....................AAAAAAAAAAAAAAAAAAAA  50.0 %\n"
            "A solver 10                        30.0 ms    75.0 %\n"
            "B worker 11                        10.0 ms    25.0 %\n");
}

TEST(Tasks, OfManyThatNeverRanOnlyTheNumberIsShown) {
  TaskTable table = two_tasks();
  table.tasks[0].run_ns = 30 * kMs;
  for (std::uint32_t i = 0; i < 16; ++i) table.tasks.push_back(task(100 + i, "idle"));
  EXPECT_THAT(threads_text(table), HasSubstr("idle 115"));
  table.tasks.push_back(task(116, "idle"));
  const std::string text = threads_text(table);
  EXPECT_THAT(text, HasSubstr("(17 more that never ran)"));
  EXPECT_THAT(text, Not(HasSubstr("idle 1")));
  EXPECT_THAT(text, HasSubstr("worker 11")) << "whoever was started by a task is shown";
  EXPECT_THAT(threads_csv(table), HasSubstr("idle")) << "for other programs all are there";
}

TEST(Tasks, RunTimesFromTicksAreEstimates) {
  TaskTable table = two_tasks();
  table.tasks[0].run_ns = 30 * kMs;
  table.slices.push_back({.task = 0, .end = 140 * kMs, .run_ns = 30 * kMs});
  table.watched_by = "top";
  EXPECT_THAT(threads_text(table) + slices_text(table), Not(HasSubstr("~")));
  EXPECT_EQ(nlohmann::json::parse(threads_json(table))["run_kind"], "counted");
  table.watched_by = "top, run time by ticks";
  EXPECT_THAT(threads_text(table), HasSubstr("~30.0 ms"));
  EXPECT_THAT(threads_text(table), HasSubstr("~ run: an estimate"));
  EXPECT_THAT(slices_text(table), HasSubstr("~30.0 ms"));
  EXPECT_EQ(nlohmann::json::parse(threads_json(table))["run_kind"], "scaled");
  EXPECT_EQ(nlohmann::json::parse(slices_json(table))["run_kind"], "scaled");
}

TEST(Schedule, AColumnBelongsToWhoeverHadMostOfIt) {
  TaskTable table = two_tasks();
  table.runs = {{0, 0, 100 * kMs, 100 * kMs + 400'000},
                {1, 0, 100 * kMs + 400'000, 101 * kMs},
                {0, 1, 101 * kMs, 103 * kMs}};
  const std::string text = schedule_text(table, 58);
  EXPECT_THAT(text, HasSubstr("CPU 0   B......"));
  EXPECT_THAT(text, HasSubstr("CPU 1   .AA....")) << "solver ran longest and is A";
  EXPECT_THAT(text, HasSubstr("  2.5 %\n")) << "one whole column of 40";
}

TEST(Schedule, WithoutSwitchesItSaysHowToGetThem) {
  TaskTable table = two_tasks();
  table.has_switches = false;
  EXPECT_THAT(schedule_text(table, 80), HasSubstr("--types that has sched"));
}

TEST(Schedule, TheDrawingHasABarForEachStretchAndAnAxis) {
  const std::string svg = schedule_svg(two_tasks());
  EXPECT_THAT(svg, HasSubstr("a.data: 2 tasks on 2 CPUs, 40.0 ms"));
  // A thousand cells from 180 on: a quarter of the time is 250 of them.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"180\" y=\"65.0\" width=\"250\" height=\"13.0\" "
                             "fill=\"#0072B2\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"430\" y=\"65.0\" width=\"250\" height=\"13.0\" "
                             "fill=\"#E69F00\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"680\" y=\"81.0\" width=\"500\""));
  EXPECT_THAT(svg, HasSubstr("50.0 % busy"));
  // Steps of 5 ms: the first 1, 2 or 5 of a power of ten that gives at most ten of them.
  EXPECT_THAT(svg, HasSubstr("<line x1=\"305.0\""));
  EXPECT_THAT(svg, HasSubstr(">5.00 ms</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">4.00 ms</text>")));
}

TEST(Schedule, TheDrawingShowsSixtyTasksAndCountsTheOthers) {
  TaskTable table = two_tasks();
  for (std::uint32_t i = 0; i < 70; ++i) {
    table.tasks.push_back(task(100 + i, "t<"));
    table.runs.push_back({2 + i, 0, 120 * kMs, 120 * kMs + 1});
  }
  const std::string svg = schedule_svg(table);
  EXPECT_THAT(svg, HasSubstr("and 12 tasks that ran less"));
  EXPECT_THAT(svg, HasSubstr("t&lt; 100"));
}

TEST(Schedule, EveryRunIsALineOfCsvAndAnObjectOfJson) {
  EXPECT_EQ(schedule_csv(two_tasks()),
            "cpu,start_ns,end_ns,pid,tid,comm\n"
            "0,100000000,110000000,10,10,solver\n"
            "0,110000000,120000000,10,11,worker\n"
            "1,120000000,140000000,10,10,solver\n");
  const auto json = nlohmann::json::parse(schedule_json(two_tasks()));
  EXPECT_EQ(json["schema"], "loft.schedule/1");
  EXPECT_EQ(
      json["runs"][2],
      (nlohmann::json{{"cpu", 1}, {"task", 0}, {"start_ns", 120 * kMs}, {"end_ns", 140 * kMs}}));
}

TEST(Schedule, AnEmptyRecordingIsNoDivisionByZero) {
  TaskTable table;
  table.has_switches = true;
  EXPECT_THAT(schedule_svg(table), Not(HasSubstr("nan")));
  EXPECT_THAT(schedule_text(table, 80), Not(HasSubstr("nan")));
}

TEST(Threads, TheTreeShowsWhoStartedWhom) {
  TaskTable table = two_tasks();
  table.tasks = {task(10, "solver"), task(11, "worker", 0), task(12, "helper", 1),
                 task(13, "last", 0)};
  const std::string text = threads_text(table);
  EXPECT_THAT(text, HasSubstr("\nsolver 10 "));
  EXPECT_THAT(text, HasSubstr("\n├ worker 11 "));
  EXPECT_THAT(text, HasSubstr("\n│ └ helper 12 "));
  EXPECT_THAT(text, HasSubstr("\n└ last 13 "));
}

TEST(Threads, ALongChainOfParentsIsShownWithoutEndlessIndent) {
  TaskTable table = two_tasks();
  table.tasks = {task(1, "t")};
  for (std::uint32_t i = 1; i < 5000; ++i) table.tasks.push_back(task(i + 1, "t", i - 1));
  const std::string text = threads_text(table);
  EXPECT_THAT(text, HasSubstr("t 5000"));
  EXPECT_LT(text.size(), 5000u * 200);
}

TEST(Threads, WhatIsNotKnownIsADashAndTheSumIsOfTheRest) {
  TaskTable table = two_tasks();
  table.tasks[0].run_ns = 30 * kMs;
  table.tasks[0].switches = 3;
  table.tasks[1].run_ns = 10 * kMs;
  const std::string text = threads_text(table);
  EXPECT_THAT(text, HasSubstr("worker 11     10.0 ms          -        -"));
  EXPECT_THAT(text, HasSubstr("all             40.0 ms          -        3"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("[^\n]{81}"))) << "a terminal has 80 columns";
  EXPECT_THAT(threads_csv(table), HasSubstr("10,11,10,worker,0,,10000000,,,,0\n"));
  const auto json = nlohmann::json::parse(threads_json(table));
  EXPECT_EQ(json["tasks"][1]["parent_tid"], 10);
  EXPECT_TRUE(json["tasks"][1]["wait_ns"].is_null());
  EXPECT_TRUE(json["tasks"][0]["parent_tid"].is_null());
}

TEST(Threads, EnergyIsOfTheMachineAndItsSharesAreAModel) {
  TaskTable table = two_tasks();
  table.meters = {{"package-0", 2'500'000, 0.5, Origin::modelled}};
  table.still_meters = {"dram"};
  table.tasks[0].joules = {1.5};
  const std::string text = threads_text(table);
  EXPECT_THAT(text, HasSubstr("package-0: ~2.500 J of the whole machine"));
  EXPECT_THAT(text, HasSubstr("~0.500 J of it while no task ran; added up from readings"));
  EXPECT_THAT(text, HasSubstr("dram: did not move"));
  EXPECT_THAT(text, HasSubstr("~1.500"));
  const auto json = nlohmann::json::parse(threads_json(table));
  EXPECT_EQ(json["tasks"][0]["energy"]["kind"], "modelled");
  EXPECT_EQ(json["energy"][0]["joules"], 2.5);
}

TEST(Slices, AreShownByTheirEndSinceTheStart) {
  TaskTable table = two_tasks();
  EXPECT_THAT(slices_text(table), HasSubstr("no slices were recorded"));
  table.slices.push_back({1, 0, 112 * kMs, 2 * kMs, 7, {}});
  table.slices.push_back({0, 1, 90 * kMs, kMs, {}, {}});
  const std::string text = slices_text(table);
  EXPECT_THAT(text, HasSubstr("  0.012000 s  worker 11                   0     2.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("  0.000000 s  solver 10")) << "before the first record: its start";
  EXPECT_EQ(slices_csv(table),
            "end_ns,pid,tid,comm,cpu,run_ns,wait_ns\n"
            "112000000,10,11,worker,0,2000000,7\n"
            "90000000,10,10,solver,1,1000000,\n");
  EXPECT_TRUE(nlohmann::json::parse(slices_json(table))["slices"][1]["wait_ns"].is_null());
}

TEST(Estimates, SayHowTheyAreKnown) {
  EXPECT_EQ(estimate_text({Origin::counted, 1234567.4, 1}), "1,234,567");
  EXPECT_EQ(estimate_text({Origin::scaled, 1999.5, 0.5}), "~2,000");
  EXPECT_EQ(estimate_text({Origin::missing, 5, 0}), "-");
  EXPECT_EQ(estimate_with_error({Origin::counted, 10, 1, 0.5}), "10") << "it has none";
  EXPECT_EQ(estimate_with_error({Origin::scaled, 1234, 0.5, 0.0311}), "~1,234 ±3.1 %");
  EXPECT_EQ(estimate_with_error({Origin::scaled, 1234, 0.5, 0.0996}), "~1,234 ±10 %");
  EXPECT_EQ(estimate_with_error({Origin::scaled, 1234, 0.5, 0.51}), "~1,234 ±>50 %");
  EXPECT_EQ(estimate_with_error({Origin::scaled, 1234, 0.5, {}}), "~1,234 ±?");
  EXPECT_EQ(estimate_number({Origin::missing, 7, 0}, "null"), "null");
}

TEST(Wakeups, WhatMayHaveBeenAnInterruptIsMarked) {
  const std::vector<sample::Wakeups> all = {
      {{7, 8, "feeder"}, false, false, {5, 6, "worker"}, 3, 2'500'000'000},
      {{}, true, true, {5, 6, "worker"}, 1, 1'000},
      {{}, false, true, {5, 6, ""}, 1, 0}};
  const std::string text = wakeups_text(all, 0);
  EXPECT_THAT(text, HasSubstr("worker 6                    ~feeder 8                          3"));
  EXPECT_THAT(text, HasSubstr("timer or device"));
  EXPECT_THAT(text, HasSubstr("? 6                         not known"));
  EXPECT_THAT(text, HasSubstr("did not tell interrupts apart"));
  EXPECT_THAT(wakeups_text(all, 1), HasSubstr("... 2 more"));
  const auto json = nlohmann::json::parse(wakeups_json(all))["wakeups"];
  EXPECT_TRUE(json[0]["by_interrupt"].is_null());
  EXPECT_EQ(json[1]["by_interrupt"], true);
  EXPECT_TRUE(json[2]["by"].is_null());
  EXPECT_THAT(wakeups_csv(all), HasSubstr("5,6,worker,7,8,feeder,,3,2.5"));
}

}  // namespace
}  // namespace loft::view
