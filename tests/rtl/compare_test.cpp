// The hardware equals the model in every cycle. Three units: one whose state machine has no cycle
// to spare, one with odd sizes, one with more counters than a word has bits. Or, with
// LOFT_RTL_FULL, the one of Blue Gene/P: 256 counters, 1,024 events.
#include <gtest/gtest.h>

#ifdef LOFT_RTL_FULL
#include "Vupc_full.h"
#include "Vupc_full___024root.h"
#else
#include "Vupc_odd.h"
#include "Vupc_odd___024root.h"
#include "Vupc_tight.h"
#include "Vupc_tight___024root.h"
#include "Vupc_wide.h"
#include "Vupc_wide___024root.h"
#endif
#include "rtl/simulation.hpp"
#include "upc/front_end.hpp"

namespace loft::upc {
namespace {

// As in CMakeLists.txt.
#ifdef LOFT_RTL_FULL
struct Full {
  using Top = Vupc_full;
  static constexpr Geometry kSizes{};
};
using Sizes = testing::Types<Full>;
#else
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

using Sizes = testing::Types<Tight, Odd, Wide>;
#endif

// So that the state machine of a large unit comes by each word, too.
template <class Size>
constexpr unsigned kCycles = std::max<unsigned>(60'000 / Size::kSizes.counters,
                                                Size::kSizes.counters > 100 ? 8192 : 0);

template <class Size>
struct Hardware : testing::Test {};
TYPED_TEST_SUITE(Hardware, Sizes);

TYPED_TEST(Hardware, HasTheSizesThatItWasBuiltWith) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  SimulationBus<typename TypeParam::Top> bus(simulation);
  EXPECT_EQ(bus.read(kGeometryAddress).value(), geometry_word(TypeParam::kSizes));
}

TYPED_TEST(Hardware, EqualsTheModelUnderRandomStimuli) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  RandomPlay<typename TypeParam::Top> play(simulation, 1);
  const unsigned cycles = kCycles<TypeParam>;
  play.run(cycles, 0.5, 0.1, 0);
  play.run(cycles, 0.95, 0.5, 0);
  play.run(cycles, 0.95, 0.02, 0);
  play.run(cycles, 0.05, 1, 0);
}

TYPED_TEST(Hardware, EqualsTheModelWhenBitsFlip) {
  Simulation<typename TypeParam::Top> simulation(TypeParam::kSizes);
  RandomPlay<typename TypeParam::Top> play(simulation, 2);
  play.run(kCycles<TypeParam>, 0.9, 0.2, 0.01);
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
