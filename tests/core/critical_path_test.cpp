// Windows whose critical path is known, instruction by instruction.
#include "core/critical_path.hpp"

#include <gtest/gtest.h>

#include "core/window_builder.hpp"

namespace loft::core {
namespace {

constexpr std::uint64_t kRuns = 1000;

class CriticalPathTest : public testing::Test {
 protected:
  CriticalPath path() {
    const auto found = critical_path(builder.window, core);
    EXPECT_TRUE(found);
    EXPECT_EQ(found->cycles, time_window(builder.window, core)->cycles);
    std::uint64_t sum = 0;
    for (const CriticalShare& share : found->by_instruction) sum += share.sum();
    EXPECT_EQ(sum, found->cycles) << "each cycle is waited in once";
    return *found;
  }
  static double per_run(std::uint64_t cycles) { return static_cast<double>(cycles) / kRuns; }

  WindowBuilder builder;
  CoreParameters core = *core_parameters("zen3");
};

TEST_F(CriticalPathTest, AChainIsWaitedForAndWhatRunsBesideItIsNot) {
  const auto add =
      builder.add({.op = Op::fp_add, .sources = vector_reg(0), .destinations = vector_reg(0)});
  const auto beside = builder.add({.op = Op::int_alu, .destinations = general_reg(1)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(add);
    builder.run(beside);
  }
  const CriticalPath found = path();
  EXPECT_NEAR(per_run(found.by_instruction[add].of(Wait::operation)), 3, 0.1);
  EXPECT_EQ(found.by_instruction[add].longest(), Wait::operation);
  EXPECT_EQ(found.by_instruction[add].waits_for, add);
  EXPECT_LT(found.by_instruction[beside].sum(), found.cycles / 50);
}

// The load gives the product, the product the sum: the sum alone depends on the run before.
TEST_F(CriticalPathTest, OfSeveralOperationsOnlyTheChainIsMarked) {
  const auto load = builder.add({.destinations = vector_reg(1)});
  const auto multiply =
      builder.add({.op = Op::fp_mul, .sources = vector_reg(1), .destinations = vector_reg(2)});
  const auto sum = builder.add(
      {.op = Op::fp_add, .sources = vector_reg(0) | vector_reg(2), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(load, {load_from(Level::l1, i * 8)});
    builder.run(multiply);
    builder.run(sum);
  }
  const CriticalPath found = path();
  EXPECT_NEAR(per_run(found.by_instruction[sum].of(Wait::operation)), 3, 0.1);
  EXPECT_LT(found.by_instruction[multiply].sum(), found.cycles / 50);
  EXPECT_LT(found.by_instruction[load].sum(), found.cycles / 50);
}

TEST_F(CriticalPathTest, AChaseWaitsForItsLoadsAtTheirLevel) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(load, {load_from(Level::l3, i * 4096)});
  const CriticalPath found = path();
  EXPECT_NEAR(per_run(found.by_instruction[load].of(Wait::l3)), 46, 1);
  EXPECT_EQ(found.by_instruction[load].waits_for, load);
}

// The first load of each line misses, the second gives the next address: it waits for the first's.
TEST_F(CriticalPathTest, ALoadOfALineThatIsUnderWayWaitsAtTheLevelItComesFrom) {
  const auto first =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(1)});
  const auto second =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(first, {load_from(Level::l3, i * 4096 + 8)});
    builder.run(second, {load_from(Level::l1, i * 4096)});
  }
  const CriticalPath found = path();
  EXPECT_EQ(found.by_instruction[second].longest(), Wait::l3);
  EXPECT_NEAR(per_run(found.by_instruction[second].of(Wait::l3)), 46, 2);
}

TEST_F(CriticalPathTest, AStoreAndTheLoadOfItAreAChain) {
  const auto load =
      builder.add({.address_registers = general_reg(5), .destinations = vector_reg(0)});
  const auto add = builder.add({.op = Op::fp_add,
                                .vector_bits = 64,
                                .sources = vector_reg(0),
                                .destinations = vector_reg(0)});
  const auto store = builder.add({.address_registers = general_reg(6), .sources = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(load, {load_from(Level::l1, 0x1000)});
    builder.run(add);
    builder.run(store, {store_to(0x1000)});
  }
  const CriticalPath found = path();
  EXPECT_GT(per_run(found.by_instruction[load].of(Wait::forwarding)), 0.9);
  EXPECT_EQ(found.by_instruction[load].waits_for, store);
  EXPECT_NEAR(per_run(found.by_instruction[add].of(Wait::operation)), 3, 0.1);
}

TEST_F(CriticalPathTest, IndependentDivisionsWaitForTheirUnit) {
  const auto divide = builder.add({.op = Op::fp_div_double, .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(divide);
  EXPECT_EQ(path().by_instruction[divide].longest(), Wait::unit);
}

TEST_F(CriticalPathTest, TheMispredictedBranchHasTheRestart) {
  const auto compare = builder.add({.op = Op::int_alu, .destinations = kFlags});
  const auto jump =
      builder.add({.op = Op::branch, .branch = BranchKind::conditional, .sources = kFlags});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(compare);
    builder.run(jump).is_mispredicted = true;
  }
  const CriticalPath found = path();
  EXPECT_NEAR(per_run(found.by_instruction[jump].of(Wait::restart)), 15, 1);
  EXPECT_LT(found.by_instruction[compare].sum(), found.by_instruction[jump].sum() / 5);
}

TEST_F(CriticalPathTest, InstructionsThatNeedNothingWaitToBeIssued) {
  const auto nop = builder.add({.destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(nop);
  const CriticalPath found = path();
  EXPECT_GT(
      found.by_instruction[nop].of(Wait::issue) + found.by_instruction[nop].of(Wait::retirement),
      found.cycles * 9 / 10);
}

TEST_F(CriticalPathTest, AnEmptyWindowHasNone) {
  builder.add({});
  EXPECT_EQ(path().cycles, 0u);
}

TEST_F(CriticalPathTest, RefusesAWindowThatIsWrong) {
  builder.window.executions.push_back({.instruction = 5});
  EXPECT_FALSE(critical_path(builder.window, core));
}

}  // namespace
}  // namespace loft::core
