#include "sample/turn_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace loft::sample {
namespace {

constexpr std::uint64_t kTurn = 10'000'000;

TEST(TurnError, AnEvenRateHasNoError) {
  TurnError error;
  for (int i = 1; i <= 20; ++i) error.add(3.0 * i, 100.0 * i, kTurn);
  ASSERT_TRUE(error.half_of_interval(0.5));
  EXPECT_NEAR(*error.half_of_interval(0.5), 0, 1e-6);
}

TEST(TurnError, IsThatOfARatioOfTurns) {
  TurnError error;
  for (int i = 0; i < 10; ++i) error.add(i % 2 == 0 ? 8 : 12, 100, kTurn);
  // Ten turns of 10 on average, 2 off each; t for nine degrees of freedom is 2.262.
  const double deviation = std::sqrt(4.0 * 10 / 9);
  EXPECT_NEAR(*error.half_of_interval(0), 2.262 * deviation / 10 / std::sqrt(10.0), 1e-9);
  EXPECT_NEAR(*error.half_of_interval(0.75), 0.5 * *error.half_of_interval(0), 1e-9);
  EXPECT_EQ(*error.half_of_interval(1), 0) << "all of it was counted";
}

TEST(TurnError, FewTurnsOrNoCountTellNothing) {
  TurnError few;
  for (int i = 0; i < 4; ++i) few.add(5, 100, kTurn);
  EXPECT_FALSE(few.half_of_interval(0.5));
  TurnError none;
  for (int i = 0; i < 40; ++i) none.add(0, 100, kTurn);
  EXPECT_FALSE(none.half_of_interval(0.5));
}

// A turn that is told in many slices is still one look at the program.
TEST(TurnError, SlicesOfATurnAreNoTurnsOfTheirOwn) {
  TurnError whole;
  TurnError pieces;
  for (int i = 0; i < 10; ++i) {
    const double count = i % 2 == 0 ? 80 : 120;
    whole.add(count, 100, kTurn);
    for (int k = 0; k < 10; ++k) pieces.add(count / 10, 10, kTurn / 10);
  }
  EXPECT_NEAR(*whole.half_of_interval(0.5), *pieces.half_of_interval(0.5), 1e-9);
}

// A program of 400 turns whose rate changes at random, every second one of them seen.
TEST(TurnError, HoldsTheTruthInNineteenOfTwentyCases) {
  std::mt19937 chance(1);
  std::lognormal_distribution<double> rate(0, 0.5);
  std::bernoulli_distribution is_seen(0.5);
  int held = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    TurnError error;
    double all = 0;
    double seen = 0;
    int turns = 0;
    for (int i = 0; i < 400; ++i) {
      const double count = rate(chance);
      all += count;
      if (!is_seen(chance)) continue;
      seen += count;
      ++turns;
      error.add(count, 1, kTurn);
    }
    const double estimate = seen * 400 / turns;
    held += std::abs(estimate - all) <= *error.half_of_interval(turns / 400.0) * estimate ? 1 : 0;
  }
  EXPECT_NEAR(held, 0.95 * kRuns, 0.02 * kRuns);
}

}  // namespace
}  // namespace loft::sample
