#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "source/virtual/ratio_estimate.hpp"
#include "source/virtual/sampled_counts.hpp"

namespace loft::source::virtual_pmu {
namespace {

// A run of a million instructions whose rate of events drifts and jumps, seen in some windows.
struct Drifting {
  explicit Drifting(std::uint32_t seed) : random(seed) {
    double rate = 0.02;
    for (int i = 0; i < 1000; ++i) {
      if (i % 100 == 0) rate = 0.01 + 0.03 * uniform();
      events.push_back(std::floor(1000 * rate * (0.5 + uniform())));
    }
    for (const double each : events) truth += each;
  }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random); }
  std::vector<WindowPart> windows(std::size_t count) {
    std::vector<WindowPart> seen;
    for (std::size_t i = 0; i < count; ++i) {
      const double each = events[random() % events.size()];
      seen.push_back({1e6 / 1000 / static_cast<double>(count), 1000, each, each});
    }
    return seen;
  }
  std::mt19937 random;
  std::vector<double> events;
  double truth = 0;
};

TEST(RatioEstimate, CoversTheTruthAsOftenAsItSays) {
  for (const std::size_t windows : {5u, 20u, 60u}) {
    int covered = 0;
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
      Drifting run(seed);
      const auto guess = estimate(run.windows(windows), 1e6);
      ASSERT_TRUE(guess);
      covered += guess->low <= run.truth && run.truth <= guess->high;
    }
    EXPECT_GE(covered, 360) << windows;
    EXPECT_LE(covered, 394) << windows;
  }
}

TEST(RatioEstimate, WeighsWindowsByWhatTheyStandFor) {
  // Two thirds of the run have no event, and are seen as often as the rest.
  const std::vector<WindowPart> seen{{200, 100, 0, 0},   {200, 100, 0, 0},   {200, 100, 0, 0},
                                     {100, 100, 50, 50}, {100, 100, 50, 50}, {100, 100, 50, 50}};
  EXPECT_NEAR(estimate(seen, 90'000)->surely, 15'000, 1);
}

TEST(RatioEstimate, SaysThatNothingSeenMayBeSomething) {
  const std::vector<WindowPart> seen(10, {100, 1000, 0, 0});
  const auto guess = estimate(seen, 1e6);
  EXPECT_EQ(guess->low, 0);
  EXPECT_GT(guess->high, 100);
}

TEST(RatioEstimate, CountsLinesWhereBytesAreLines) {
  const std::vector<WindowPart> seen(10, {100, 1000, 0, 0});
  EXPECT_NEAR(estimate(seen, 1e6, 64)->high, 64 * estimate(seen, 1e6)->high, 1);
}

TEST(RatioEstimate, NeedsFourWindows) {
  const std::vector<WindowPart> seen(4, {100, 1000, 5, 5});
  EXPECT_TRUE(estimate(seen, 1e6));
  EXPECT_FALSE(estimate(std::span(seen).first(3), 1e6));
}

ModelWindow window(std::uint64_t position, bool is_start,
                   std::initializer_list<ModelWindow::Row> rows) {
  ModelWindow made{.position = position, .is_start = is_start, .rows = rows};
  for (const auto& row : made.rows) made.instructions += row.instructions;
  return made;
}

// Block 1 is of part 1, block 2 of part 2.
std::uint32_t part_of(std::uint32_t block) { return block; }

TEST(SampledCounts, TakeTheProgramsStartAsItIs) {
  const SampledCounts counts({window(0, true, {{0, 1, 1000, {7, 7}}})}, part_of, {{0, 1, 1000}});
  const sample::Count count = counts.of({}, 0);
  EXPECT_EQ(count.raw, 7u);
  EXPECT_EQ(count.origin, sample::Origin::modelled);
  EXPECT_FALSE(count.range);
}

TEST(SampledCounts, BoundTheFewInstructionsBehindTheStart) {
  const SampledCounts counts({window(0, true, {{0, 1, 1000, {70, 70}}})}, part_of, {{0, 1, 1005}});
  const sample::Count count = counts.of({}, 0);
  EXPECT_EQ(count.raw, 70u);
  EXPECT_EQ(count.range.value().high, 80);
}

TEST(SampledCounts, ScaleEachPartByWhatItExecuted) {
  std::vector<ModelWindow> windows{window(0, true, {{0, 1, 1000, {50, 50}}})};
  for (std::uint64_t i = 1; i <= 10; ++i)
    windows.push_back(window(i * 10'000, false, {{0, 1, 500, {5, 5}}, {0, 2, 500, {100, 100}}}));
  const SampledCounts counts(windows, part_of, {{0, 1, 61'000}, {0, 2, 40'000}, {0, 3, 10}});
  EXPECT_NEAR(counts.of({.slot = {}, .part = 1}, 0).value(), 50 + 600, 1);
  EXPECT_NEAR(counts.of({.slot = {}, .part = 2}, 0).value(), 8000, 1);
  EXPECT_TRUE(counts.of({.slot = {}, .part = 2}, 0).range);
  const sample::Count unseen = counts.of({.slot = {}, .part = 3}, 0);
  EXPECT_FALSE(unseen.is_available());
  EXPECT_THAT(unseen.why, testing::HasSubstr("0 of 11 windows"));
}

TEST(SampledCounts, LeaveOutWhatDependsOnUnseenLines) {
  std::vector<ModelWindow> windows;
  for (std::uint64_t i = 1; i <= 10; ++i)
    windows.push_back(window(i * 10'000, false, {{0, 1, 1000, {100, 105, 100, 200}}}));
  const SampledCounts counts(windows, part_of, {{0, 1, 100'000}});
  const sample::Count known = counts.of({}, 0);
  EXPECT_NEAR(known.value(), 10'000, 1);
  EXPECT_GE(known.range.value().high, 10'500);
  EXPECT_NEAR(known.range.value().unknown, 0.05, 0.005);
  const sample::Count unknown = counts.of({}, 1);
  EXPECT_FALSE(unknown.is_available());
  EXPECT_THAT(unknown.why, testing::HasSubstr("50 % depends on lines"));
}

}  // namespace
}  // namespace loft::source::virtual_pmu
