#include "roof/alternating.hpp"

#include <gmock/gmock.h>

namespace loft::roof {
namespace {

using core::Cause;
using source::virtual_pmu::KeptWindow;
using source::virtual_pmu::WindowedFunction;

const std::vector<WindowedFunction> kFunctions = {
    {"caller", "/bin/app"}, {"callee", "/bin/app"}, {"long_one", "/bin/app"}};

// Pieces of functions, one after the other: which one, and how many instructions.
KeptWindow window_of(const std::vector<std::pair<std::uint32_t, int>>& pieces) {
  KeptWindow kept;
  kept.window.blocks = {0, 1, 2};
  kept.functions = {0, 1, 2};
  for (std::uint32_t i = 0; i < 3; ++i) kept.window.instructions.push_back({.block = i});
  for (const auto& [function, count] : pieces)
    for (int i = 0; i < count; ++i) kept.window.executions.push_back({.instruction = function});
  return kept;
}

TEST(Alternating, FindsFunctionsThatAreInTheCoreTogether) {
  std::vector<std::pair<std::uint32_t, int>> pieces;
  for (int i = 0; i < 100; ++i) pieces.insert(pieces.end(), {{0, 6}, {1, 4}});
  pieces.emplace_back(2, 4000);
  const Alternating groups({window_of(pieces)}, kFunctions, 320);
  const auto* group = groups.of({"callee", "/bin/app"});
  ASSERT_NE(group, nullptr);
  EXPECT_THAT(*group, testing::UnorderedElementsAre(FunctionKey{"caller", "/bin/app"},
                                                    FunctionKey{"callee", "/bin/app"}));
  EXPECT_EQ(groups.of({"caller", "/bin/app"}), group);
  EXPECT_EQ(groups.of({"long_one", "/bin/app"}), nullptr);
  EXPECT_EQ(groups.of({"nobody", "/bin/app"}), nullptr);
}

TEST(Alternating, LongPiecesAreApart) {
  std::vector<std::pair<std::uint32_t, int>> pieces;
  for (int i = 0; i < 10; ++i) pieces.insert(pieces.end(), {{0, 400}, {1, 400}});
  EXPECT_EQ(Alternating({window_of(pieces)}, kFunctions, 320).of({"callee", "/bin/app"}), nullptr);
}

// The model gives all of the wait to the callee, samples give half of it to the caller. Together
// both have 4 + 8 cycles a call.
TEST(Alternating, AGroupIsJudgedAsOne) {
  const FunctionKey caller{"caller", "/bin/app"}, callee{"callee", "/bin/app"};
  std::map<FunctionKey, model::TimedPart> parts;
  const auto part = [](double cycles, double without) {
    model::TimedPart timed;
    timed.instructions = 1000;
    timed.cycles = timed.nearest = timed.farthest = cycles;
    timed.without.fill(cycles);
    timed.without[static_cast<std::size_t>(Cause::mispredictions)] = without;
    timed.met.mispredicted = 100;
    return timed;
  };
  parts[caller] = part(400, 400);
  parts[callee] = part(8000, 2000);
  // The caller has ten instructions for each of the callee's.
  std::map<FunctionKey, MeasuredFunction> measured = {{caller, {8e6, 10e6}}, {callee, {4e6, 1e6}}};
  const auto why = judge_together({caller, callee}, parts, measured);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->outcome, model::Outcome::limited);
  EXPECT_EQ(why->limit, Cause::mispredictions);
  EXPECT_NEAR(why->gain.value_or(0), 12.0 / 6, 1e-9);
  EXPECT_NEAR(why->explains.value_or(0), 1, 1e-9);
  EXPECT_THAT(why->evidence, testing::StartsWith("with 1 function that it alternates with: "));
  measured[{"unseen", "/bin/app"}] = {3e6, 1e6};
  EXPECT_FALSE(judge_together({caller, callee, {"unseen", "/bin/app"}}, parts, measured))
      << "a fifth of the time is in what no window met";
}

// One function of six is limited by mispredictions, and by more than the others are by causes of
// their own.
TEST(Alternating, AGroupWithoutACommonCauseHasNone) {
  std::map<FunctionKey, model::TimedPart> parts;
  std::map<FunctionKey, MeasuredFunction> measured;
  std::vector<FunctionKey> group;
  const auto add = [&](const std::string& name, Cause cause, double without) {
    model::TimedPart part;
    part.instructions = 1000;
    part.cycles = part.nearest = part.farthest = 1000;
    part.without.fill(1000);
    part.without[static_cast<std::size_t>(cause)] = without;
    part.met.mispredicted = part.met.atomics = 100;
    group.push_back({name, "/bin/app"});
    parts[group.back()] = part;
    measured[group.back()] = {1e6, 1e6};
  };
  add("branchy", Cause::mispredictions, 50);
  add("a", Cause::fp_latency, 800);
  add("b", Cause::width, 800);
  add("c", Cause::int_latency, 800);
  const auto why = judge_together(group, parts, measured);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->outcome, model::Outcome::unclear);
  EXPECT_FALSE(why->limit);
  EXPECT_FALSE(why->gain);
  EXPECT_THAT(why->evidence, testing::HasSubstr("a group, of whose time only 25 % has one cause"));
}

}  // namespace
}  // namespace loft::roof
