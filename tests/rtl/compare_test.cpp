// The hardware equals the model in every cycle. Three units: one whose state machine has no cycle
// to spare, one with odd sizes, one with more counters than a word has bits.
#include <gtest/gtest.h>

#include "Vupc_odd.h"
#include "Vupc_odd___024root.h"
#include "Vupc_tight.h"
#include "Vupc_tight___024root.h"
#include "Vupc_wide.h"
#include "Vupc_wide___024root.h"
#include "rtl/simulation.hpp"
#include "upc/front_end.hpp"

namespace loft::upc {
namespace {

// As in CMakeLists.txt.
struct Tight {
  using Top = Vupc_tight;
  static constexpr Geometry kSizes{8, 4, 5, 6, 4, 4};
};
struct Odd {
  using Top = Vupc_odd;
  static constexpr Geometry kSizes{3, 3, 6, 9, 7, 2};
};
struct Wide {
  using Top = Vupc_wide;
  static constexpr Geometry kSizes{70, 2, 9, 12, 5, 8};
};

template <class Size>
struct Hardware : testing::Test {};
using Sizes = testing::Types<Tight, Odd, Wide>;
TYPED_TEST_SUITE(Hardware, Sizes);

TYPED_TEST(Hardware, HasTheSizesThatItWasBuiltWith) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  SimulationBus<typename TypeParam::Top> bus(simulation);
  EXPECT_EQ(bus.read(kGeometryAddress).value(), geometry_word(TypeParam::kSizes));
}

TYPED_TEST(Hardware, EqualsTheModelUnderRandomStimuli) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  RandomPlay<typename TypeParam::Top> play(simulation, 1);
  const unsigned cycles = 60'000 / TypeParam::kSizes.counters;
  play.run(cycles, 0.5, 0.1, 0);
  play.run(cycles, 0.95, 0.5, 0);
  play.run(cycles, 0.95, 0.02, 0);
  play.run(cycles, 0.05, 1, 0);
}

TYPED_TEST(Hardware, EqualsTheModelWhenBitsFlip) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  RandomPlay<typename TypeParam::Top> play(simulation, 2);
  play.run(60'000 / TypeParam::kSizes.counters, 0.9, 0.2, 0.01);
}

TYPED_TEST(Hardware, EqualsTheModelInTheWorstCase) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  play_worst_case(simulation, TypeParam::kSizes.counters > 64 ? 6 : 40);
}

// The software of the model drives the hardware.
TYPED_TEST(Hardware, AThresholdIsHandledAtItsCount) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  SimulationBus<typename TypeParam::Top> bus(simulation);
  auto front_end = FrontEnd::initialise(bus).value();
  const unsigned counter = front_end.select(2, Mode::high).value();
  std::uint64_t handled = 0;
  ASSERT_TRUE(front_end.set_threshold(counter, 77,
                                      [&](const Reached& reached) { handled = reached.count; }));
  ASSERT_TRUE(front_end.start());
  simulation.set_line(2, true);
  unsigned cycles = 0;
  for (; !simulation.pins().interrupt && cycles < 1000; ++cycles) simulation.step();
  EXPECT_EQ(cycles, 77u);
  ASSERT_TRUE(front_end.handle_interrupts());
  EXPECT_EQ(handled, 77u);
}

}  // namespace
}  // namespace loft::upc
