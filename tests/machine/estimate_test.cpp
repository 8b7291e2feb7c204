#include "machine/estimate.hpp"

#include <gtest/gtest.h>

namespace loft::machine {
namespace {

using model::Verdict;

TEST(Estimate, TakesTheBestAndNotTheMean) {
  Estimate estimate;
  for (const double rate : {50.0, 99.0, 100.0, 20.0}) estimate.add(rate, false, 0);
  EXPECT_EQ(estimate.best(), 100);
  EXPECT_EQ(estimate.median(), 74.5);
}

TEST(Estimate, LeavesDisturbedWindowsOutOfTheMedian) {
  Estimate estimate;
  for (const double rate : {98.0, 99.0, 100.0}) estimate.add(rate, false, 0);
  for (int i = 0; i < 10; ++i) estimate.add(10, true, 0);
  EXPECT_EQ(estimate.median(), 99);
  EXPECT_EQ(estimate.windows(), 13);
  EXPECT_EQ(estimate.disturbed(), 10);
}

TEST(Estimate, CallsABestStableOnlyWhenOtherRoundsReachIt) {
  Estimate once;
  once.add(100, false, 0);
  once.add(100, false, 0);
  once.add(100, false, 0);
  EXPECT_EQ(once.verdict(0.005), Verdict::noisy) << "three windows of one round prove nothing";
  Estimate again;
  for (int round = 0; round < 3; ++round) again.add(100 - 0.1 * round, false, round);
  EXPECT_EQ(again.verdict(0.005), Verdict::stable);
  EXPECT_EQ(again.verdict(0.0005), Verdict::noisy);
}

TEST(Estimate, OfOneRoundSpreadsAsItsWindowsDo) {
  Estimate estimate;
  for (const double rate : {100.0, 80.0, 90.0}) estimate.add(rate, false, 0);
  EXPECT_NEAR(estimate.spread(), 0.10, 1e-12);
}

TEST(Estimate, WithoutWindowsIsUnavailable) {
  EXPECT_EQ(Estimate().verdict(0.005), Verdict::unavailable);
  EXPECT_EQ(Estimate().spread(), 0);
}

TEST(Estimate, SpreadIsTheDistanceOfTheTypicalRoundFromTheBest) {
  Estimate estimate;
  estimate.add(100, false, 0);
  estimate.add(90, false, 1);
  estimate.add(80, false, 2);
  EXPECT_NEAR(estimate.spread(), 0.10, 1e-12);
}

}  // namespace
}  // namespace loft::machine
