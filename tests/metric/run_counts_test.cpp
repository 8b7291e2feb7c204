#include "metric/run_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using sample::Count;
using sample::Origin;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

// `events` are what the inputs of the metrics call the events of the run, in its order.
Request request_of(const std::string& text, const std::vector<std::string>& names,
                   const std::vector<std::string>& events) {
  Library library;
  library.add(read_loft("test.metrics", text), Tier::command);
  Request request;
  request.programs = compile_all(library, names, everything_is_available).value();
  for (const Program& program : request.programs) {
    std::vector<Operand> operands;
    for (const std::string& name : program.inputs()) {
      Operand operand;
      operand.is_time = name == "time";
      for (std::size_t i = 0; i < events.size(); ++i)
        if (events[i] == name) operand.events.push_back(i);
      operands.push_back(std::move(operand));
    }
    request.operands.push_back(std::move(operands));
  }
  return request;
}

constexpr const char* kRates =
    "metric IPC = instructions / cycles\n"
    "metric rate = instructions / time\n"
    "event time [s]\n";

const std::vector<std::string> kOperands{"instructions", "cycles"};

sample::RunCounts example() {
  sample::RunCounts run;
  run.wall = milliseconds(2000);
  run.events = {{"instructions:u", "kernel", "", 1, false, Count::exact(4000)},
                {"cycles:u", "kernel", "", 1, false, Count::exact(2000)}};
  run.threads = {{1, 1, "main", {Count::exact(3000), Count::exact(1000)}},
                 {1, 2, "idle", {Count::exact(1000), Count::missing("never ran")}}};
  run.intervals = {{milliseconds(0), milliseconds(500), {Count::exact(600), Count::exact(400)}}};
  return run;
}

TEST(RunMetrics, AreThoseOfEachThreadAndInterval) {
  const Request request = request_of(kRates, {"IPC", "rate"}, kOperands);
  const RunMetrics metrics = evaluate_run(request, example());
  EXPECT_DOUBLE_EQ(*metrics.total[0].in_unit(), 2);
  EXPECT_DOUBLE_EQ(*metrics.total[1].in_unit(), 2000);
  ASSERT_EQ(metrics.threads.size(), 2u);
  EXPECT_DOUBLE_EQ(metrics.threads[0][0].number->as_double(), 3);
  EXPECT_FALSE(metrics.threads[1][0].number) << "an unknown operand gives no value";
  EXPECT_THAT(metrics.threads[1][0].why, HasSubstr("never ran"));
  ASSERT_EQ(metrics.intervals.size(), 1u);
  EXPECT_DOUBLE_EQ(metrics.intervals[0][0].number->as_double(), 1.5);
  EXPECT_DOUBLE_EQ(metrics.intervals[0][1].number->as_double(), 1200) << "by the interval's time";
}

TEST(RunMetrics, NoRateFollowsFromTheTimeOfTheVirtualPmu) {
  sample::RunCounts run = example();
  run.source = sample::Source::virtual_pmu;
  const RunMetrics metrics = evaluate_run(request_of(kRates, {"IPC", "rate"}, kOperands), run);
  EXPECT_TRUE(metrics.total[0].in_unit());
  EXPECT_FALSE(metrics.total[1].in_unit());
  EXPECT_THAT(metrics.total[1].value.why, HasSubstr("engine's"));
  EXPECT_FALSE(metrics.intervals[0][1].number);
}

// `shares` of each interval in which the event was counted.
sample::RunCounts multiplexed(const std::vector<std::uint64_t>& counts) {
  sample::RunCounts run;
  run.wall = milliseconds(10 * static_cast<int>(counts.size()));
  run.events = {{"cycles", "kernel", "", 1, false, {}}, {"exact", "kernel", "", 1, false, {}}};
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    sum += count;
    run.intervals.push_back(
        {{},
         milliseconds(10),
         {Count::of_reading(count, milliseconds(10), milliseconds(5)), Count::exact(7)}});
  }
  const auto n = static_cast<int>(counts.size());
  run.events[0].total = Count::of_reading(sum, milliseconds(10 * n), milliseconds(5 * n));
  run.events[1].total = Count::exact(70);
  return run;
}

TEST(Uncertain, AreEstimatesWiderThanTheTargetOrOfUnknownWidth) {
  const Request request = request_of("metric twice = 2 * cycles\nmetric sure = exact\n",
                                     {"twice", "sure"}, {"cycles", "exact"});
  const auto steady = multiplexed({1000, 1001, 1000, 999, 1000, 1001, 1000, 999});
  const RunMetrics of_steady = evaluate_run(request, steady);
  ASSERT_TRUE(of_steady.events[0]);
  EXPECT_LT(of_steady.events[0]->low, steady.events[0].value());
  EXPECT_FALSE(of_steady.events[1]) << "what was counted in full is not off";
  EXPECT_TRUE(uncertain(steady, of_steady, 0.01).empty());
  const auto wild = multiplexed({1000, 10, 3000, 20, 1500, 10, 2500, 40});
  EXPECT_THAT(uncertain(wild, evaluate_run(request, wild), 0.01), ElementsAre("twice", "cycles"));
  const auto brief = multiplexed({1000, 1000});
  EXPECT_THAT(uncertain(brief, evaluate_run(request, brief), 0.01), ElementsAre("twice", "cycles"))
      << "two windows say nothing";
}

// Channels of a memory controller, or kinds of cores: one name, one quantity.
TEST(RunMetrics, AnOperandOfSeveralEventsIsTheirSum) {
  const Request request = request_of("metric m = reads * 64\n", {"m"}, {"reads", "reads"});
  sample::RunCounts run;
  run.events = {{"imc_0/reads/", "sysfs", "", 1, false, Count::exact(3)},
                {"imc_1/reads/", "sysfs", "", 1, false, Count::exact(4)}};
  EXPECT_DOUBLE_EQ(*evaluate_run(request, run).total[0].in_unit(), 448);
  run.events[1].total = Count::missing("no permission");
  const RunMetrics metrics = evaluate_run(request, run);
  EXPECT_FALSE(metrics.total[0].in_unit()) << "a sum that lacks a part would be wrong";
  EXPECT_THAT(metrics.total[0].value.why, HasSubstr("no permission"));
}

}  // namespace
}  // namespace loft::metric
