#include "sample/address_space.hpp"

#include <gtest/gtest.h>

#include <random>

namespace loft::sample {
namespace {

TEST(AddressSpaces, AnOlderVersionKeepsWhatItHad) {
  AddressSpaces spaces;
  const auto first = spaces.map(AddressSpaces::kEmpty, {0x1000, 0x2000, 1});
  const auto second = spaces.map(first, {0x1400, 0x1800, 2});
  EXPECT_EQ(spaces.find(first, 0x1500), 1u);
  EXPECT_EQ(spaces.find(second, 0x1500), 2u);
  EXPECT_EQ(spaces.find(second, 0x13FF), 1u);
  EXPECT_EQ(spaces.find(second, 0x1800), 1u);
  EXPECT_EQ(spaces.find(second, 0x2000), AddressSpaces::kNothing);
  EXPECT_EQ(spaces.find(AddressSpaces::kEmpty, 0x1500), AddressSpaces::kNothing);
}

TEST(AddressSpaces, ANewMappingCoversSeveralOldOnes) {
  AddressSpaces spaces;
  auto root = AddressSpaces::kEmpty;
  for (std::uint32_t i = 0; i < 10; ++i) root = spaces.map(root, {i * 16, i * 16 + 16, i});
  root = spaces.map(root, {24, 136, 99});
  EXPECT_EQ(spaces.find(root, 23), 1u);
  EXPECT_EQ(spaces.find(root, 24), 99u);
  EXPECT_EQ(spaces.find(root, 135), 99u);
  EXPECT_EQ(spaces.find(root, 136), 8u);
}

TEST(AddressSpaces, AgreesWithAPlainTableOverRandomMappings) {
  constexpr std::uint64_t kSize = 256;
  std::mt19937 random(7);
  AddressSpaces spaces;
  std::vector<std::vector<std::uint32_t>> tables = {
      std::vector<std::uint32_t>(kSize, AddressSpaces::kNothing)};
  std::vector<AddressSpaces::Root> roots = {AddressSpaces::kEmpty};
  for (std::uint32_t step = 0; step < 400; ++step) {
    const std::uint64_t start = random() % kSize;
    const std::uint64_t end = start + random() % (kSize - start + 1);
    auto table = tables.back();
    for (auto at = start; at < end; ++at) table[at] = step;
    tables.push_back(table);
    roots.push_back(spaces.map(roots.back(), {start, end, step}));
  }
  for (std::size_t version = 0; version < roots.size(); ++version)
    for (std::uint64_t at = 0; at < kSize; ++at)
      ASSERT_EQ(spaces.find(roots[version], at), tables[version][at]) << version << " " << at;
}

}  // namespace
}  // namespace loft::sample
