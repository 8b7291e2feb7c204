// Curves that were made up, as machines of known sizes would give them.
#include "machine/core_estimates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace loft::machine {
namespace {

// Two misses of 400 cycles that overlap as long as at most `window` operations lie between.
std::vector<CostPoint> spaced_misses(double window) {
  std::vector<CostPoint> curve;
  for (double fillers = 32; fillers <= 768; fillers += 32)
    curve.push_back({fillers, (fillers <= window ? 400 : 800) + fillers / 6});
  return curve;
}

TEST(StepOf, FindsTheWindowThatMissesShare) {
  for (const double window : {96.0, 224.0, 512.0}) {
    const auto found = step_of(spaced_misses(window));
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->count, window, 32);
    EXPECT_NEAR(found->uncertainty * found->count, 16, 1e-9) << "half of the way between points";
  }
}

TEST(StepOf, StandsUpToPointsThatNoiseLifted) {
  auto curve = spaced_misses(256);
  curve[1].cycles = 1000;
  curve[4].cycles = 780;
  EXPECT_NEAR(step_of(curve)->count, 256, 32);
}

TEST(StepOf, IsNothingWithoutAStep) {
  EXPECT_FALSE(step_of({}));
  EXPECT_FALSE(step_of(spaced_misses(10000))) << "all overlap";
  EXPECT_FALSE(step_of(spaced_misses(0))) << "none does";
  EXPECT_FALSE(step_of({{1, 0}, {2, 0}, {3, 0}}));
}

// Misses of 300 cycles, of which `buffers` may be under way.
std::vector<CostPoint> side_by_side(double buffers) {
  std::vector<CostPoint> curve;
  for (const double count : {2.0, 4.0, 8.0, 16.0, 32.0})
    curve.push_back({count, 300 / std::min(count, buffers)});
  return curve;
}

TEST(InFlight, FindsTheNumberOfBuffers) {
  EXPECT_NEAR(*in_flight(300, side_by_side(12)), 12, 1e-9);
  EXPECT_NEAR(*in_flight(300, side_by_side(1)), 1, 1e-9);
}

TEST(InFlight, IsNeverMoreThanThereWereChases) {
  EXPECT_NEAR(*in_flight(900, side_by_side(100)), 32, 1e-9) << "a latency that noise lifted";
  EXPECT_FALSE(in_flight(300, {}));
  EXPECT_FALSE(in_flight(0, side_by_side(4)));
}

std::vector<CostPoint> pages(double first, double second, double miss, double walk) {
  std::vector<CostPoint> curve;
  for (double count = 16; count <= 8192; count *= 1.25)
    curve.push_back({count, count <= first ? 0.5 : count <= second ? miss : walk});
  return curve;
}

TEST(TlbEntries, AreWhereTheCostRises) {
  const TlbEntries entries = tlb_entries(pages(64, 2000, 8, 60));
  ASSERT_TRUE(entries.first);
  ASSERT_TRUE(entries.second);
  EXPECT_NEAR(*entries.first, 64, 16);
  EXPECT_NEAR(*entries.second, 2000, 500);
  EXPECT_DOUBLE_EQ(entries.second_cycles.value_or(0), 7.5);
}

TEST(TlbEntries, OfOneLevelHaveNoSecond) {
  const TlbEntries entries = tlb_entries(pages(128, 128, 40, 40));
  EXPECT_NEAR(entries.first.value_or(0), 128, 32);
  EXPECT_FALSE(entries.second);
}

TEST(TlbEntries, ThatShowNoStepAreNotTold) {
  EXPECT_FALSE(tlb_entries(pages(1e9, 1e9, 1, 1)).first) << "huge pages behind small ones";
  EXPECT_FALSE(tlb_entries({}).first);
}

TEST(CoreEstimates, APatternIsRememberedUpToHalfTheCostOfRandomBranches) {
  EXPECT_NEAR(*remembered(4, 12, {{1024, 4}, {4096, 6}, {16384, 10}}), 8192, 1);
  EXPECT_EQ(remembered(4, 12, {{1024, 4}, {4096, 5}}), 4096) << "at least";
  EXPECT_EQ(remembered(4, 12, {{1024, 11}, {4096, 12}}), 1024) << "at most";
  EXPECT_FALSE(remembered(4, 4, {{1024, 4}}));
  EXPECT_FALSE(remembered(4, 12, {}));
}

}  // namespace
}  // namespace loft::machine
