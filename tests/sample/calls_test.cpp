#include "sample/calls.hpp"
#include "sample/call_join.hpp"

#include <gtest/gtest.h>

#include "sample/call_request.hpp"

namespace loft::sample {
namespace {

static_assert(log_linear_step(0) == 0 && log_linear_step(7) == 7 && log_linear_step(8) == 8);
static_assert(log_linear_step(15) == 15 && log_linear_step(16) == 16 && log_linear_step(17) == 16);
static_assert(log_linear_step(~std::uint64_t{0}) == kLogLinearSteps - 1);
static_assert(log_linear_low(16) == 16 && log_linear_high(16) == 17 && log_linear_low(24) == 32);

TEST(LogLinear, NoStepIsWiderThanAnEighthOfItsValues) {
  for (std::uint32_t step = 8; step < kLogLinearSteps; ++step) {
    const std::uint64_t low = log_linear_low(step);
    EXPECT_EQ(log_linear_step(low), step);
    EXPECT_EQ(log_linear_step(log_linear_high(step)), step);
    EXPECT_LT(log_linear_high(step) - low, low / 8 + 1) << step;
  }
}

TEST(CallHistogram, AnswersWithTheStepOfARank) {
  CallHistogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
  EXPECT_EQ(histogram.total(), 100u);
  EXPECT_EQ(histogram.step_at(0), log_linear_step(1));
  EXPECT_EQ(histogram.step_at(0.5), log_linear_step(50));
  EXPECT_EQ(histogram.step_at(0.99), log_linear_step(99));
  EXPECT_EQ(histogram.step_at(1), log_linear_step(100));
  EXPECT_EQ(CallHistogram(histogram.counts()), histogram);
}

TEST(CallHistogram, TakesNoMoreStepsThanThereAre) {
  const std::vector<std::uint64_t> counts(kLogLinearSteps + 10, 1);
  EXPECT_EQ(CallHistogram(counts).total(), kLogLinearSteps);
}

TEST(CallDistribution, PercentilesStayBetweenTheSmallestAndTheLargestCall) {
  CallDistribution distribution;
  distribution.add(1001, 1001, true);
  EXPECT_EQ(distribution.percentile(0.5), 1001);
  distribution.add(9, 9, true);
  EXPECT_EQ(distribution.percentile(0.5), 9);
  EXPECT_EQ(distribution.percentile(0.99), (log_linear_low(log_linear_step(1001)) + 1001) / 2.0);
}

// main(100, of which f 60); f calls itself (20); f again (7), by longjmp; g had not ended (3).
CallRun small_run() {
  CallRun run;
  run.quantities = {{.name = "time", .unit = "ns", .scale = 0.5}};
  for (const char* name : {"main", "f", "g"}) run.functions.emplace_back().name = name;
  run.threads = {{1, 1, "a"}};
  run.calls = {{1, 0, 20, 20, 2, 1, kRecursive},
               {1, 0, 10, 60, 1, 0, 0},
               {1, 0, 80, 7, 1, 0, kEndedEarly},
               {2, 0, 90, 3, 1, 0, kOpen},
               {0, 0, 0, 100, 0, kNoFunction, 0}};
  run.values = {{20, 20}, {60, 40}, {7, 7}, {3, 3}, {100, 30}};
  run.nodes = {{kNoCallNode, 0, 1}, {0, 1, 2}, {1, 1, 1}, {0, 2, 0}};
  run.node_values = {{100, 30}, {67, 47}, {20, 20}, {3, 3}};
  return run;
}

TEST(Calls, StatisticsFromKeptCallsCountARecursionOnce) {
  const auto statistics = recompute(small_run());
  EXPECT_EQ(statistics[1].calls, 3u);
  EXPECT_EQ(statistics[1].ended_early, 1u);
  EXPECT_EQ(statistics[1].of[0].total, 67u) << "60 and 7; the 20 are in the 60";
  EXPECT_EQ(statistics[1].of[0].sum, 87u);
  EXPECT_EQ(statistics[1].of[0].self, 67u);
  EXPECT_EQ(statistics[1].of[0].min, 7u);
  EXPECT_EQ(statistics[1].of[0].max, 60u);
  EXPECT_EQ(statistics[1].of[0].histogram.total(), 3u);
  std::uint64_t selfs = 0;
  for (const auto& of_one : statistics) selfs += of_one.of[0].self;
  EXPECT_EQ(selfs, 100u) << "selfs add up to the outermost call";
}

TEST(Calls, AnOpenCallIsNoEndedOne) {
  const auto statistics = recompute(small_run());
  EXPECT_EQ(statistics[2].calls, 0u);
  EXPECT_EQ(statistics[2].open, 1u);
  EXPECT_EQ(statistics[2].of[0].total, 3u);
  EXPECT_TRUE(statistics[2].of[0].histogram.is_empty());
}

TEST(Calls, CallersAreThePairsOfTheTree) {
  const auto edges = callers(small_run());
  ASSERT_EQ(edges.size(), 4u);
  EXPECT_EQ(edges[0].caller, 0u);
  EXPECT_EQ(edges[0].callee, 1u);
  EXPECT_EQ(edges[0].calls, 2u);
  EXPECT_EQ(edges[0].values[0], (CallValue{67, 47}));
}

TEST(Calls, TheSlowestComeFirst) {
  EXPECT_EQ(slowest(small_run(), 0, 3), (std::vector<std::size_t>{4, 1, 0}));
  EXPECT_EQ(slowest(small_run(), 0, 99).size(), 5u);
}

TEST(Calls, TicksBecomeTimes) {
  const CallClock clock{0.5, 1000, Nanoseconds(7)};
  EXPECT_EQ(clock.time_of(1100), Nanoseconds(57));
  EXPECT_EQ(clock.time_of(990), Nanoseconds(2));
}

// The same functions in a second run: f was called once more, which its counts are of; h could be
// watched in that run alone. The calls of the thread end in another order than in the first.
CallRun second_run() {
  CallRun run = small_run();
  run.quantities = {{.name = "instructions", .unit = "instructions", .scale = 1},
                    {.name = "time", .unit = "ns", .scale = 1, .is_time = true}};
  run.functions.emplace_back().name = "h";
  run.statistics.resize(4);
  for (std::size_t i = 0; i < 4; ++i) {
    run.statistics[i].calls = i == 1 ? 4 : 1;
    run.statistics[i].of.resize(2);
    run.statistics[i].of[0].calls = run.statistics[i].calls;
    run.statistics[i].of[0].sum = 1000 * (i + 1);
  }
  run.nodes = {{kNoCallNode, 0, 1}, {0, 3, 1}};
  run.node_values = {{500, 100}, {9, 9}, {400, 400}, {9, 9}};
  run.has_all_calls = true;
  run.values.clear();
  for (std::uint64_t i = 0; i < run.calls.size(); ++i) {
    run.values.push_back({100 + i, i});
    run.values.push_back({9, 9});
  }
  return run;
}

TEST(Calls, TimesOfOneRunAreJoinedWithCountsOfAnother) {
  CallRun timed = small_run();
  timed.quantities[0].is_time = true;
  timed.statistics = recompute(timed);
  timed.has_all_calls = true;
  const CallRun joined = join_counts(timed, second_run());
  ASSERT_EQ(joined.quantities.size(), 2u) << "the time of the second run is nobody's";
  EXPECT_EQ(joined.quantities[1].name, "instructions");
  EXPECT_EQ(joined.statistics[1].calls, 3u);
  EXPECT_EQ(joined.statistics[1].of[1].calls, 4u) << "of that run";
  EXPECT_EQ(joined.statistics[1].of[1].sum, 2000u);
  EXPECT_EQ(joined.statistics[3].calls, 1u);
  EXPECT_FALSE(joined.statistics[3].is_known(0)) << "its time is";
  EXPECT_TRUE(joined.statistics[3].is_known(1));
  // Both trees: main, with h in the second alone.
  ASSERT_EQ(joined.nodes.size(), 5u);
  EXPECT_EQ(joined.nodes[4].parent, 0u);
  EXPECT_EQ(joined.nodes[4].function, 3u);
  EXPECT_EQ(joined.values_of_node(0)[1], (CallValue{500, 100}));
  EXPECT_EQ(joined.values_of_node(1)[1], CallValue{});
  EXPECT_EQ(joined.values_of(0)[0], (CallValue{20, 20}));
  EXPECT_EQ(joined.values_of(0)[1], (CallValue{100, 0}));
  EXPECT_EQ(joined.values_of(3)[1], kUnknownValue) << "it was open";
}

TEST(Calls, CountsOfSingleCallsAreUnknownWhereThreadsCallInAnotherOrder) {
  CallRun timed = small_run();
  timed.statistics = recompute(timed);
  timed.has_all_calls = true;
  CallRun other = second_run();
  std::swap(other.calls[0], other.calls[4]);
  const CallRun joined = join_counts(timed, other);
  for (std::size_t i = 0; i < joined.calls.size(); ++i)
    EXPECT_EQ(joined.values_of(i)[1], kUnknownValue);
  EXPECT_FALSE(joined.notes.empty());
}

TEST(CallRequest, PatternsAreOnNamesAndBinaries) {
  CallRequest request{.patterns = {"solve*", "operator[]"}, .dso = "libm.so*", .events = {}};
  EXPECT_TRUE(is_chosen(request, "solve_all", "/lib/libm.so.6"));
  EXPECT_TRUE(is_chosen(request, "operator[]", "libm.so.6"));
  EXPECT_FALSE(is_chosen(request, "resolve", "/lib/libm.so.6"));
  EXPECT_FALSE(is_chosen(request, "solve", "/lib/libc.so.6"));
}

}  // namespace
}  // namespace loft::sample
