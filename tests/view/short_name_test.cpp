#include "view/short_name.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace loft::view {
namespace {

TEST(ShortName, LeavesOutWhatSaysLittle) {
  EXPECT_EQ(short_name("(anonymous namespace)::triad", 30), "triad");
  EXPECT_EQ(short_name("libm.so.6+0x1230 [0123456789abcdef]", 30), "libm.so.6+0x1230");
}

TEST(ShortName, KeepsTheEndOfALongName) {
  EXPECT_EQ(short_name("abcdefghijklmnopqrstuvwxyz", 12), "abcd...vwxyz");
  EXPECT_EQ(shortened("abcdefghijklmnopqrstuvwxyz", 12), "abcdefghi...");
}

TEST(ShortName, NeverCutsALetterInTwo) {
  const std::string umlauts = "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4";
  for (std::size_t width = 4; width < umlauts.size(); ++width) {
    EXPECT_EQ(printable(short_name(umlauts, width)), short_name(umlauts, width)) << width;
    EXPECT_EQ(printable(shortened(umlauts, width)), shortened(umlauts, width)) << width;
  }
}

}  // namespace
}  // namespace loft::view
