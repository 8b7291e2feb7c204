#include "base/xml_text.hpp"

#include <gtest/gtest.h>

namespace loft {
namespace {

TEST(XmlText, LeavesNothingThatXmlReads) {
  EXPECT_EQ(xml_text("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
}

TEST(XmlText, HoldsNoControlCharacters) {
  EXPECT_EQ(xml_text(std::string_view("\x1b[31m\n\0x", 8)), "\\x1b[31m\\x0a\\x00x");
}

TEST(XmlText, LeavesOtherLettersAsTheyAre) { EXPECT_EQ(xml_text("größer → 3"), "größer → 3"); }

}  // namespace
}  // namespace loft
