#include "model/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::model {
namespace {

using core::Cause;
using testing::HasSubstr;

// 10,000 instructions in 40,000 cycles, whatever is taken away.
TimedPart part_of(std::vector<std::pair<Cause, double>> without = {}) {
  TimedPart part;
  part.instructions = 10000;
  part.cycles = part.nearest = part.farthest = 40000;
  part.without.fill(40000);
  part.met.lines_l2 = part.met.lines_l3 = part.met.lines_dram = 1000;
  for (const auto& [cause, cycles] : without)
    part.without[static_cast<std::size_t>(cause)] = cycles;
  return part;
}

constexpr MeasuredPart kAsModelled{4.0};

TEST(Verdict, NamesTheCauseWhoseRemovalGainsMost) {
  const Why why = judge(part_of({{Cause::fp_latency, 10000}, {Cause::width, 36000}}), kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::limited);
  EXPECT_EQ(why.limit, Cause::fp_latency);
  EXPECT_EQ(why.gain, 4.0);
  EXPECT_EQ(why.second, std::nullopt);
  EXPECT_EQ(id_of(why), "fp_latency");
  ASSERT_EQ(why.what_if.size(), 2u);
  EXPECT_EQ(why.what_if[1].first, Cause::width);
  EXPECT_THAT(why.evidence, HasSubstr("model 4, measured 4 cycles"));
}

// Half of the time is bandwidth of memory, a tenth its latency; without memory a tenth is left.
TEST(Verdict, ALevelGainsWhatItTakesToHaveItsDataNear) {
  TimedPart part = part_of({{Cause::dram_bandwidth, 20000}, {Cause::dram_latency, 36000}});
  part.near = {40000, 40000, 4000};
  const Why why = judge(part, kAsModelled);
  EXPECT_EQ(why.limit, Cause::dram_bandwidth);
  EXPECT_EQ(why.gain, 10.0);
  ASSERT_EQ(why.what_if.size(), 2u);
  EXPECT_NEAR(why.what_if[1].second, 40 / 36.0, 1e-9) << "latency alone";
}

TEST(Verdict, ScalesAllSumsOfAPart) {
  TimedPart part = part_of({{Cause::tlb, 10000}});
  part.near = {40000, 40000, 30000};
  part.met.walks = 50;
  part.issue_cycles = 2000;
  const TimedPart twice = part.scaled_by(2);
  EXPECT_EQ(twice.instructions, 20000);
  EXPECT_EQ(twice.cycles, 80000);
  EXPECT_EQ(twice.without[static_cast<std::size_t>(Cause::tlb)], 20000);
  EXPECT_EQ(twice.near[2], 60000);
  EXPECT_EQ(twice.nearest, 80000);
  EXPECT_EQ(twice.issue_cycles, 4000);
  EXPECT_EQ(twice.met.walks, 100);
}

// One line from memory in ten thousand instructions is not what it waits for.
TEST(Verdict, AbstainsWhereTheDataOfOthersAreWaitedFor) {
  TimedPart part = part_of({{Cause::dram_latency, 10000}});
  part.met.lines_dram = 1;
  const Why why = judge(part, kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::unclear);
  EXPECT_THAT(why.evidence, HasSubstr("waits for DRAM of functions around it"));
}

TEST(Verdict, GivesTheFactThatSpeaksForIt) {
  TimedPart part = part_of({{Cause::dram_latency, 10000}});
  part.met.from_dram = 7270;
  EXPECT_THAT(judge(part, kAsModelled).evidence, HasSubstr("727 loads from DRAM per 1000"));
}

TEST(Verdict, AFrontEndWithoutMissesIsHeldBackByBranchesOrLinesOfCode) {
  TimedPart part = part_of({{Cause::front_end, 20000}});
  part.met.branches = 2000;
  part.met.fetch_misses = 1;
  EXPECT_THAT(judge(part, kAsModelled).evidence,
              HasSubstr("200 branches per 1000 instructions, no instruction cache misses"));
  part.met.fetch_misses = 100;
  EXPECT_THAT(judge(part, kAsModelled).evidence, HasSubstr("10 instruction cache misses per 1000"));
}

TEST(Verdict, NamesASecondCauseThatGainsNearlyAsMuch) {
  const Why why = judge(part_of({{Cause::fp_latency, 20000}, {Cause::tlb, 24000}}), kAsModelled);
  EXPECT_EQ(why.limit, Cause::fp_latency);
  EXPECT_EQ(why.second, Cause::tlb);
  EXPECT_EQ(why.gain, 2.0);
  EXPECT_FALSE(why.gain_is_of_both) << "it is that of the first alone";
}

TEST(Verdict, PromisesNothingWhereTheModelDoesNotExplainTheTime) {
  for (const double measured : {6.0, 3.0}) {
    const Why why = judge(part_of({{Cause::fp_latency, 10000}}), {measured});
    EXPECT_EQ(why.outcome, Outcome::unexplained);
    EXPECT_EQ(why.limit, std::nullopt);
    EXPECT_EQ(why.gain, std::nullopt);
    EXPECT_EQ(id_of(why), "unknown");
  }
  EXPECT_THAT(judge(part_of(), {8.0}).evidence, HasSubstr("explains 50 % of the time"));
}

TEST(Verdict, IsBalancedWhereNothingGains) {
  const Why why = judge(part_of({{Cause::width, 38000}}), kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::balanced);
  EXPECT_EQ(id_of(why), "balanced");
}

TEST(Verdict, NamesBothLimitsThatCoincide) {
  TimedPart part = part_of();
  part.pairs = {{Cause::width, Cause::fp_ports, 20000}, {Cause::width, Cause::tlb, 39000}};
  const Why why = judge(part, kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::limited);
  EXPECT_EQ(why.limit, Cause::width);
  EXPECT_EQ(why.second, Cause::fp_ports);
  EXPECT_TRUE(why.gain_is_of_both);
  EXPECT_EQ(why.gain, 2.0);
}

TEST(Verdict, AbstainsWhenAParameterDecides) {
  TimedPart part = part_of({{Cause::l3_latency, 20000}});
  TimedPart::Changed changed{"walk_latency", 50000, {}};
  changed.without.fill(50000);
  changed.without[static_cast<std::size_t>(Cause::tlb)] = 20000;
  changed.without[static_cast<std::size_t>(Cause::l3_latency)] = 40000;
  part.changed = {changed};
  const Why why = judge(part, kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::unclear);
  EXPECT_EQ(why.limit, std::nullopt);
  EXPECT_THAT(why.evidence, HasSubstr("walk_latency"));
}

TEST(Verdict, StaysWhenAParameterOnlyMovesTheGain) {
  TimedPart part = part_of({{Cause::l3_latency, 20000}});
  TimedPart::Changed changed{"l3_latency", 50000, {}};
  changed.without.fill(50000);
  changed.without[static_cast<std::size_t>(Cause::l3_latency)] = 20000;
  part.changed = {changed};
  EXPECT_EQ(judge(part, kAsModelled).limit, Cause::l3_latency);
}

TEST(Verdict, AbstainsWhereDataWereNotSeenInTheWarmUp) {
  TimedPart part = part_of({{Cause::dram_latency, 10000}});
  part.nearest = 30000;
  EXPECT_EQ(judge(part, {3.5}).outcome, Outcome::unclear);  // 4 and 3 cycles explain that
}

TEST(Verdict, TheMeasuredTimeDecidesWhereUnknownDataCameFrom) {
  TimedPart part = part_of({{Cause::dram_latency, 10000}});
  part.nearest = 5000;
  EXPECT_EQ(judge(part, kAsModelled).limit, Cause::dram_latency);
  EXPECT_EQ(judge(part, {0.5}).outcome, Outcome::unexplained);
}

TEST(Verdict, AbstainsWhereTheEventsHappenElsewhere) {
  TimedPart part = part_of({{Cause::mispredictions, 20000}});
  part.met.mispredicted = 1;
  const Why why = judge(part, kAsModelled);
  EXPECT_EQ(why.outcome, Outcome::unclear);
  EXPECT_EQ(why.limit, std::nullopt);
  EXPECT_THAT(why.evidence, HasSubstr("mispredictions of functions around it"));
  part.met.mispredicted = 500;
  EXPECT_EQ(judge(part, kAsModelled).limit, Cause::mispredictions);
}

TEST(Verdict, AbstainsWhereItsTimePassesBehindThatOfOthers) {
  TimedPart part = part_of({{Cause::width, 10000}});
  part.issue_cycles = 50000;
  EXPECT_EQ(judge(part, kAsModelled).outcome, Outcome::unclear);
  part.issue_cycles = 40000;
  EXPECT_EQ(judge(part, kAsModelled).limit, Cause::width);
}

TEST(Verdict, NeedsInstructionsAndTime) {
  TimedPart little = part_of({{Cause::fp_latency, 10000}});
  little.instructions = 10;
  EXPECT_EQ(judge(little, kAsModelled).outcome, Outcome::not_seen);
  EXPECT_EQ(id_of(judge(little, kAsModelled)), "");
  EXPECT_EQ(judge(part_of(), {}).outcome, Outcome::not_seen);
}

TEST(Verdict, TimeInTheKernelAndOnNoCpuGainWhatTheyTake) {
  EXPECT_EQ(judge_system(0.75).gain, 4.0);
  EXPECT_EQ(id_of(judge_system(0.75)), "system");
  EXPECT_EQ(judge_waiting(0.5).gain, 2.0);
  EXPECT_EQ(id_of(judge_waiting(0.5)), "waiting");
}

TEST(Verdict, PartsAddUp) {
  TimedPart sum = part_of({{Cause::tlb, 30000}});
  sum.met.walks = 3;
  sum += sum;
  EXPECT_EQ(sum.instructions, 20000);
  EXPECT_EQ(sum.cycles, 80000);
  EXPECT_EQ(sum.without[static_cast<std::size_t>(Cause::tlb)], 60000);
  EXPECT_EQ(sum.met.walks, 6);
}

TEST(Verdict, TooFewUnitsComeBeforeAChainThatGainsTheSame) {
  const Why why =
      judge(part_of({{Cause::int_latency, 30000}, {Cause::int_ports, 30100}}), kAsModelled);
  EXPECT_EQ(why.limit, Cause::int_ports);
  EXPECT_EQ(why.second, Cause::int_latency);
  const Why chain =
      judge(part_of({{Cause::int_latency, 20000}, {Cause::int_ports, 30000}}), kAsModelled);
  EXPECT_EQ(chain.limit, Cause::int_latency);
}

TEST(Verdict, PrefetchedLinesSpeakForABandwidth) {
  TimedPart part = part_of({{Cause::dram_bandwidth, 10000}});
  part.met.lines_dram = 2500;
  EXPECT_THAT(judge(part, kAsModelled).evidence, HasSubstr("250 lines from DRAM per 1000"));
}

}  // namespace
}  // namespace loft::model
