#include "upc/unit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "upc/ideal.hpp"

namespace loft::upc {
namespace {

// Random lines, random accesses; an ideal counter of full width beside each counter.
class Comparison {
 public:
  explicit Comparison(const Geometry& sizes, std::uint64_t seed)
      : sizes_(sizes), unit_(sizes), ideal_(sizes.counters), lines_(sizes), random_(seed) {
    wait_until_ready(unit_, lines_);
    for (unsigned counter = 0; counter < sizes.counters; ++counter) {
      // The unit has seen low lines on every input while it cleared its memories.
      ideal_[counter].step(sizes_, counter, lines_, false);
    }
  }

  void run(unsigned cycles, double density, double traffic) {
    std::bernoulli_distribution accesses(traffic);
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
      lines_.fill(random_, density);
      BusRequest request;
      if (accesses(random_)) request = any_request();
      step(request);
    }
  }

 private:
  std::uint64_t draw(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }

  BusRequest any_request() {
    const auto counter = static_cast<unsigned>(draw(sizes_.counters));
    switch (draw(6)) {
      case 0:
        return {true, true, counter_address(sizes_, counter), random_()};
      case 1:
        return {true, true, configuration_address(sizes_, counter), random_()};
      case 2:
        return {true, true, kControlAddress, std::uint64_t{draw(4) != 0}};
      case 3:
        return {true, true, threshold_address(sizes_, counter), random_()};
      default:
        return {true, false, counter_address(sizes_, counter), 0};
    }
  }

  void step(const BusRequest& request) {
    const bool taken = request.valid && unit_.pins().ready;
    expected_.push_back(taken ? expected_answer(request) : Expected{});
    unit_.step(lines_.words(), request);
    for (unsigned counter = 0; counter < sizes_.counters; ++counter)
      ideal_[counter].step(sizes_, counter, lines_, run_);
    if (taken && request.write) write_ideal(request);
    for (unsigned counter = 0; counter < sizes_.counters; ++counter)
      RC_ASSERT(unit_.value(counter) == ideal_[counter].value());
    if (expected_.size() > 1) {
      RC_ASSERT(unit_.pins().response == expected_.front().answers);
      if (expected_.front().answers) RC_ASSERT(unit_.pins().data == expected_.front().data);
      expected_.pop_front();
    }
  }

  struct Expected {
    bool answers = false;
    std::uint64_t data = 0;
  };
  Expected expected_answer(const BusRequest& request) {
    if (request.write) return {true, 0};
    return {true, ideal_[request.address - counter_address(sizes_, 0)].value()};
  }

  void write_ideal(const BusRequest& request) {
    const unsigned region = request.address / region_words(sizes_);
    const unsigned index = request.address % region_words(sizes_);
    if (region == 0) run_ = request.data == 1;
    if (region == 1) ideal_[index].write(request.data & sizes_.value_mask());
    if (region != 3) return;
    for (unsigned field = 0; field < sizes_.group; ++field)
      if (const unsigned counter = index * sizes_.group + field; counter < sizes_.counters)
        ideal_[counter].configure(setup_of_bits(request.data >> 8 * field & 0xFF));
  }

  Geometry sizes_;
  Unit unit_;
  std::vector<IdealCounter> ideal_;
  Lines lines_;
  std::mt19937_64 random_;
  std::deque<Expected> expected_;
  bool run_ = false;
};

RC_GTEST_PROP(Unit, EqualsIdealCountersInEveryCycleAndEveryRead, ()) {
  Comparison comparison(any_geometry(), *rc::gen::arbitrary<std::uint64_t>());
  for (const double density : {0.5, 0.95, 0.02})
    comparison.run(*rc::gen::inRange(1u, 400u), density, *rc::gen::element(0.01, 0.2, 0.9));
}

RC_GTEST_PROP(Unit, LosesNothingAtOneEventPerCycleOnAllCounters, ()) {
  const Geometry sizes = tightest_geometry();
  Unit unit(sizes);
  Lines lines(sizes);
  lines.set_all(true);
  wait_until_ready(unit, lines);
  std::uint64_t high_level = 0;
  for (unsigned field = 0; field < sizes.group; ++field)
    high_level |= setup_bits({Mode::high, 0, false}) << 8 * field;
  for (unsigned group = 0; group < groups(sizes); ++group) {
    wait_until_ready(unit, lines);
    unit.step(lines.words(),
              {true, true, configuration_address(sizes, group * sizes.group), high_level});
  }
  // Each counter begins somewhere else, so that carries fall into every phase of the visits.
  std::vector<std::uint64_t> begin(sizes.counters);
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    begin[counter] = *rc::gen::inRange<std::uint64_t>(0, sizes.carry_period());
    wait_until_ready(unit, lines);
    unit.step(lines.words(), {true, true, counter_address(sizes, counter), begin[counter]});
  }
  wait_until_ready(unit, lines);
  unit.step(lines.words(), {true, true, kControlAddress, 1});
  const auto cycles = *rc::gen::inRange<std::uint64_t>(1, 8 * sizes.carry_period());
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) unit.step(lines.words());
  for (unsigned counter = 0; counter < sizes.counters; ++counter)
    RC_ASSERT(unit.value(counter) == ((begin[counter] + cycles) & sizes.value_mask()));
}

// Any bit of either memory, upset at any moment while the unit counts.
RC_GTEST_PROP(Unit, ReportsAFlippedBitWithinARound, ()) {
  const Geometry sizes = any_geometry();
  Unit unit(sizes);
  Lines lines(sizes);
  wait_until_ready(unit, lines);
  unit.step(lines.words(), {true, true, kControlAddress, 1});
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  for (unsigned cycle = *rc::gen::inRange(0u, 500u); cycle > 0; --cycle) {
    lines.fill(random, 0.5);
    unit.step(lines.words());
  }
  RC_ASSERT(unit.status() == 0u);

  const unsigned victim = *rc::gen::inRange(0u, sizes.counters);
  const unsigned bit = *rc::gen::inRange(0u, sizes.high_bits + 1);
  const bool in_thresholds = *rc::gen::arbitrary<bool>();
  const std::uint64_t before = unit.value(victim);
  unit.flip(in_thresholds ? Unit::Memory::thresholds : Unit::Memory::counters, victim, bit);
  // The lines rest: a write of the state machine that was on its way may repair the word.
  lines.set_all(lines.get(victim));
  for (std::uint64_t cycle = 0; cycle < sizes.round() + 3; ++cycle) unit.step(lines.words());
  if (!in_thresholds && unit.status() == 0) {
    RC_ASSERT(unit.value(victim) - before <= 1);
    return;
  }
  const std::uint64_t flag = in_thresholds ? kThresholdParityError : kCounterParityError;
  RC_ASSERT(unit.status() == (flag | std::uint64_t{victim} << kStatusIndexShift));
  RC_ASSERT(unit.pins().interrupt);
}

// Sums that are added at once, beside a unit whose line is high for as many cycles.
RC_GTEST_PROP(Unit, AddsSumsAsIfTheyWereCounted, ()) {
  const Geometry sizes = any_geometry();
  Unit added(sizes);
  Unit stepped(sizes);
  Lines none(sizes);
  Lines lines(sizes);
  const unsigned counter = *rc::gen::inRange(0u, sizes.counters);
  lines.set(counter, true);
  const auto write = [&](unsigned address, std::uint64_t data) {
    for (Unit* unit : {&added, &stepped}) {
      wait_until_ready(*unit, none);
      unit->step(none.words(), {true, true, address, data});
      unit->step(none.words());
    }
  };
  std::uint64_t high_level = 0;
  for (unsigned field = 0; field < sizes.group; ++field)
    high_level |= setup_bits({Mode::high, 0, true}) << 8 * field;
  write(configuration_address(sizes, counter), high_level);
  write(threshold_address(sizes, counter), *rc::gen::arbitrary<std::uint64_t>());
  write(counter_address(sizes, counter), *rc::gen::arbitrary<std::uint64_t>());
  write(kControlAddress, 1);
  for (int i = 0; i < 6; ++i) {
    const auto events = *rc::gen::inRange<std::uint64_t>(0, 3 * sizes.carry_period());
    added.add(counter, events);
    for (std::uint64_t cycle = 0; cycle < events; ++cycle) stepped.step(lines.words());
    for (std::uint64_t cycle = 0; cycle < sizes.round() + 4; ++cycle) stepped.step(none.words());
    RC_ASSERT(added.value(counter) == stepped.value(counter));
    RC_ASSERT(added.pending(counter) == stepped.pending(counter));
    RC_ASSERT(added.armed(counter) == stepped.armed(counter));
  }
}

TEST(Unit, AnUpsetCounterStaysMarkedWhileItCountsUntilItIsWritten) {
  const Geometry sizes{2, 1, 4, 8, 8, 2};
  ASSERT_TRUE(check(sizes).has_value());
  Unit unit(sizes);
  Lines lines(sizes);
  wait_until_ready(unit, lines);
  unit.step(lines.words(), {true, true, configuration_address(sizes, 0), 0x0303});  // low level
  unit.step(lines.words(), {true, true, kControlAddress, 1});
  unit.flip(Unit::Memory::counters, 1, 5);
  const auto error_of_read = [&] {
    wait_until_ready(unit, lines);
    unit.step(lines.words(), {true, false, counter_address(sizes, 1), 0});
    unit.step(lines.words());
    EXPECT_TRUE(unit.pins().response);
    return unit.pins().error;
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(error_of_read(), BusError::parity);
    for (unsigned cycle = 0; cycle < 50; ++cycle) unit.step(lines.words());  // carries are added
  }
  wait_until_ready(unit, lines);
  unit.step(lines.words(), {true, true, counter_address(sizes, 1), 0});
  EXPECT_EQ(error_of_read(), BusError::none);
}

TEST(Unit, TellsAddressesThatAreNotThere) {
  const Geometry sizes{3, 2, 4, 8, 5, 2};
  ASSERT_TRUE(check(sizes).has_value());
  Unit unit(sizes);
  const Lines lines(sizes);
  const auto error_of = [&](unsigned address, bool write) {
    wait_until_ready(unit, lines);
    unit.step(lines.words(), {true, write, address, 0});
    unit.step(lines.words());
    return unit.pins().error;
  };
  for (const unsigned there : {0u, 1u, 2u, 8u, 16u, 18u, 32u, 34u, 48u, 49u})
    EXPECT_EQ(error_of(there, false), BusError::none) << there;
  for (const unsigned not_there : {3u, 7u, 9u, 19u, 31u, 35u, 50u, 63u, 64u, 1u << 31})
    EXPECT_EQ(error_of(not_there, false), BusError::address) << not_there;
  EXPECT_EQ(error_of(kGeometryAddress, true), BusError::address);
}

TEST(Unit, CountsEdgesAndLevelsOfTheChosenInput) {
  const Geometry sizes{4, 2, 6, 10, 8, 4};
  ASSERT_TRUE(check(sizes).has_value());
  Unit unit(sizes);
  Lines lines(sizes);
  wait_until_ready(unit, lines);
  std::uint64_t word = 0;  // all counters look at their second input, each in another mode
  for (unsigned counter = 0; counter < 4; ++counter)
    word |= setup_bits({static_cast<Mode>(counter), 1, false}) << 8 * counter;
  unit.step(lines.words(), {true, true, configuration_address(sizes, 0), word});
  unit.step(lines.words(), {true, true, kControlAddress, 1});
  for (const bool level : {false, true, true, true, false, true, false, false, false, false}) {
    for (unsigned counter = 0; counter < 4; ++counter) {
      lines.set(counter, !level);  // the other input must not matter
      lines.set(4 + counter, level);
    }
    unit.step(lines.words());
  }
  EXPECT_EQ(unit.value(0), 2u);  // rising
  EXPECT_EQ(unit.value(1), 2u);  // falling
  EXPECT_EQ(unit.value(2), 4u);  // high
  EXPECT_EQ(unit.value(3), 6u);  // low
}

}  // namespace
}  // namespace loft::upc
