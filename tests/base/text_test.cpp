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

TEST(Printable, EscapesEachByteOfASequenceThatIsCutOff) {
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xf0\x9f\x98"), "\\xf0\\x9f\\x98");
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
  EXPECT_EQ(printable("\xf0\x80\x80\x80"), "\\xf0\\x80\\x80\\x80") << "overlong";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Trim, TakesBlanksOfAllKindsFromBothEnds) {
  EXPECT_EQ(trim(" \t\r\n\v\fa b\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Join, PutsTheSeparatorBetweenPieces) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(ContainsIgnoringCase, FindsAWordAnywhere) {
  EXPECT_TRUE(contains_ignoring_case("L1-dcache-Loads", "DCACHE"));
  EXPECT_TRUE(contains_ignoring_case("abc", ""));
  EXPECT_FALSE(contains_ignoring_case("abc", "abcd"));
  EXPECT_EQ(to_lower("L1-DCache"), "l1-dcache");
}

TEST(ParseDouble, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_double("2.5e3"), 2500);
  EXPECT_EQ(parse_double("-1"), -1);
  for (const char* bad : {"", "1,5", "1 ", " 1", "0x10", "1e999", "one"})
    EXPECT_FALSE(parse_double(bad)) << bad;
}

TEST(ParseHex, TakesDigitsWithoutAPrefix) {
  EXPECT_EQ(parse_hex("FfffFFFFffffffff"), 0xffffffffffffffffu);
  for (const char* bad : {"", "0x1", "-1", "10000000000000000", "g"})
    EXPECT_FALSE(parse_hex(bad)) << bad;
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

TEST(Nearest, PutsTheNearestFirstAndEachOnce) {
  const std::vector<std::string> names{"loads", "load", "load", "load-misses", "stores"};
  EXPECT_EQ(nearest("load", names), (std::vector<std::string>{"load", "loads", "load-misses"}));
  EXPECT_EQ(nearest("load", names, 1).size(), 1u);
}

TEST(Nearest, IsNotAskedOfLongWords) {
  const std::vector<std::string> names{std::string(1000, 'a')};
  EXPECT_TRUE(nearest(std::string(1000, 'a'), names).empty());
  EXPECT_TRUE(nearest("a", names).empty());
}

}  // namespace
}  // namespace loft
