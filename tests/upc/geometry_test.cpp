#include "upc/geometry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::upc {
namespace {

using testing::HasSubstr;

TEST(Geometry, BlueGeneFitsToTheCycle) {
  const Geometry sizes;
  EXPECT_TRUE(check(sizes).has_value());
  EXPECT_EQ(sizes.events(), 1024u);
  EXPECT_EQ(sizes.round(), sizes.carry_period());
}

TEST(Geometry, RefusesAStateMachineThatComesTooLateWithTheArithmetic) {
  Geometry sizes;
  sizes.counters = 257;
  const auto refused = check(sizes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().why, HasSubstr("257 counters x 16 cycles a word = 4112 cycles"));
  EXPECT_THAT(refused.error().why, HasSubstr("2^12 = 4096"));
  EXPECT_THAT(refused.error().hint, HasSubstr("at least 13 low bits"));
  sizes.low_bits = 13;
  sizes.high_bits = 51;
  EXPECT_TRUE(check(sizes).has_value());
}

TEST(Geometry, RefusesAVisitThatLeavesNoCycleForTheBus) {
  Geometry sizes;
  sizes.cycles_per_word = 3;
  const auto refused = check(sizes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().why, HasSubstr("+ 1 for the bus = 4, and each word has 3"));
}

TEST(Geometry, RefusesCountersWiderThanARegister) {
  Geometry sizes;
  sizes.high_bits = 53;
  const auto refused = check(sizes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().why, HasSubstr("12 low + 53 high = 65 bits"));
}

TEST(Geometry, RefusesSizesOutOfRange) {
  for (unsigned Geometry::*size :
       {&Geometry::counters, &Geometry::inputs, &Geometry::low_bits, &Geometry::high_bits,
        &Geometry::cycles_per_word, &Geometry::group}) {
    Geometry sizes;
    sizes.*size = 0;
    EXPECT_FALSE(check(sizes).has_value());
    sizes.*size = ~0u;
    EXPECT_FALSE(check(sizes).has_value());
  }
}

TEST(Geometry, IsReadBackFromItsRegister) {
  const Geometry sizes{100, 3, 9, 40, 5, 7};
  ASSERT_TRUE(check(sizes).has_value());
  const auto read = geometry_of_word(geometry_word(sizes));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, sizes);
  EXPECT_FALSE(geometry_of_word(0).has_value());
  EXPECT_FALSE(geometry_of_word(geometry_word({257, 4, 12, 52, 16, 4})).has_value());
}

TEST(Geometry, SetupsAreReadBackFromTheirBits) {
  for (unsigned bits = 0; bits < 256; ++bits) EXPECT_EQ(setup_bits(setup_of_bits(bits)), bits);
}

}  // namespace
}  // namespace loft::upc
