// The table of mnemonics is complete: each is named exactly once.
#include "engine/classify/mnemonics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::engine {
namespace {

TEST(Mnemonics, AreAllInTheTable) {
  for (int i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i) {
    const auto mnemonic = static_cast<ZydisMnemonic>(i);
    EXPECT_TRUE(facts_of(mnemonic).is_listed) << ZydisMnemonicGetString(mnemonic);
  }
}

TEST(Mnemonics, TableNamesNothingElseAndNothingTwice) {
  EXPECT_THAT(unknown_names(), testing::IsEmpty());
}

// The table is filled by binary search.
TEST(Mnemonics, AreInAlphabeticalOrder) {
  for (int i = 2; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i)
    EXPECT_LT(std::string_view(ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i - 1))),
              std::string_view(ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i))));
}

TEST(Mnemonics, PatternExpandsToEveryChoice) {
  std::vector<std::string> names;
  const auto keep = [](std::string_view name, void* context) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(name);
  };
  expand_names("(v)add{ps,pd}", keep, &names);
  EXPECT_THAT(names, testing::ElementsAre("addps", "addpd", "vaddps", "vaddpd"));
  names.clear();
  expand_names("x{,y}", keep, &names);
  EXPECT_THAT(names, testing::ElementsAre("x", "xy"));
}

TEST(Mnemonics, SuffixGivesPrecisionAndWhetherItIsScalar) {
  EXPECT_EQ(facts_of(ZYDIS_MNEMONIC_ADDSD).precision, Precision::double_);
  EXPECT_TRUE(facts_of(ZYDIS_MNEMONIC_ADDSD).is_scalar);
  EXPECT_EQ(facts_of(ZYDIS_MNEMONIC_VADDPH).precision, Precision::half);
  EXPECT_FALSE(facts_of(ZYDIS_MNEMONIC_VADDPH).is_scalar);
  EXPECT_EQ(facts_of(ZYDIS_MNEMONIC_VDPBF16PS).precision, Precision::bfloat16);
  EXPECT_TRUE(facts_of(ZYDIS_MNEMONIC_VCVTTSD2USI).is_scalar);
  EXPECT_FALSE(facts_of(ZYDIS_MNEMONIC_CVTPS2PD).is_scalar);
}

}  // namespace
}  // namespace loft::engine
