#include "sample/count.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

using std::chrono::nanoseconds;

TEST(Count, AnEventThatNeverRanIsMissingNotZero) {
  const Count count = Count::of_reading(0, nanoseconds(100), nanoseconds(0));
  EXPECT_EQ(count.origin, Origin::missing);
  EXPECT_FALSE(count.why.empty());
}

TEST(Count, AnEventThatWasNeverEnabledCountedNothing) {
  const Count count = Count::of_reading(0, nanoseconds(0), nanoseconds(0));
  EXPECT_EQ(count.origin, Origin::counted);
  EXPECT_EQ(count.value(), 0);
}

TEST(Count, APartialRunIsScaledAndSaysHowMuch) {
  const Count count = Count::of_reading(50, nanoseconds(100), nanoseconds(25));
  EXPECT_EQ(count.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(count.running_share(), 0.25);
  EXPECT_DOUBLE_EQ(count.value(), 200);
}

TEST(Count, AFullRunIsExact) {
  const Count count = Count::of_reading(50, nanoseconds(100), nanoseconds(100));
  EXPECT_EQ(count.origin, Origin::counted);
  EXPECT_EQ(count.raw, 50u);
}

TEST(Count, SumsOfExactPartsStayExact) {
  Count sum = Count::exact(0xFFFFFFFFFFFFFF00u);
  sum += Count::exact(0xFF);
  EXPECT_EQ(sum.raw, 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(sum.origin, Origin::counted);
}

TEST(Count, AMissingPartMakesTheSumMissing) {
  Count sum = Count::exact(5);
  sum += Count::missing("no PMU on cpu 3");
  EXPECT_EQ(sum.origin, Origin::missing);
  EXPECT_EQ(sum.why, "no PMU on cpu 3");
}

TEST(Count, APartThatNeverGotACounterIsExtrapolatedAndTheSumSaysSo) {
  const Count waited = Count::of_reading(0, nanoseconds(100), nanoseconds(0));
  Count sum = Count::of_reading(100, nanoseconds(100), nanoseconds(100));
  sum += waited;
  EXPECT_EQ(sum.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(sum.value(), 200);
  Count other_way = waited;
  other_way += Count::of_reading(100, nanoseconds(100), nanoseconds(100));
  EXPECT_DOUBLE_EQ(other_way.value(), 200);
  Count both = waited;
  both += waited;
  EXPECT_EQ(both.origin, Origin::missing);
}

TEST(Count, AScaledPartMakesTheSumScaledByItsOwnShare) {
  Count sum = Count::of_reading(50, nanoseconds(100), nanoseconds(25));  // ~200
  sum += Count::of_reading(100, nanoseconds(100), nanoseconds(100));     // 100
  EXPECT_EQ(sum.origin, Origin::scaled);
  EXPECT_NEAR(sum.value(), 300, 1);
}

TEST(Count, ADifferenceKeepsWhatRanInBetween) {
  const Count first = Count::of_reading(50, nanoseconds(100), nanoseconds(50));
  const Count second = Count::of_reading(50, nanoseconds(200), nanoseconds(50));
  EXPECT_EQ(second.since(first).origin, Origin::missing) << "it did not run in between";
}

TEST(Count, ThatSankForAMomentAddedNothingAndNeverWraps) {
  EXPECT_EQ(Count::exact(90).since(Count::exact(100)).raw, 0u);
  EXPECT_EQ(Count::exact(110).since(Count::exact(100)).raw, 10u);
}

}  // namespace
}  // namespace loft::sample
