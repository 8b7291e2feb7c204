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
  WindowTimer timer(core::core_parameters("zen3").value());
  std::vector<model::TimedPart> parts(2);
  add_window(chain_and_moves(6000), timer, {}, parts);
  EXPECT_EQ(parts[0].instructions, 6000);
  EXPECT_NEAR(parts[0].cycles, 3 * 6000, 200);
  EXPECT_NEAR(parts[1].cycles, 6000 / 6.0, 200);
  const double relieved = parts[0].without[static_cast<std::size_t>(Cause::fp_latency)];
  EXPECT_NEAR(relieved, 6000 / 2.0, 100);  // what two units can start
  const model::Why why = model::judge(parts[0], {3.0});
  EXPECT_EQ(why.limit, Cause::fp_latency);
  EXPECT_NEAR(why.gain.value_or(0), 6, 0.2);
}

// More windows in turns than a timer keeps ready, with parameters that move: each is timed as by a
// timer of its own.
TEST(WindowTimer, WindowsInTurnsDoNotDisturbEachOther) {
  const core::CoreParameters core = core::core_parameters("zen3").value();
  WindowTimer timer(core);
  const WindowTimer::Scenario scenarios[] = {
      {}, {.parameter = "issue_width", .factor = 0.5}, {.without = {Cause::fp_latency}}};
  for (const WindowTimer::Scenario& scenario : scenarios)
    for (std::uint32_t number = 0; number < 9; ++number) {
      auto kept = chain_and_moves(100 + 50 * number);
      kept.number = number;
      WindowTimer alone(core);
      EXPECT_EQ(*timer.find(kept, scenario), *alone.find(kept, scenario)) << number;
    }
  EXPECT_EQ(timer.find(chain_and_moves(9), {.parameter = "issue_width", .factor = 1e9}), nullptr);
}

TEST(WindowTimer, TimesAWindowOnceWhateverItsBlocksAreCalled) {
  WindowTimer timer(core::core_parameters("zen3").value());
  const auto kept = chain_and_moves(1000);
  auto relabelled = kept;
  relabelled.functions = {1, 0};
  const auto* cycles = timer.find(kept, {});
  ASSERT_NE(cycles, nullptr);
  ASSERT_EQ(cycles->size(), 2u);
  EXPECT_NEAR((*cycles)[0], 3000, 50);
  EXPECT_EQ(timer.find(relabelled, {}), cycles);
  auto other = chain_and_moves(10);
  other.number = 1;
  EXPECT_NE(timer.find(other, {}), cycles);
  const auto* slower = timer.find(kept, {.parameter = "latency.fp_add", .factor = 2});
  ASSERT_NE(slower, nullptr);
  EXPECT_NEAR((*slower)[0], 6000, 50);
  EXPECT_EQ(timer.find(kept, {.parameter = "latency.fp_add", .factor = 1e9}), nullptr);
  EXPECT_EQ(timer.find(kept, {.parameter = "weather", .factor = 2}), nullptr);
}

// Each addition of a chain is waited for; the moves behind it leave at once. Without the chain both
// take a slot each: what the moves are then charged with, the additions have not gained.
TEST(Why, TimeThatMovesToAnotherFunctionIsNoGain) {
  WindowTimer timer(core::core_parameters("zen3").value());
  auto kept = chain_and_moves(1);
  kept.window.executions.clear();
  for (int i = 0; i < 3000; ++i) {
    kept.window.executions.push_back({.instruction = 0});
    for (int k = 0; k < 5; ++k) kept.window.executions.push_back({.instruction = 1});
  }
  std::vector<model::TimedPart> parts(2);
  add_window(kept, timer, {}, parts);
  for (std::size_t i = 0; i < core::kCauses; ++i) {
    EXPECT_LE(parts[0].without[i], parts[0].cycles + 1e-6);
    EXPECT_LE(parts[1].without[i], parts[1].cycles + 1e-6);
  }
  const auto chain = static_cast<std::size_t>(Cause::fp_latency);
  EXPECT_NEAR(parts[0].without[chain] + parts[1].without[chain], 3000, 100);
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

// The verdict on the only function of an account, by the cycles an instruction that were measured.
std::optional<model::Why> why_of_sum(const Account& account, double measured_cycles) {
  std::vector<Subject> subjects(1);
  subjects[0].scope = Scope::function;
  subjects[0].name = "sum";
  subjects[0].binary = "/bin/app";
  subjects[0].seconds = 1;
  subjects[0].work = model::Work{.instructions = 3e9 / measured_cycles};
  explain(account, {3e9, 1, 1}, subjects);
  return subjects[0].why;
}

// A function that takes 8 cycles an instruction with data from where the model takes them to be,
// and 3 with data as near as they may be.
std::optional<model::Why> of_function(double measured_cycles, bool is_l3_disturbed = false) {
  model::TimedPart part;
  part.instructions = 10'000;
  part.cycles = part.farthest = 80'000;
  part.nearest = 30'000;
  part.without.fill(80'000);
  part.without[static_cast<std::size_t>(Cause::dram_latency)] = 30'000;
  part.met.lines_dram = 5'000;
  model::TimedPart nearest = part;
  nearest.cycles = nearest.farthest = 30'000;
  nearest.without.fill(30'000);
  nearest.without[static_cast<std::size_t>(Cause::fp_latency)] = 10'000;
  Account account;
  account.functions[{"sum", "/bin/app"}] = part;
  (is_l3_disturbed ? account.quiet_l3 : account.nearest)[{"sum", "/bin/app"}] = nearest;
  return why_of_sum(account, measured_cycles);
}

TEST(Why, TheMeasuredTimeDecidesWhereDataCameFrom) {
  EXPECT_EQ(of_function(8)->limit, Cause::dram_latency);
  EXPECT_EQ(of_function(3)->limit, Cause::fp_latency);
  EXPECT_EQ(of_function(3, true)->limit, Cause::fp_latency) << "its lines stay in L3";
  EXPECT_EQ(of_function(8, true)->limit, Cause::dram_latency);
  const auto neither = of_function(5);
  EXPECT_EQ(neither->outcome, model::Outcome::unexplained);
  EXPECT_EQ(neither->model_cycles, 8);
}

// A function of 4 cycles an instruction whose predictor remembers, and of 8 where it begins anew.
std::optional<model::Why> of_branches(double measured_cycles) {
  const auto mispredictions = static_cast<std::size_t>(Cause::mispredictions);
  model::TimedPart part;
  part.instructions = 10'000;
  part.cycles = part.nearest = part.farthest = 40'000;
  part.without.fill(40'000);
  part.without[mispredictions] = 20'000;
  part.met.branches = 2'000;
  part.met.mispredicted = 1'000;
  model::TimedPart anew = part;
  anew.cycles = anew.nearest = anew.farthest = 80'000;
  anew.without.fill(80'000);
  anew.without[mispredictions] = 20'000;
  Account account;
  account.functions[{"sum", "/bin/app"}] = part;
  account.relearned[{"sum", "/bin/app"}] = anew;
  return why_of_sum(account, measured_cycles);
}

TEST(Why, TheMeasuredTimeDecidesWhatAPredictorRemembers) {
  EXPECT_EQ(of_branches(4)->gain, 2);
  EXPECT_EQ(of_branches(7.5)->gain, 4);
  EXPECT_EQ(of_branches(5.6)->outcome, model::Outcome::unexplained);
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
