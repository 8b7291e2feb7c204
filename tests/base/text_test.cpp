#include "base/text.hpp"

#include <gtest/gtest.h>

namespace loft {
namespace {

TEST(Printable, EscapesWhatCouldMoveTheCursorOrBreakTheLine) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "C1 CSI is a terminal escape too";
}

TEST(Printable, KeepsWellFormedUtf8AndEscapesTheRest) {
  EXPECT_EQ(printable("Gau\xc3\x9f"), "Gau\xc3\x9f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(split("", ',').size(), 1u);
}

TEST(ParseU64, TakesDecimalAndHexAndNothingElse) {
  EXPECT_EQ(parse_u64("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(parse_u64("0xff"), 255u);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x", "18446744073709551616", "12a"})
    EXPECT_FALSE(parse_u64(bad)) << bad;
}

TEST(Nearest, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names{"cycles", "instructions", "page-faults", "cpu-clock"};
  EXPECT_EQ(nearest("cylces", names).front(), "cycles");
  EXPECT_EQ(nearest("page_faults", names).front(), "page-faults");
  EXPECT_TRUE(nearest("zzzzzzzz", names).empty());
}

}  // namespace
}  // namespace loft
