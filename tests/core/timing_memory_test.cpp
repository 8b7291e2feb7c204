// Windows bound by memory whose cycles are known.
#include <gtest/gtest.h>

#include "core/timing.hpp"
#include "core/window_builder.hpp"

namespace loft::core {
namespace {

constexpr std::uint64_t kRuns = 2000;

class TimingMemory : public testing::Test {
 protected:
  double per_run(CauseSet without = {}, Unknown unknown = Unknown::as_modelled) const {
    const auto timing = time_window(builder.window, core, {without, unknown});
    EXPECT_TRUE(timing);
    return static_cast<double>(timing->cycles) / kRuns;
  }
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
    EXPECT_NEAR(value, expected, 0.04 * expected + 0.01);
  }
  // Each load's address is the result of the one before it.
  void chase(Level level) {
    const auto load =
        builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
    for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(load, {load_from(level, i * 4096)});
  }
  // Loads that need nothing, each from a line of its own.
  void independent(Level level, std::uint32_t size = 8, std::uint16_t vector_bits = 0) {
    const auto load = builder.add({.vector_bits = vector_bits, .destinations = vector_reg(0)});
    for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(load, {load_from(level, i * 64, size)});
  }

  WindowBuilder builder;
  CoreParameters core = *core_parameters("zen3");
};

TEST_F(TimingMemory, PointerChaseInEachLevel) {
  const std::pair<Level, Cause> levels[] = {{Level::l1, Cause::l1_latency},
                                            {Level::l2, Cause::l2_latency},
                                            {Level::l3, Cause::l3_latency},
                                            {Level::memory, Cause::dram_latency}};
  const double latencies[] = {4, 14, 46, 300};
  // Ports; latency of L1, twice; the bandwidth of memory.
  const double without[] = {1 / 3.0, 4, 4, 64 / 8.0};
  for (const auto& [level, cause] : levels) {
    builder = {};
    chase(level);
    expect_near(per_run(), latencies[static_cast<std::size_t>(level)]);
    expect_near(per_run(cause), without[static_cast<std::size_t>(level)]);
    expect_bound_by({cause});
  }
}

TEST_F(TimingMemory, AnIndexTakesACycleMoreWhereTheCoreSaysSo) {
  chase(Level::l1);
  builder.window.instructions[0].address_registers |= general_reg(7);
  expect_near(per_run(), 5);
  ASSERT_TRUE(set_parameter(core, "indexed_load_extra", 0, Origin::assumed));
  expect_near(per_run(), 4);
}

// Bytes from memory pass the links of all levels; without memory there is nothing to pass.
TEST_F(TimingMemory, WithoutLatencyAndBandwidthALevelIsL1) {
  independent(Level::memory);
  expect_near(per_run(Cause::dram_latency), 64 / 8.0);
  expect_near(per_run(Cause::dram_latency | Cause::dram_bandwidth), 1 / 3.0);
  expect_near(per_run(Cause::l3_latency | Cause::l3_bandwidth), per_run());
}

TEST_F(TimingMemory, WhatIsWrittenBackTakesItsShareOfTheBandwidth) {
  const auto load = builder.add({.destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::memory, i * 64);
    access.cache.written_back = 1;
    builder.run(load, {access});
  }
  ASSERT_TRUE(set_parameter(core, "fill_buffers", 200, Origin::assumed));
  for (const double cost : {0.0, 0.5, 1.0}) {
    ASSERT_TRUE(set_parameter(core, "write_back_cost", cost, Origin::assumed));
    expect_near(per_run(), (1 + cost) * 64 / 8.0);
  }
}

// The entry of the page table comes from where it is.
TEST_F(TimingMemory, AWalkBeyondL2WaitsForItsEntry) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (const auto& [level, more] :
       {std::pair{Level::l2, 0}, {Level::l3, 46 - 14}, {Level::memory, 300 - 14}}) {
    builder.window.executions.clear();
    builder.window.accesses.clear();
    for (std::uint64_t i = 0; i < kRuns; ++i) {
      WindowAccess access = load_from(Level::l1, i * 4096);
      access.translation = {Translation::walk, Translation::walk, level};
      builder.run(load, {access});
    }
    expect_near(per_run(), 4 + 40 + more);
    expect_near(per_run(Cause::tlb), 4);
  }
}

// 16 of the 64 bytes lie in the next line: three accesses of 32 bytes, and not two.
// A chase through memory whose pages need walks that take 500 cycles there, and 40 elsewhere.
TEST_F(TimingMemory, AWalkForALineOfMemoryMayTakeLonger) {
  ASSERT_TRUE(set_parameter(core, "walk_to_memory", 500, Origin::assumed));
  for (const Level level : {Level::l3, Level::memory}) {
    builder = {};
    chase(level);
    for (WindowAccess& access : builder.window.accesses)
      access.translation = {Translation::walk, Translation::walk};
    expect_near(per_run(), level == Level::l3 ? 40 + 46 : 500 + 300);
    expect_near(per_run(Cause::tlb), level == Level::l3 ? 46 : 300);
  }
  // Side by side they take no longer than walks elsewhere: six in 40 cycles, 24 lines in 300.
  builder = {};
  independent(Level::memory);
  for (WindowAccess& access : builder.window.accesses)
    access.translation = {Translation::walk, Translation::walk};
  expect_near(per_run(), 300 / 24.0);
}

// Loads of a stream that need nothing: 20 buffers, 300 cycles and 64 loads in each page until it
// goes on there, which nothing but the 20 lines before it hides.
TEST_F(TimingMemory, LinesUnderWayTakeABufferEach) {
  ASSERT_TRUE(set_parameter(core, "page_start", 1, Origin::assumed));
  ASSERT_TRUE(set_parameter(core, "fill_buffers", 20, Origin::assumed));
  ASSERT_TRUE(set_parameter(core, "walk_latency", 1, Origin::assumed));
  ASSERT_TRUE(set_parameter(core, "reorder_window", 1024, Origin::assumed));
  const auto load = builder.add({.destinations = general_reg(1)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l2, i * 64);
    access.cache.prefetched_from = Level::memory;
    if (i % 64 == 0) access.translation = {Translation::walk, Translation::walk};
    builder.run(load, {access});
  }
  const double page = 64 * 8 + 300 - 20 * 8;
  EXPECT_NEAR(per_run() * 64, page, 0.06 * page);
  EXPECT_NEAR(per_run(Cause::tlb) * 64, 64 * 8, 0.06 * page);
}

TEST_F(TimingMemory, AnAccessToTwoLinesTakesAUnitTwice) {
  for (const auto& [offset, cycles] : {std::pair{0, 1.0}, {16, 1.5}}) {
    builder = {};
    const auto load = builder.add({.vector_bits = 512, .destinations = vector_reg(0)});
    for (std::uint64_t i = 0; i < kRuns; ++i)
      builder.run(load,
                  {load_from(Level::l1, 64 * (i % 8) + static_cast<std::uint64_t>(offset), 64)});
    expect_near(per_run(), cycles);
  }
}

// Two stores of general registers a cycle, one of vectors; without units, what L1 takes: 32 bytes.
TEST_F(TimingMemory, StoresOfVectorsHaveFewerUnits) {
  for (const auto& [bits, cycles] : {std::pair{0, 0.5}, {128, 1.0}}) {
    builder = {};
    const auto store = builder.add({.vector_bits = static_cast<std::uint16_t>(bits)});
    for (std::uint64_t i = 0; i < kRuns; ++i) builder.run(store, {store_to(8 * (i % 8))});
    expect_near(per_run(), cycles);
    expect_near(per_run(Cause::memory_ports), 0.25);
  }
}

TEST_F(TimingMemory, AChaseBetweenOtherWorkDoesNotHoldItUp) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  const auto add =
      builder.add({.op = Op::fp_add, .sources = vector_reg(0), .destinations = vector_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(load, {load_from(Level::l2, i * 4096)});
    for (int k = 0; k < 6; ++k) builder.run(add);
  }
  expect_near(per_run(), 18);  // six additions of three cycles
  expect_bound_by({Cause::fp_latency});
}

TEST_F(TimingMemory, IndependentMissesOverlapAsTheFillBuffersAllow) {
  ASSERT_TRUE(set_parameter(core, "dram_bandwidth", 64, Origin::assumed));
  independent(Level::memory);
  expect_near(per_run(), 300 / 24.0);
  expect_bound_by({Cause::dram_latency});
  ASSERT_TRUE(set_parameter(core, "fill_buffers", 12, Origin::assumed));
  expect_near(per_run(), 300 / 12.0);
}

TEST_F(TimingMemory, BandwidthOfEachLevel) {
  ASSERT_TRUE(set_parameter(core, "fill_buffers", 200, Origin::assumed));
  independent(Level::l2);
  expect_near(per_run(), 64 / 32.0);
  expect_bound_by({Cause::l2_bandwidth});
  builder = {};
  independent(Level::l3);
  expect_near(per_run(), 64 / 20.0);
  expect_bound_by({Cause::l3_bandwidth});
  expect_near(per_run(Cause::l3_bandwidth), 2);
}

TEST_F(TimingMemory, PrefetchedStreamIsBoundByBandwidthAndNotByLatency) {
  const auto load = builder.add({.destinations = general_reg(1)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l1, i * 8);
    if (i % 8 == 0) {
      access = load_from(Level::l2, i * 8);
      access.cache.prefetched_from = Level::memory;
    }
    builder.run(load, {access});
  }
  expect_near(per_run(), 8 / 8.0);  // 8 bytes a cycle
  expect_near(per_run(Cause::dram_bandwidth), 8 / 20.0);
  expect_bound_by({Cause::dram_bandwidth});
}

TEST_F(TimingMemory, AStreamWaitsAtTheBeginOfAPageThatNeedsAWalk) {
  ASSERT_TRUE(set_parameter(core, "reorder_window", 32, Origin::assumed));
  const auto load = builder.add({.destinations = general_reg(1)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(i % 8 == 0 ? Level::l2 : Level::l1, i * 8);
    if (i % 8 == 0) access.cache.prefetched_from = Level::memory;
    if (i % 512 == 0) access.translation = {Translation::walk, Translation::walk};
    builder.run(load, {access});
  }
  const double waiting = per_run();
  ASSERT_TRUE(set_parameter(core, "page_start", 0, Origin::assumed));
  // Half of 300 cycles for each of its 512 loads, less what the reorder window has behind it.
  EXPECT_GT(waiting, per_run() + (150 - 32 - 40) / 512.0);
  ASSERT_TRUE(set_parameter(core, "page_start", 0.5, Origin::assumed));
  EXPECT_LE(per_run(Cause::tlb), waiting - (150 - 32 - 40) / 512.0);
}

TEST_F(TimingMemory, WrittenBackLinesTakeTheirShareOfTheBandwidth) {
  ASSERT_TRUE(set_parameter(core, "dram_latency", 50, Origin::assumed));
  const auto store = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = store_to(i * 64);
    access.cache.level = access.cache.nearest = access.cache.farthest = Level::memory;
    access.cache.written_back = 1;
    builder.run(store, {access});
  }
  expect_near(per_run(), 2 * 64 / 8.0);
  expect_bound_by({Cause::dram_bandwidth});
}

TEST_F(TimingMemory, StoresPastTheCachesNeedHalfOfThat) {
  const auto store = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = store_to(i * 64, 64);
    access.is_past = true;
    access.cache.level = access.cache.nearest = access.cache.farthest = Level::memory;
    builder.run(store, {access});
  }
  expect_near(per_run(), 64 / 8.0);
}

TEST_F(TimingMemory, HitsInALineUnderWayWaitForIt) {
  const auto first = builder.add({.destinations = general_reg(0)});
  const auto second = builder.add({.destinations = general_reg(1)});
  const auto add =
      builder.add({.op = Op::int_alu, .sources = general_reg(1), .destinations = general_reg(1)});
  builder.run(first, {load_from(Level::memory, 0x1000)});
  builder.run(second, {load_from(Level::l1, 0x1008)});
  for (int i = 0; i < 10; ++i) builder.run(add);
  EXPECT_EQ(time_window(builder.window, core)->cycles, 300u + 10);
  // From another line, the additions are done long before.
  builder.window.accesses[1].address = 0x2008;
  EXPECT_LE(time_window(builder.window, core)->cycles, 300u + 2);
}

TEST_F(TimingMemory, LoadsFromL1AreBoundByPorts) {
  independent(Level::l1);
  expect_near(per_run(), 1 / 3.0);
  expect_near(per_run(Cause::memory_ports), 1 / 6.0);
  expect_bound_by({Cause::memory_ports});
}

TEST_F(TimingMemory, WideLoadsFromL1AreBoundByItsBandwidth) {
  independent(Level::l1, 32, 256);
  expect_near(per_run(), 0.5);
  expect_near(per_run(Cause::l1_bandwidth), 1 / 3.0);
  expect_bound_by({Cause::l1_bandwidth});
}

TEST_F(TimingMemory, PageWalksGoOnInParallel) {
  const auto load = builder.add({.destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l1, i * 4096);
    access.translation = {Translation::walk, Translation::walk};
    builder.run(load, {access});
  }
  expect_near(per_run(), 40 / 6.0);
  expect_bound_by({Cause::tlb});
}

TEST_F(TimingMemory, WalksOfAChainFollowEachOther) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l1, i * 4096);
    access.translation = {Translation::walk, Translation::walk};
    builder.run(load, {access});
  }
  expect_near(per_run(), 44);
  expect_near(per_run(Cause::tlb), 4);
}

// load x; operate; store x
void through_memory(WindowBuilder& builder, Op op, std::uint16_t bits, std::uint32_t stored = 8) {
  const Registers value = bits == 0 ? general_reg(0) : vector_reg(0);
  const auto load = builder.add({.vector_bits = bits, .destinations = value});
  const auto operate =
      builder.add({.op = op, .vector_bits = bits, .sources = value, .destinations = value});
  const auto store = builder.add({.vector_bits = bits, .sources = value});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(load, {load_from(Level::l1, 0x1000)});
    builder.run(operate);
    builder.run(store, {store_to(0x1000, stored)});
  }
}

TEST_F(TimingMemory, ChainThroughMemoryOfVectors) {
  through_memory(builder, Op::fp_add, 64);
  expect_near(per_run(), 3 + 9.5);
  expect_near(per_run(Cause::store_forwarding), 3);
  expect_bound_by({Cause::store_forwarding, Cause::fp_latency});
}

TEST_F(TimingMemory, ChainThroughMemoryOfGeneralRegisters) {
  through_memory(builder, Op::int_alu, 0);
  expect_near(per_run(), 2);
  expect_near(per_run(Cause::store_forwarding), 1);
}

TEST_F(TimingMemory, AnotherAddressRegisterIsNotRenamed) {
  through_memory(builder, Op::int_alu, 0);
  builder.window.instructions[0].address_registers = general_reg(5);
  expect_near(per_run(), 1 + 7);
}

TEST_F(TimingMemory, RenamingGoesByMoreThanTheRegistersWhereTheCoreDoes) {
  through_memory(builder, Op::int_alu, 0);
  Instruction& load = builder.window.instructions[0];
  load.address_registers = general_reg(5);
  ASSERT_TRUE(set_parameter(core, "renames", 1, Origin::assumed));
  expect_near(per_run(), 1 + 1);
  load.address_registers |= general_reg(6);
  expect_near(per_run(), 1 + 7);
  ASSERT_TRUE(set_parameter(core, "renames", 2, Origin::assumed));
  expect_near(per_run(), 1 + 1);
}

TEST_F(TimingMemory, LoadsOfPartOfARegisterAreNotRenamed) {
  through_memory(builder, Op::int_alu, 0);
  for (WindowAccess& access : builder.window.accesses) access.size = 2;
  expect_near(per_run(), 1 + 7);
}

// table[i] = table[i - 2] + 1: the store has been executed once more since.
TEST_F(TimingMemory, OnlyTheLastExecutionOfAStoreIsRenamed) {
  const auto load = builder.add({.destinations = general_reg(0)});
  const auto add =
      builder.add({.op = Op::int_alu, .sources = general_reg(0), .destinations = general_reg(0)});
  const auto store = builder.add({.sources = general_reg(0)});
  for (const std::uint64_t back : {1, 2}) {
    builder.window.executions.clear();
    builder.window.accesses.clear();
    for (std::uint64_t i = 2; i < kRuns + 2; ++i) {
      builder.run(load, {load_from(Level::l1, 0x1000 + 8 * (i - back))});
      builder.run(add);
      builder.run(store, {store_to(0x1000 + 8 * i)});
    }
    expect_near(per_run(), back == 1 ? 1 + 1 : (7 + 1) / 2.0);
  }
}

TEST_F(TimingMemory, TwoStoresReachTheCacheInACycleIfTheyAreOfOneLine) {
  const auto store = builder.add({});
  for (const std::uint64_t stride : {8, 64}) {
    builder.window.executions.clear();
    builder.window.accesses.clear();
    for (std::uint64_t i = 0; i < kRuns; ++i)
      builder.run(store, {store_to(0x1000 + i * stride % 4096)});
    expect_near(per_run(), stride == 8 ? 0.5 : 1);
  }
  expect_bound_by({Cause::memory_ports});
}

TEST_F(TimingMemory, ALoadLargerThanTheStoreWaitsForTheCache) {
  through_memory(builder, Op::int_alu, 0, 4);
  expect_near(per_run(), 14 + 1);
  expect_near(per_run(Cause::store_forwarding), 1);
}

// The half whose data come late was stored first: the load waits for both.
TEST_F(TimingMemory, ALoadOfTwoStoresWaitsForTheLaterData) {
  const auto late = builder.add({.sources = general_reg(0)});
  const auto early = builder.add({.sources = general_reg(1)});
  const auto load = builder.add({.destinations = general_reg(0)});
  const auto add =
      builder.add({.op = Op::int_alu, .sources = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(late, {store_to(0x1004, 4)});
    builder.run(early, {store_to(0x1000, 4)});
    builder.run(load, {load_from(Level::l1, 0x1000)});
    builder.run(add);
  }
  expect_near(per_run(), 14 + 1);
  expect_near(per_run(Cause::store_forwarding), 1);
}

TEST_F(TimingMemory, StoresElsewhereForwardNothing) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  const auto store = builder.add({.sources = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(load, {load_from(Level::l1, 0x1000)});
    builder.run(store, {store_to(0x1008)});
  }
  expect_near(per_run(), 4);
  expect_near(per_run(Cause::store_forwarding), 4);
}

TEST_F(TimingMemory, StoresThatMissFillTheStoreBuffer) {
  ASSERT_TRUE(set_parameter(core, "dram_bandwidth", 64, Origin::assumed));
  ASSERT_TRUE(set_parameter(core, "store_buffer", 4, Origin::assumed));
  const auto store = builder.add({});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = store_to(i * 64);
    access.cache.level = access.cache.nearest = access.cache.farthest = Level::memory;
    builder.run(store, {access});
  }
  expect_near(per_run(), 300 / 4.0);
}

TEST_F(TimingMemory, LinesOfOtherThreads) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l3, i * 64);
    access.cache.is_transfer = true;
    builder.run(load, {access});
  }
  expect_near(per_run(), 110);
  expect_near(per_run(Cause::sharing), 4);
  expect_bound_by({Cause::sharing});
}

TEST_F(TimingMemory, AContendedLineIsKeptForAsLongAsHandingItOverTakes) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::l3, 0x1000);
    access.cache.is_transfer = true;
    builder.run(load, {access});
  }
  // 110 cycles for the line, then 28 loads of 4 cycles until it is gone again.
  EXPECT_GT(per_run(), 7);
  EXPECT_LT(per_run(), 9);
  expect_near(per_run(Cause::sharing), 4);
}

TEST_F(TimingMemory, LoadsBehindAnAtomicWaitForItAsMuchAsTheParameterSays) {
  const auto add = builder.add({.op = Op::int_alu, .is_atomic = true, .destinations = kFlags});
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    builder.run(add, {load_from(Level::l1, 0x1000), store_to(0x1000)});
    builder.run(load, {load_from(Level::l1, 0x2000)});
  }
  core.load_after_atomic = {4, Origin::measured};
  const double in_turns = per_run();
  core.load_after_atomic = {0, Origin::measured};
  EXPECT_GT(in_turns, per_run() + 3);
}

TEST_F(TimingMemory, AtomicsFollowEachOther) {
  const auto add = builder.add({.op = Op::int_alu, .is_atomic = true, .destinations = kFlags});
  for (std::uint64_t i = 0; i < kRuns; ++i)
    builder.run(add, {load_from(Level::l1, i % 64 * 64), store_to(i % 64 * 64)});
  expect_near(per_run(), 18);  // all of it: load, addition and store
  EXPECT_LT(per_run(Cause::atomics), 1);
  expect_bound_by({Cause::atomics});
}

TEST_F(TimingMemory, UnknownLinesAreTimedBothWays) {
  const auto load =
      builder.add({.address_registers = general_reg(0), .destinations = general_reg(0)});
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    WindowAccess access = load_from(Level::memory, i * 4096);
    access.cache.nearest = Level::l2;
    builder.run(load, {access});
  }
  expect_near(per_run(), 300);
  expect_near(per_run({}, Unknown::farthest), 300);
  expect_near(per_run({}, Unknown::nearest), 14);
}

}  // namespace
}  // namespace loft::core
