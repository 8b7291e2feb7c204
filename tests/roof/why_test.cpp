// Windows written by hand, whose cycles are known, and runs that wait or do not.
#include "roof/why.hpp"

#include <gmock/gmock.h>

#include "core/timing.hpp"

namespace loft::roof {
namespace {

using core::Cause;
using model::Scope;
using model::Subject;

constexpr std::uint64_t kSecond = 1'000'000'000;

// A chain of additions of function 0, and as many independent moves of function 1.
source::virtual_pmu::KeptWindow chain_and_moves(std::uint32_t count) {
  source::virtual_pmu::KeptWindow kept;
  kept.window.blocks = {70, 71};
  kept.window.instructions = {
      {.address = 0x1000,
       .block = 0,
       .op = core::Op::fp_add,
       .sources = core::vector_reg(0),
       .destinations = core::vector_reg(0)},
      {.address = 0x1004, .block = 1, .destinations = core::general_reg(0)}};
  for (std::uint32_t i = 0; i < count; ++i) kept.window.executions.push_back({.instruction = 0});
  for (std::uint32_t i = 0; i < count; ++i) kept.window.executions.push_back({.instruction = 1});
  kept.functions = {0, 1};
  return kept;
}

TEST(Why, AWindowsCyclesBelongToTheFunctionsOfItsBlocks) {
  const auto core = core::core_parameters("zen3").value();
  std::vector<model::TimedPart> parts(2);
  add_window(chain_and_moves(6000), core, parts);
  EXPECT_EQ(parts[0].instructions, 6000);
  EXPECT_NEAR(parts[0].cycles, 3 * 6000, 200);
  EXPECT_NEAR(parts[1].cycles, 6000 / 6.0, 200);
  const double relieved = parts[0].without[static_cast<std::size_t>(Cause::fp_latency)];
  EXPECT_NEAR(relieved, 6000 / 2.0, 100);  // what two units can start
  const model::Why why = model::judge(parts[0], {3.0});
  EXPECT_EQ(why.limit, Cause::fp_latency);
  EXPECT_NEAR(why.gain.value_or(0), 6, 0.2);
}

TEST(Why, IsAbleToRunWhileSomebodyElseHasItsCpu) {
  EXPECT_EQ(able_seconds({}), std::nullopt);
  // On a CPU for one second, without for three, on it for one.
  const auto slices = [](bool was_preempted) {
    return std::vector<sample::RunSlice>{{7, 0, kSecond, 2 * kSecond, was_preempted},
                                         {7, 0, 5 * kSecond, 6 * kSecond, false}};
  };
  EXPECT_DOUBLE_EQ(able_seconds(slices(true)).value_or(0), 5);
  EXPECT_DOUBLE_EQ(able_seconds(slices(false)).value_or(0), 2);
}

TEST(Why, ThreadsThatRunTogetherCountOnce) {
  EXPECT_DOUBLE_EQ(
      able_seconds({{7, 0, 0, 2 * kSecond, false}, {8, 1, kSecond, 3 * kSecond, false}})
          .value_or(0),
      3);
}

// The verdict of a run of ten seconds, one of them on a CPU.
std::optional<model::Why> of_run(std::optional<double> able, double kernel_share = 0) {
  std::vector<Subject> subjects(2);
  subjects[0].scope = Scope::run;
  subjects[0].seconds = 1;
  subjects[1].scope = Scope::function;
  subjects[1].name = "[kernel]";
  subjects[1].share_of_time = kernel_share;
  explain({}, {3e9, 10, able}, subjects);
  return subjects[0].why;
}

TEST(Why, ARunWaitsIfItGaveItsCpuUp) {
  const auto why = of_run(1);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->outcome, model::Outcome::waiting);
}

TEST(Why, ARunOnABusyMachineDoesNotWait) {
  EXPECT_FALSE(of_run(9.5));
  EXPECT_FALSE(of_run(std::nullopt));
  const auto why = of_run(9.5, 0.8);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->outcome, model::Outcome::system);
}

}  // namespace
}  // namespace loft::roof
