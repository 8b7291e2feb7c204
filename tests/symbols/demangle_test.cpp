#include "symbols/demangle.hpp"

#include <gtest/gtest.h>

namespace loft::symbols {
namespace {

TEST(Demangle, ReadsCpp) {
  EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar");
  EXPECT_EQ(demangle("_ZN3foo3barEi", NameStyle::parameters), "foo::bar(int)");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back");
}

TEST(Demangle, ReadsBothSchemesOfRust) {
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNvMs_NtCs1_5crate4typeNtB4_5Thing3new"), "<crate::type::Thing>::new");
}

TEST(Demangle, ReadsD) {
  EXPECT_EQ(demangle("_D3std5stdio7writelnFZv", NameStyle::parameters), "std.stdio.writeln()");
  EXPECT_EQ(demangle("_Dmain"), "D main");
}

TEST(Demangle, KeepsWhatTheLinkerAdded) {
  EXPECT_EQ(demangle("_ZN3foo3barEi@plt"), "foo::bar@plt");
  EXPECT_EQ(demangle("_ZN3foo3barEi.cold", NameStyle::parameters), "foo::bar(int) [clone .cold]");
}

TEST(Demangle, LeavesPlainNamesAlone) {
  for (const char* name : {"main", "_start", "_Rust", "_DYNAMIC", "", "_Z", "_ZN", "?foo"})
    EXPECT_EQ(demangle(name), "") << name;
  EXPECT_EQ(demangle("_ZN3foo3barEi", NameStyle::mangled), "");
}

TEST(Demangle, ReadsTheLongNamesOfTemplates) {
  std::string name = "_Z1fI";
  for (int i = 0; i < 500; ++i) name += "2ab";
  name += "Evv";
  EXPECT_EQ(demangle(name).substr(0, 9), "f<ab, ab,");
}

TEST(Demangle, GivesUpOnANameThatStandsForTerabytes) {
  // Each S?_ repeats all that was before it: pairs of pairs of pairs.
  std::string name = "_Z1fI1A";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  name += "1PIS_S_E";
  for (int i = 0; i < 34; ++i) {
    const std::string last = std::string("S") + digits[static_cast<std::size_t>(i + 1)] + "_";
    name += "S0_I" + last + last + "E";
  }
  name += "Evv";
  EXPECT_LE(demangle(name).size(), 65536u);
}

TEST(Demangle, SurvivesDeepNesting) {
  for (const char* piece : {"P", "N", "F", "I", "X", "DpT_", "S_", "L_Z"}) {
    std::string name = "_Z1f";
    while (name.size() < 8000) name += piece;
    EXPECT_LE(demangle(name, NameStyle::parameters).size(), 65536u) << piece;
  }
  std::string rust = "_RNvC1a";
  std::string d = "_D1a";
  while (rust.size() < 8000) rust += "Nv";
  while (d.size() < 8000) d += "PG9";
  EXPECT_LE(demangle(rust).size(), 65536u);
  EXPECT_LE(demangle(d).size(), 1u << 20);
}

}  // namespace
}  // namespace loft::symbols
