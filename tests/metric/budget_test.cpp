#include "metric/budget.hpp"

#include <gtest/gtest.h>

namespace loft::metric {
namespace {

Value counted(std::uint64_t count) {
  return {.number = Number::of(count), .kind = sample::Origin::counted, .why = {}, .ci95 = {}};
}

Budget budget(std::string_view text, Side side = Side::most) {
  return parse_budget(text, side).value();
}

Outcome held(std::string_view text, std::uint64_t base, std::uint64_t now, Side side = Side::most) {
  return hold(budget(text, side), {}, counted(base), counted(now)).outcome;
}

TEST(Budget, SharesAndDifferencesAreOfTheBase) {
  EXPECT_EQ(held("instructions=+1%", 1000, 1010), Outcome::kept);
  EXPECT_EQ(held("instructions=+1%", 1000, 1011), Outcome::broken);
  EXPECT_EQ(held("instructions=+5", 1000, 1005), Outcome::kept);
  EXPECT_EQ(held("instructions=+5", 1000, 1006), Outcome::broken);
  EXPECT_EQ(held("instructions=-10%", 1000, 901), Outcome::broken);
  EXPECT_EQ(held("GFLOPS=-5%", 1000, 950, Side::least), Outcome::kept);
  EXPECT_EQ(held("GFLOPS=-5%", 1000, 949, Side::least), Outcome::broken);
}

TEST(Budget, LimitOutrightNeedsNoBase) {
  EXPECT_FALSE(budget("flops=0").needs_base());
  EXPECT_EQ(hold(budget("flops=0"), {}, {}, counted(0)).outcome, Outcome::kept);
  EXPECT_EQ(hold(budget("flops=0"), {}, {}, counted(1)).outcome, Outcome::broken);
}

TEST(Budget, ComparesCountsThatDoublesCannotTellApart) {
  const std::uint64_t large = (std::uint64_t{1} << 60) + 1;
  EXPECT_EQ(held("instructions=+0", large, large), Outcome::kept);
  EXPECT_EQ(held("instructions=+0", large, large + 1), Outcome::broken);
}

TEST(Budget, LimitIsInTheUnitThatIsShown) {
  const Unit giga = parse_unit("GB/s").value();
  const Verdict verdict = hold(budget("bandwidth=2", Side::least), giga, {}, counted(1999999999));
  EXPECT_EQ(verdict.limit->as_double(), 2e9);
  EXPECT_EQ(verdict.outcome, Outcome::broken);
}

TEST(Budget, NoiseIsUndecided) {
  Value now = counted(1020);
  now.ci95 = Interval{1005, 1035};
  EXPECT_EQ(hold(budget("time=+1%"), {}, counted(1000), now).outcome, Outcome::undecided);
  now.ci95 = Interval{1011, 1029};
  EXPECT_EQ(hold(budget("time=+1%"), {}, counted(1000), now).outcome, Outcome::broken);
}

TEST(Budget, WhatIsNotCountedIsUnknownWithItsReason) {
  const Value missing{.number = {}, .why = "no counter has it", .ci95 = {}};
  EXPECT_EQ(hold(budget("cycles=+1%"), {}, counted(5), missing).why, "no counter has it");
  EXPECT_EQ(hold(budget("cycles=+1%"), {}, missing, counted(5)).why, "the base: no counter has it");
  EXPECT_EQ(hold(budget("cycles=+1%"), {}, missing, counted(5)).outcome, Outcome::unknown);
}

TEST(Budget, ChangeOfNothingIsNotKnown) {
  EXPECT_NEAR(*hold(budget("a=+1%"), {}, counted(200), counted(201)).change(), 0.5, 1e-12);
  EXPECT_FALSE(hold(budget("a=+1"), {}, counted(0), counted(1)).change());
}

TEST(Budget, RefusesWhatIsNoBudget) {
  for (const char* text : {"", "=1", "instructions", "instructions=", "a=1%", "a=+", "a=+-1",
                           "a=++1", "a=x", "a=+%", "a=1e999"})
    EXPECT_FALSE(parse_budget(text, Side::most)) << text;
}

}  // namespace
}  // namespace loft::metric
