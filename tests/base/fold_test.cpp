#include "base/fold.hpp"

#include <gtest/gtest.h>

namespace loft {
namespace {

TEST(Fold, LeavesWhatFits) {
  EXPECT_EQ(folded("", 10), "");
  EXPECT_EQ(folded("0123456789\n\nabc", 10), "0123456789\n\nabc");
}

TEST(Fold, GoesOnBelowTheLastField) {
  EXPECT_EQ(folded("ok   seccomp   no filter at all is here\nnext\n", 26),
            "ok   seccomp   no filter\n"
            "               at all is\n"
            "               here\n"
            "next\n");
}

TEST(Fold, IndentsWhereThereIsOneField) {
  EXPECT_EQ(folded("note: aaaa bbbb cccc dddd", 12), "note: aaaa\n    bbbb\n    cccc\n    dddd");
}

TEST(Fold, FieldFarToTheRightIsNoPlaceToGoOn) {
  EXPECT_EQ(folded("aaaaaaaaaaaaaaaaaaaa  bb cc", 24), "aaaaaaaaaaaaaaaaaaaa  bb\n    cc");
}

TEST(Fold, WordThatDoesNotFitStaysWhole) {
  EXPECT_EQ(folded("/a/path/that/is/long and more", 10), "/a/path/that/is/long\n    and\n    more");
  EXPECT_EQ(folded("/a/path/that/is/long", 10), "/a/path/that/is/long");
  EXPECT_EQ(folded("   0123456789ab", 10), "   0123456789ab");
}

TEST(Fold, CountsCharactersAndNoColours) {
  EXPECT_EQ(folded("äöüäöüäö äö", 11), "äöüäöüäö äö");
  EXPECT_EQ(folded("\x1b[31mabcdefgh\x1b[0m ij", 11), "\x1b[31mabcdefgh\x1b[0m ij");
  EXPECT_EQ(folded("\x1b[31mabcdefgh\x1b[0m ij", 10), "\x1b[31mabcdefgh\x1b[0m\n    ij");
}

TEST(Fold, EndsOnNarrowPlacesAndEndlessBlanks) {
  EXPECT_EQ(folded("a b", 1), "a\nb");
  EXPECT_EQ(folded("          ", 4), "          ");
  EXPECT_EQ(folded("ab\x1b[", 1), "ab\x1b[");
}

}  // namespace
}  // namespace loft
