#include "upc/front_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "upc/ideal.hpp"

namespace loft::upc {
namespace {

using testing::HasSubstr;

struct Bench {
  explicit Bench(const Geometry& sizes)
      : unit(sizes),
        lines(sizes),
        bus(unit, [this]() -> std::span<const std::uint64_t> { return lines.words(); }),
        front_end(FrontEnd::initialise(bus).value()) {}

  Unit unit;
  Lines lines;
  DirectBus bus;
  FrontEnd front_end;
};

// Every counter has a threshold of its own; lines are busy up to one event per cycle, on a state
// machine without a cycle to spare.
RC_GTEST_PROP(FrontEnd, AThresholdFiresOnceInTheCycleOfItsCount, ()) {
  const Geometry sizes = *rc::gen::arbitrary<bool>() ? tightest_geometry() : any_geometry();
  Bench bench(sizes);
  const std::uint64_t most =
      std::min<std::uint64_t>(3 * sizes.carry_period() + 5, sizes.value_mask() / 2);
  std::vector<std::uint64_t> thresholds(sizes.counters);
  std::vector<std::uint64_t> handled(sizes.counters);
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    const unsigned event = counter + sizes.counters * *rc::gen::inRange(0u, sizes.inputs);
    RC_ASSERT(bench.front_end.select(event, Mode::high).value() == counter);
    thresholds[counter] = *rc::gen::inRange<std::uint64_t>(1, most + 1);
    RC_ASSERT(bench.front_end
                  .set_threshold(counter, thresholds[counter],
                                 [&handled, event](const Reached& reached) {
                                   RC_ASSERT(reached.event == event);
                                   handled[reached.counter] += reached.count;
                                 })
                  .has_value());
  }
  RC_ASSERT(bench.front_end.start().has_value());
  std::vector<std::uint64_t> base(sizes.counters);
  for (unsigned counter = 0; counter < sizes.counters; ++counter)
    base[counter] = bench.unit.value(counter);

  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const double density = *rc::gen::element(1.0, 1.0, 0.99, 0.7, 0.2);
  for (std::uint64_t cycle = 0; cycle < 2 * most; ++cycle) {
    bench.lines.fill(random, density);
    bench.unit.step(bench.lines.words());
    for (unsigned counter = 0; counter < sizes.counters; ++counter) {
      const std::uint64_t count = (bench.unit.value(counter) - base[counter]) & sizes.value_mask();
      RC_ASSERT(bench.unit.pending(counter) == (count >= thresholds[counter]));
    }
  }
  bench.lines.set_all(false);
  for (int i = 0; i < 2; ++i)  // the second time nothing is pending
    RC_ASSERT(bench.front_end.handle_interrupts().has_value());
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    const std::uint64_t count = bench.front_end.read(counter).value();
    RC_ASSERT(handled[counter] == (count >= thresholds[counter] ? thresholds[counter] : 0));
  }
}

TEST(FrontEnd, ResetPutsAThresholdAheadAgain) {
  Bench bench({8, 4, 6, 20, 8, 4});
  const unsigned counter = bench.front_end.select(3, Mode::high).value();
  int fired = 0;
  ASSERT_TRUE(bench.front_end.set_threshold(counter, 100, [&](const Reached&) { ++fired; }));
  bench.lines.set(3, true);
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(bench.front_end.start());
    for (int cycle = 0; cycle < 150; ++cycle) bench.unit.step(bench.lines.words());
    ASSERT_TRUE(bench.front_end.stop());
    ASSERT_TRUE(bench.front_end.handle_interrupts());
    EXPECT_EQ(fired, round);
    EXPECT_GE(bench.front_end.read(counter).value(), 150u);
    ASSERT_TRUE(bench.front_end.reset());
    EXPECT_EQ(bench.front_end.read(counter).value(), 0u);
  }
}

TEST(FrontEnd, StartAndStopHoldForAllCountersAtOnce) {
  Bench bench({8, 4, 6, 20, 8, 4});
  for (unsigned event = 0; event < 8; ++event)
    ASSERT_TRUE(bench.front_end.select(event, event % 2 == 0 ? Mode::low : Mode::high));
  for (unsigned event = 1; event < 8; event += 2) bench.lines.set(event, true);
  ASSERT_TRUE(bench.front_end.start());
  for (int cycle = 0; cycle < 1000; ++cycle) bench.unit.step(bench.lines.words());
  ASSERT_TRUE(bench.front_end.stop());
  const std::uint64_t first = bench.front_end.read(0).value();
  EXPECT_GE(first, 1000u);
  for (unsigned event = 1; event < 8; ++event)
    EXPECT_EQ(bench.front_end.read(event).value(), first);
}

TEST(FrontEnd, RefusesWhatTheUnitCannotCount) {
  Bench bench({8, 4, 6, 20, 8, 4});
  EXPECT_THAT(bench.front_end.select(32, Mode::high).error().why, HasSubstr("events 0 to 31"));
  ASSERT_TRUE(bench.front_end.select(3, Mode::high));
  EXPECT_THAT(bench.front_end.select(11, Mode::high).error().why,
              HasSubstr("counter 3 counts event 3 already"));
  EXPECT_FALSE(bench.front_end.read(4).has_value());
  EXPECT_FALSE(bench.front_end.read(8).has_value());
  EXPECT_FALSE(bench.front_end.set_threshold(3, 0, {}).has_value());
  EXPECT_FALSE(bench.front_end.set_threshold(3, (1u << 26) + 1, {}).has_value());
  EXPECT_TRUE(bench.front_end.set_threshold(3, 1u << 26, {}).has_value());
  ASSERT_TRUE(bench.front_end.start());
  EXPECT_THAT(bench.front_end.set_threshold(3, 10, {}).error().why, HasSubstr("is counting"));
}

TEST(FrontEnd, TellsAParityErrorOnceWithItsCounter) {
  Bench bench({8, 4, 6, 20, 8, 4});
  bench.unit.flip(Unit::Memory::thresholds, 5, 3);
  for (int cycle = 0; cycle < 200; ++cycle) bench.unit.step(bench.lines.words());
  EXPECT_TRUE(bench.unit.pins().interrupt);
  const auto told = bench.front_end.handle_interrupts().value();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->counter, 5u);
  EXPECT_TRUE(told->in_thresholds);
  EXPECT_FALSE(told->in_counters);
  ASSERT_TRUE(bench.front_end.select(5, Mode::high));
  EXPECT_TRUE(bench.front_end.read(5).has_value()) << "the counter itself is sound";
}

// A thread reads counters while another clocks the unit. One counter counts every cycle, another
// every other cycle: each read must fit between the cycles before and after it.
TEST(SharedBus, AMonitoringThreadReadsConsistentValuesWhileTheUnitCounts) {
  const Geometry sizes{8, 4, 6, 30, 8, 4};
  Unit unit(sizes);
  Lines lines(sizes);
  SharedBus bus(unit);
  std::atomic<bool> done = false;
  std::thread monitor([&] {
    auto front_end = FrontEnd::initialise(bus).value();
    const unsigned all = front_end.select(0, Mode::low).value();
    const unsigned half = front_end.select(1, Mode::rising).value();
    EXPECT_TRUE(front_end.start());
    std::uint64_t cycles = 0;
    std::uint64_t edges = 0;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t edges_now = front_end.read(half).value();
      const std::uint64_t cycles_now = front_end.read(all).value();
      EXPECT_GE(edges_now, edges);
      EXPECT_GT(cycles_now, cycles);
      EXPECT_LE(edges_now, cycles_now / 2 + 1);
      EXPECT_GE(edges_now, cycles / 2);  // read later than the cycles before
      cycles = cycles_now;
      edges = edges_now;
    }
    done = true;
  });
  for (bool level = false; !done; level = !level) {
    lines.set(1, level);
    bus.step(lines.words());
  }
  monitor.join();
  bus.close();
  EXPECT_FALSE(bus.read(kControlAddress).has_value());
}

}  // namespace
}  // namespace loft::upc
