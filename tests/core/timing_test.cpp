// Windows whose cycles are known: each is bound by one thing, which shows when it is taken away.
#include "core/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/window_builder.hpp"

namespace loft::core {
namespace {

constexpr std::uint64_t kRuns = 2000;

class TimingTest : public testing::Test {
 protected:
  double cycles(CauseSet without = {}) const {
    const auto timing = time_window(builder.window, core, {.without = without});
    EXPECT_TRUE(timing);
    return static_cast<double>(timing->cycles);
  }
  // Cycles per run, with nothing taken away.
  double per_run() const { return cycles() / kRuns; }
  double per_run(CauseSet without) const { return cycles(without) / kRuns; }

  // Only these causes, when taken away, make the window more than a tenth faster.
  void expect_bound_by(std::initializer_list<Cause> bounds) const {
    const auto result = what_if(builder.window, core);
    ASSERT_TRUE(result);
    for (std::size_t i = 0; i < kCauses; ++i) {
      const auto cause = static_cast<Cause>(i);
      const bool is_bound = std::find(bounds.begin(), bounds.end(), cause) != bounds.end();
      EXPECT_EQ(result->gain(cause) > 1.1, is_bound)
          << to_string(cause) << " gains " << result->gain(cause);
    }
  }
  void expect_near(double value, double expected) const {
    EXPECT_NEAR(value, expected, 0.03 * expected + 0.01);
  }

  WindowBuilder builder;
  CoreParameters core = *core_parameters("zen3");
};

TEST_F(TimingTest, ChainOfFmas) {
  const auto fma = builder.add({.op = Op::fp_fma,
                                .vector_bits = 256,
                                .sources = vector_reg(0),
                                .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(fma);
  expect_near(per_run(), 4);
  expect_near(per_run(Cause::fp_latency), 0.5);
  expect_bound_by({Cause::fp_latency});
}

TEST_F(TimingTest, IndependentFmas) {
  const auto fma =
      builder.add({.op = Op::fp_fma, .vector_bits = 256, .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(fma);
  expect_near(per_run(), 0.5);
  expect_near(per_run(Cause::fp_ports), 1 / 6.0);
  expect_bound_by({Cause::fp_ports});
}

TEST_F(TimingTest, VectorsWiderThanTheUnitsTakeTwiceAsLong) {
  const auto fma =
      builder.add({.op = Op::fp_fma, .vector_bits = 512, .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(fma);
  expect_near(per_run(), 1);
}

TEST_F(TimingTest, EightChainsOfFmasFillTheUnits) {
  for (int chain = 0; chain < 8; ++chain)
    builder.add(
        {.op = Op::fp_fma, .sources = vector_reg(chain), .destinations = vector_reg(chain)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(static_cast<std::uint32_t>(i % 8));
  expect_near(per_run(), 0.5);
  // Latency and units coincide: neither alone gains anything.
  expect_near(per_run(Cause::fp_ports), 0.5);
  expect_near(per_run(Cause::fp_latency), 0.5);
  expect_near(per_run(Cause::fp_ports | Cause::fp_latency), 1 / 6.0);
}

// Chains of eight additions. With a scheduler of one entry they start in order: the first of a
// chain with the last of the chain before it, seven times three cycles later.
TEST_F(TimingTest, ASmallSchedulerKeepsChainsApart) {
  const auto first = builder.add({.op = Op::fp_add, .destinations = vector_reg(0)});
  const auto next =
      builder.add({.op = Op::fp_add, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(i % 8 == 0 ? first : next);
  ASSERT_TRUE(set_parameter(core, "vector_scheduler", 4096, Origin::assumed));
  expect_near(per_run(), 0.5);  // two units
  ASSERT_TRUE(set_parameter(core, "vector_scheduler", 1, Origin::assumed));
  expect_near(per_run(), 21 / 8.0);
  ASSERT_TRUE(set_parameter(core, "integer_scheduler", 1, Origin::assumed));
  expect_near(per_run(), 21 / 8.0);
}

TEST_F(TimingTest, ChainOfAdditions) {
  const auto add = builder.add({.op = Op::int_alu,
                                .sources = general_reg(0),
                                .destinations = general_reg(0) | kFlags | kCarry});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(add);
  expect_near(per_run(), 1);
  expect_near(per_run(Cause::int_latency), 0.25);
  expect_bound_by({Cause::int_latency});
}

TEST_F(TimingTest, IndependentAdditionsAndShifts) {
  const auto shift = builder.add({.op = Op::int_shift, .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(shift);
  expect_near(per_run(), 0.5);
  expect_bound_by({Cause::int_ports});
}

TEST_F(TimingTest, InstructionsThatNeedNoUnitAreBoundByWidth) {
  const auto nop = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(nop);
  expect_near(per_run(), 1 / 6.0);
  expect_bound_by({Cause::width});
}

TEST_F(TimingTest, NopsShareSlotsWhereMorePassThanOthers) {
  ASSERT_TRUE(set_parameter(core, "nop_width", 12, Origin::measured));
  const auto nop = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(nop);
  expect_near(per_run(), 1 / 12.0);
}

TEST_F(TimingTest, NopsApartFromEachOtherShareNothing) {
  ASSERT_TRUE(set_parameter(core, "nop_width", 12, Origin::measured));
  const auto nop = builder.add({});
  const auto move = builder.add({.destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(nop);
    builder.run(move);
  }
  expect_near(per_run(), 2 / 6.0);
}

TEST_F(TimingTest, AFusedJumpTakesNoSlot) {
  const auto move = builder.add({.destinations = general_reg(0)});
  const auto jump = builder.add({.branch = BranchKind::conditional, .uops = 0});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(move);
    builder.run(jump);
  }
  expect_near(per_run(), 1 / 6.0);
}

TEST_F(TimingTest, ChainOfDivisions) {
  const auto div = builder.add(
      {.op = Op::fp_div_double, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(div);
  expect_near(per_run(), 13);
  expect_near(per_run(Cause::fp_latency), 5);
  expect_near(per_run(Cause::divider), 3);  // a chain of multiplications
  expect_bound_by({Cause::fp_latency, Cause::divider});
}

TEST_F(TimingTest, IndependentDivisions) {
  const auto div = builder.add({.op = Op::fp_div_double, .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(div);
  expect_near(per_run(), 5);
  expect_near(per_run(Cause::divider), 0.5);  // as multiplications
  expect_bound_by({Cause::divider});
}

TEST_F(TimingTest, FractionsOfCyclesAddUp) {
  ASSERT_TRUE(set_parameter(core, "occupancy.fp_div_double", 4.5, Origin::measured));
  const auto div = builder.add({.op = Op::fp_div_double, .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(div);
  expect_near(per_run(), 4.5);
}

TEST_F(TimingTest, AFewDivisionsHideBehindOtherWork) {
  const auto div = builder.add({.op = Op::fp_div_double, .destinations = vector_reg(0)});
  const auto nop = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(div);
    for (int k = 0; k < 59; ++k) builder.run(nop);
  }
  expect_near(per_run(), 10);
  expect_bound_by({Cause::width});
}

TEST_F(TimingTest, MispredictedBranches) {
  const auto compare = builder.add({.op = Op::int_alu, .destinations = kFlags});
  const auto jump =
      builder.add({.op = Op::branch, .branch = BranchKind::conditional, .sources = kFlags});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(compare);
    builder.run(jump).is_mispredicted = i % 2 == 0;
  }
  // Compare, branch, restart: 1 + 1 + 15, every other time; the pair behind it is free.
  expect_near(per_run(), 17 / 2.0);
  expect_near(per_run(Cause::mispredictions), 0.5);
  expect_bound_by({Cause::mispredictions});
}

TEST_F(TimingTest, BranchesMayBePredictedByTheWarmUpAlone) {
  const auto compare = builder.add({.op = Op::int_alu, .destinations = kFlags});
  const auto jump =
      builder.add({.op = Op::branch, .branch = BranchKind::conditional, .sources = kFlags});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(compare);
    builder.run(jump).is_mispredicted_anew = true;
  }
  expect_near(per_run(), 0.5);
  const Timing anew = *time_window(builder.window, core, {.relearns = true});
  expect_near(static_cast<double>(anew.cycles) / kRuns, 1 + 1 + 15);
}

TEST_F(TimingTest, BlocksAddUpAndTheBranchPaysForItsMisprediction) {
  const auto compare = builder.add({.block = 1, .op = Op::int_alu, .destinations = kFlags});
  const auto jump = builder.add(
      {.block = 2, .op = Op::branch, .branch = BranchKind::conditional, .sources = kFlags});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(compare);
    builder.run(jump).is_mispredicted = true;
  }
  const Timing timing = *time_window(builder.window, core);
  ASSERT_EQ(timing.by_block.size(), 3u);
  EXPECT_EQ(timing.by_block[0] + timing.by_block[1] + timing.by_block[2], timing.cycles);
  expect_near(static_cast<double>(timing.by_block[2]) / kRuns, 16);
  expect_near(static_cast<double>(timing.by_block[1]) / kRuns, 1);
}

TEST_F(TimingTest, FrontEndFollowsOneTakenBranchACycle) {
  const auto jump = builder.add({.op = Op::branch, .branch = BranchKind::jump});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(jump).is_taken = true;
  expect_near(per_run(), 1);
  expect_near(per_run(Cause::front_end), 0.5);
  expect_bound_by({Cause::front_end});
}

// A loop of two instructions in one line of code, or with its jump in the next.
TEST_F(TimingTest, ALoopInTwoLinesOfCodeTakesACycleForEach) {
  const auto add = builder.add({.op = Op::int_alu, .destinations = general_reg(0)});
  const auto jump = builder.add({.op = Op::branch, .branch = BranchKind::conditional});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(add);
    builder.run(jump).is_taken = true;
  }
  expect_near(per_run(), 1);
  builder.window.instructions[jump].address = 0x400040;
  expect_near(per_run(), 2);
  expect_bound_by({Cause::front_end});
  ASSERT_TRUE(set_parameter(core, "code_lines", 2, Origin::assumed));
  expect_near(per_run(), 1);
}

TEST_F(TimingTest, AnAdditionIsHandedOnEarlierToAdditions) {
  ASSERT_TRUE(set_parameter(core, "fp_add_elsewhere", 1, Origin::assumed));
  const auto add =
      builder.add({.op = Op::fp_add, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(add);
  expect_near(per_run(), 3);
  const auto multiply =
      builder.add({.op = Op::fp_mul, .sources = vector_reg(0), .destinations = vector_reg(0)});
  builder.window.executions.clear();
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(i % 2 == 0 ? add : multiply);
  expect_near(per_run(), (3 + 1 + 3) / 2.0);
  expect_near(per_run(Cause::fp_latency), 1 / 4.0);
}

// Chains of eight divisions of 12 cycles, 7 of which the divider is busy: in the five between two
// of them no other fits, yet it is never idle.
TEST_F(TimingTest, ADividerIsBusyAsLongAsAnyDivisionIsReady) {
  ASSERT_TRUE(set_parameter(core, "occupancy.int_div", 7, Origin::assumed));
  ASSERT_TRUE(set_parameter(core, "latency.int_div", 12, Origin::assumed));
  const auto start = builder.add({.op = Op::int_alu, .destinations = general_reg(0)});
  const auto divide =
      builder.add({.op = Op::int_div, .sources = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    if (i % 8 == 0) builder.run(start);
    builder.run(divide);
  }
  expect_near(per_run(), 7);
  expect_bound_by({Cause::divider});
}

TEST_F(TimingTest, InstructionMissesStopTheFrontEnd) {
  const auto nop = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i)
    builder.run(nop).fetched_from = i % 16 == 0 ? Level::l3 : Level::l1;
  expect_near(cycles() / (kRuns / 16), 46 / 4.0);  // four of them are under way
  EXPECT_GT(cycles() / cycles(Cause::front_end), 4);
  EXPECT_GT(cycles() / cycles(Cause::l3_latency), 4);
  EXPECT_LT(cycles() / cycles(Cause::l2_latency), 1.01);
}

TEST_F(TimingTest, CodeThatTheWarmUpDidNotSeeMayBeNear) {
  const auto nop = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    Execution& execution = builder.run(nop);
    execution.fetched_from = i % 16 == 0 ? Level::l3 : Level::l1;
    execution.code = i % 16 == 0 ? Translation::walk : Translation::first;
  }
  const Timing near = *time_window(builder.window, core, {.unknown = Unknown::nearest});
  expect_near(static_cast<double>(near.cycles), cycles(Cause::front_end));
  EXPECT_GT(cycles() / static_cast<double>(near.cycles), 4);
}

TEST_F(TimingTest, ASiblingTakesTurnsOfUnitsButNotOfWaiting) {
  const auto free = builder.add({.op = Op::int_alu, .destinations = general_reg(1)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(free);
  const double alone = per_run();
  core.core_share = {0.5, Origin::measured};
  expect_near(per_run(), 2 * alone);
}

TEST_F(TimingTest, MoreUnitsTakeNoTurnsFromASibling) {
  const auto link =
      builder.add({.op = Op::int_alu, .sources = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(link);
  core.core_share = {0.5, Origin::measured};
  expect_near(per_run(), 2);
  expect_near(per_run(Cause::int_ports), 2);
}

TEST_F(TimingTest, AChainHardlyNoticesASibling) {
  const auto link =
      builder.add({.op = Op::fp_fma, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(link);
  const double alone = per_run();
  core.core_share = {0.75, Origin::measured};
  EXPECT_LT(per_run(), 1.15 * alone);
}

TEST_F(TimingTest, NothingOverlapsWhatDoesNotFitIntoTheReorderWindow) {
  const auto load = builder.add({.destinations = general_reg(0)});
  const auto nop = builder.add({});
  const auto with_gap = [&](int gap) {
    builder.window.executions.clear();
    builder.window.accesses.clear();
    for (std::uint64_t i = 0; i < 50; ++i) {
      builder.run(load, {load_from(Level::memory, i << 20)});
      for (int k = 0; k < gap; ++k) builder.run(nop);
    }
    return cycles() / 50;
  };
  expect_near(with_gap(255), 300 + 1);
  EXPECT_NEAR(with_gap(127), 150, 5);
  EXPECT_NEAR(with_gap(63), 75, 5);
}

TEST_F(TimingTest, DependsOnItsArgumentsAlone) {
  const auto fma = builder.add(
      {.op = Op::fp_div_single, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < 101; ++i) builder.run(fma, {load_from(Level::l3, i * 64)});
  Timer timer(builder.window, core);
  const Timing first = timer.run({});
  EXPECT_LT(timer.run({.without = Cause::l3_latency}).cycles, first.cycles);
  const Timing again = timer.run({});
  EXPECT_EQ(first.cycles, again.cycles);
  EXPECT_EQ(first.by_block, again.by_block);
}

TEST_F(TimingTest, RefusesWindowsAndCoresThatAreWrong) {
  builder.window.executions.push_back({.instruction = 5});
  EXPECT_FALSE(time_window(builder.window, core));
  EXPECT_FALSE(what_if(builder.window, core));
  EXPECT_FALSE(time_window({}, {}));
  EXPECT_EQ(time_window({}, core)->cycles, 0u);
}

TEST(Cause, NamesReadBack) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    EXPECT_EQ(find_cause(to_string(cause)), cause);
  }
  EXPECT_EQ(to_string(Cause::atomics), "atomics");
  EXPECT_EQ(to_string(Cause::dram_bandwidth), "dram_bandwidth");
  EXPECT_FALSE(find_cause("weather"));
}

}  // namespace
}  // namespace loft::core
