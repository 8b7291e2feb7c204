#include "sample/repeat.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sample/ratio.hpp"

namespace loft::sample {
namespace {

TEST(Spread, IsStudentsIntervalAroundTheMean) {
  const std::vector<double> values{10, 12, 14};
  const Spread spread = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.mean, 12);
  EXPECT_DOUBLE_EQ(spread.deviation, 2);
  EXPECT_NEAR(spread.high - spread.mean, 4.303 * 2 / std::sqrt(3.0), 1e-9);
}

TEST(Spread, OneValueHasNoWidth) {
  const std::vector<double> values{7};
  EXPECT_DOUBLE_EQ(spread_of(values).low, 7);
  EXPECT_DOUBLE_EQ(spread_of(values).high, 7);
}

RunCounts run_with(Count count, int status = 0) {
  RunCounts run;
  run.wall = std::chrono::seconds(1);
  run.exit_status = status;
  run.events = {{"cycles", "kernel", "", 1, false, std::move(count)}};
  run.events[0].id.meaning = event::Meaning::cycles;
  return run;
}

TEST(ShareError, IsThatOfTheBinomialDistribution) {
  EXPECT_NEAR(share_error(0.5, 200), 1.96 * 0.05, 1e-12);  // 100 of 200: 50 % +- 4.9 points
  EXPECT_EQ(share_error(1.0, 10), 0);
}

TEST(MergeRuns, OneMissingRunMakesTheEventMissing) {
  const RunCounts merged =
      merge_runs({run_with(Count::exact(5)), run_with(Count::missing("gone"))});
  EXPECT_FALSE(merged.events[0].total.is_available());
}

TEST(MergeRuns, OneScaledRunMakesTheMeanScaled) {
  const RunCounts merged =
      merge_runs({run_with(Count::of_reading(100, Nanoseconds(100), Nanoseconds(100))),
                  run_with(Count::of_reading(50, Nanoseconds(100), Nanoseconds(50)))});
  EXPECT_EQ(merged.events[0].total.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(merged.events[0].value(), 100);
}

TEST(MergeRuns, AFailedRunShowsInTheStatus) {
  EXPECT_EQ(merge_runs({run_with(Count::exact(1), 3), run_with(Count::exact(1), 0)}).exit_status,
            3);
}

TEST(Ratio, HasNoValueWhenItsDivisorIsZeroOrMissing) {
  RunCounts run = run_with(Count::exact(0));
  run.events.push_back({"instructions", "kernel", "", 1, false, Count::exact(10)});
  run.events[1].id.meaning = event::Meaning::instructions;
  const auto ratio = ratio_of(run, 1);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->unit, "1/s") << "cycles are 0: no instructions per cycle";
}

TEST(Ratio, GivesNoRateFromTheTimeOfTheVirtualPmu) {
  RunCounts run = run_with(Count::exact(5));
  run.source = Source::virtual_pmu;
  EXPECT_FALSE(ratio_of(run, 0));
}

// Of a hybrid machine: cycles of the small cores say nothing about instructions of the large ones.
TEST(Ratio, IsOfTwoEventsOfOnePmu) {
  RunCounts run;
  run.wall = std::chrono::seconds(1);
  const auto add = [&](const char* pmu, event::Meaning meaning, std::uint64_t count) {
    run.events.push_back({pmu, "kernel", "", 1, false, Count::exact(count)});
    run.events.back().id.encoding.pmu = pmu;
    run.events.back().id.meaning = meaning;
  };
  add("cpu_atom", event::Meaning::cycles, 100);
  add("cpu_core", event::Meaning::cycles, 200);
  add("cpu_core", event::Meaning::instructions, 600);
  const auto ratio = ratio_of(run, 2);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->name, "IPC");
  EXPECT_DOUBLE_EQ(ratio->value, 3);
}

RunCounts run_of(std::vector<std::pair<std::string, Count>> counts) {
  RunCounts run;
  for (auto& [name, count] : counts)
    run.events.push_back({name, "kernel", "", 1, false, std::move(count)});
  for (CountedEvent& event : run.events) event.id.meaning = event::meaning_of(event.name);
  return run;
}

TEST(JoinRuns, AlignsByInstructionsWhatNotEveryRunCounted) {
  using std::chrono::seconds;
  const auto joined = join_runs({run_of({{"instructions:u", Count::exact(1000)},
                                         {"a", Count::of_reading(3, seconds(2), seconds(1))},
                                         {"b", Count::exact(10)}}),
                                 run_of({{"instructions:u", Count::exact(3000)},
                                         {"a", Count::exact(30)},
                                         {"b", Count::exact(14)}})});
  ASSERT_TRUE(joined);
  EXPECT_DOUBLE_EQ(joined->events[0].value(), 2000);
  EXPECT_DOUBLE_EQ(joined->events[1].value(), 20) << "that of the run that did not share, aligned";
  EXPECT_EQ(joined->events[1].total.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(joined->events[2].value(), 12) << "the mean";
  EXPECT_EQ(joined->events[2].total.origin, Origin::counted);
}

// The first run counts everything at once, so that its instructions are an estimate.
TEST(JoinRuns, AnEstimateOfTheLengthDoesNotChangeWhatWasCounted) {
  const auto shared =
      Count::of_reading(480, std::chrono::milliseconds(10), std::chrono::milliseconds(5));
  const auto joined =
      join_runs({run_of({{"instructions", shared}, {"a", shared}, {"b", shared}}),
                 run_of({{"instructions", Count::exact(1000)}, {"a", Count::exact(7)}}),
                 run_of({{"instructions", Count::exact(1000)}, {"b", Count::exact(9)}})});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->events[0].total.raw, 1000u);
  EXPECT_EQ(joined->events[1].total.raw, 7u);
  EXPECT_EQ(joined->events[2].total.raw, 9u);
  for (const CountedEvent& event : joined->events)
    EXPECT_EQ(event.total.origin, Origin::counted) << event.name;
}

TEST(JoinRuns, NeedsInstructions) {
  EXPECT_FALSE(join_runs({run_of({{"a", Count::exact(1)}}), run_of({{"a", Count::exact(1)}})}));
}

// task-clock on a whole CPU is its wall time.
TEST(Ratio, IdleTimeOfAWholeCpuIsNotBusy) {
  RunCounts run;
  run.wall = std::chrono::seconds(2);
  run.events = {{"task-clock", "kernel", "ns", 1, true, Count::exact(2'000'000'000)}};
  run.events[0].id.meaning = event::Meaning::task_clock;
  EXPECT_FALSE(ratio_of(run, 0)) << "nobody knows";
  run.busy = std::chrono::milliseconds(100);
  EXPECT_DOUBLE_EQ(ratio_of(run, 0)->value, 0.05);
  run.events[0].whole_machine = false;
  EXPECT_DOUBLE_EQ(ratio_of(run, 0)->value, 1);
}

}  // namespace
}  // namespace loft::sample
