#include "source/virtual/window_needs.hpp"

#include <gtest/gtest.h>

namespace loft::source::virtual_pmu {
namespace {

constexpr std::uint64_t kPlanned = 1000;

// What ran: so many instructions of each of two functions, and some of others.
void ran(WindowNeeds& needs, std::uint64_t first, std::uint64_t second,
         std::uint64_t others = 1000) {
  const std::uint64_t instructions[] = {first, second};
  needs.add_executed(instructions, first + second + others);
}

TEST(WindowNeeds, WantsAWindowWhileAFunctionRunsThatNoneHasSeen) {
  WindowNeeds needs(2);
  EXPECT_FALSE(needs.wants_window());
  ran(needs, 0, 0);
  EXPECT_FALSE(needs.wants_window()) << "others ran";
  ran(needs, 0, 500);
  EXPECT_TRUE(needs.wants_window());
  EXPECT_EQ(needs.bytes(kPlanned), kPlanned);
  ran(needs, 0, 10);
  EXPECT_FALSE(needs.wants_window()) << "one instruction in a hundred: it runs elsewhere";
}

TEST(WindowNeeds, TwoWindowsOfTheStreamAreEnough) {
  WindowNeeds needs(2);
  for (int window = 0; window < 2; ++window) {
    ran(needs, 500, 0);
    ASSERT_TRUE(needs.wants_window());
    needs.start_window();
    EXPECT_TRUE(needs.lacks(0));
    needs.add_recorded(0, 6000);
    EXPECT_FALSE(needs.lacks(0)) << "until the next window";
    needs.end_window();
    needs.end_window();  // says nothing new
  }
  ran(needs, 500, 0);
  EXPECT_FALSE(needs.wants_window());
  EXPECT_FALSE(needs.lacks(0));
  ran(needs, 500, 500);
  EXPECT_TRUE(needs.wants_window()) << "the other one was not seen";
}

TEST(WindowNeeds, ShortCallsInManyWindowsAreEnough) {
  WindowNeeds needs(1);
  for (int i = 0; i < 7; ++i) needs.add_recorded(0, 20);
  EXPECT_TRUE(needs.lacks(0));
  needs.add_recorded(0, 20);
  EXPECT_FALSE(needs.lacks(0));
}

TEST(WindowNeeds, AMissedFunctionGetsLongerWindowsAndIsGivenUp) {
  WindowNeeds needs(1);
  const std::uint64_t instructions[] = {500};
  for (const std::uint64_t bytes : {1, 2, 4, 8, 8, 8}) {
    needs.add_executed(instructions, 500);
    ASSERT_TRUE(needs.wants_window());
    EXPECT_EQ(needs.bytes(kPlanned), bytes * kPlanned);
    needs.start_window();
    needs.end_window();
  }
  needs.add_executed(instructions, 500);
  EXPECT_FALSE(needs.wants_window());
}

}  // namespace
}  // namespace loft::source::virtual_pmu
