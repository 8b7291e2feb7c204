#include "core/tlb.hpp"

#include <gtest/gtest.h>

#include <list>
#include <random>

namespace loft::core {
namespace {

constexpr TlbGeometry kSmall{.itlb = {4, 4}, .dtlb = {4, 4}, .second = {16, 4}};

TEST(Tlb, LargePagesTakeOneEntry) {
  Tlb tlb(kSmall);
  tlb.pages().add(0, 4 << 20, 21);
  for (std::uint64_t at = 0; at < 4 << 20; at += 4096) tlb.data(at, 8);
  EXPECT_EQ(tlb.counts().walks, 2u);
  EXPECT_EQ(tlb.data(4 << 20, 8).served, Translation::walk);
}

TEST(Tlb, PagesOfDifferentSizeWithOneNumberAreDifferent) {
  Tlb tlb(kSmall);
  tlb.pages().add(0x200000, 0x400000, 21);
  tlb.data(0x1000, 8);                                         // page 1 of 4 KiB
  EXPECT_EQ(tlb.data(0x200000, 8).served, Translation::walk);  // page 1 of 2 MiB
}

TEST(Tlb, TranslatesEachPageOfARange) {
  Tlb tlb(kSmall);
  EXPECT_EQ(tlb.data(4090, 8).served, Translation::walk);
  EXPECT_EQ(tlb.counts().walks, 2u);
  tlb.data(1 << 20, 10 * 4096);
  EXPECT_EQ(tlb.counts().walks, 12u);
  tlb.data(~std::uint64_t{0} - 7, 8);  // the last page of all ends
  EXPECT_EQ(tlb.counts().walks, 13u);
}

TEST(Tlb, CodeAndDataShareTheSecondLevel) {
  Tlb tlb(kSmall);
  EXPECT_EQ(tlb.data(0, 8).served, Translation::walk);
  EXPECT_EQ(tlb.fetch(0, 4).served, Translation::second);
  EXPECT_EQ(tlb.fetch(0, 4).served, Translation::first);
}

TEST(Tlb, WithoutASecondLevelEveryMissWalks) {
  Tlb tlb({.itlb = {4, 4}, .dtlb = {4, 4}});
  for (int pass = 0; pass < 2; ++pass)
    for (std::uint64_t page = 0; page < 5; ++page) tlb.data(page * 4096, 8);
  EXPECT_EQ(tlb.counts().walks, 10u);
}

TEST(Tlb, FirstTouchesAfterWarmUpAreUnknown) {
  Tlb tlb(kSmall);
  tlb.start_warm_up(Cache::Keep::nothing);
  const Translated first = tlb.data(0, 8);
  EXPECT_TRUE(first.is_unknown());
  EXPECT_EQ(first.nearest, Translation::first);
  EXPECT_EQ(tlb.counts().walks, 0u);
  EXPECT_EQ(tlb.counts().unknown_walks, 1u);
}

TEST(Tlb, AgreesWithPlainListsOnEveryAccess) {
  Tlb tlb({.itlb = {4, 4}, .dtlb = {8, 8}, .second = {32, 32}});
  std::list<std::uint64_t> first, second;
  const auto use = [](std::list<std::uint64_t>& recent, std::size_t size, std::uint64_t page) {
    const bool is_hit = std::find(recent.begin(), recent.end(), page) != recent.end();
    recent.remove(page);
    recent.push_front(page);
    if (recent.size() > size) recent.pop_back();
    return is_hit;
  };
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t page = random() % (random() % 2 ? 10 : 60);
    const Translation expected = use(first, 8, page)     ? Translation::first
                                 : use(second, 32, page) ? Translation::second
                                                         : Translation::walk;
    ASSERT_EQ(tlb.data(page * 4096 + 5, 4).served, expected) << i;
  }
}

// 80 pages in turn where 64 have room. Under LRU each has left when it is wanted again. Where a
// random one leaves, m of them are walks: it stays with (1 - 1/16)^(20 m), so that m is 0.38.
TEST(Tlb, WhereARandomPageLeavesSomeStay) {
  for (const auto& [policy, walks] :
       {std::pair{Replacement::lru, 1.0}, {Replacement::random, 0.38}}) {
    Tlb tlb({.itlb = {4, 4}, .dtlb = {4, 4}, .second = {64, 16, policy}});
    constexpr int kRounds = 400;
    for (int round = 0; round < kRounds; ++round)
      for (std::uint64_t page = 0; page < 80; ++page) tlb.data(page << 12, 8);
    EXPECT_NEAR(static_cast<double>(tlb.counts().walks) / (80 * kRounds), walks, 0.04);
  }
}

TEST(PageMap, LaterRangesWin) {
  PageMap map;
  map.add(0x100000, 0x900000, 21);
  map.add(0x300000, 0x500000, 12);
  map.add(0x400000, 0x450000, 30);
  EXPECT_EQ(map.shift_of(0), 12);
  EXPECT_EQ(map.shift_of(0x2fffff), 21);
  EXPECT_EQ(map.shift_of(0x300000), 12);
  EXPECT_EQ(map.shift_of(0x440000), 30);
  EXPECT_EQ(map.shift_of(0x450000), 12);
  EXPECT_EQ(map.shift_of(0x500000), 21);
  EXPECT_EQ(map.shift_of(0x900000), 12);
  map.add(5, 5, 21);
  map.add(0, 10, 3);
  EXPECT_EQ(map.shift_of(5), 12);
}

TEST(TlbGeometry, RefusesWhatCannotBe) {
  EXPECT_TRUE(check(kSmall));
  EXPECT_FALSE(check(TlbGeometry{.itlb = {4, 3}, .dtlb = {4, 4}}));
  EXPECT_FALSE(check(TlbGeometry{.itlb = {4, 0}, .dtlb = {4, 4}}));
  EXPECT_FALSE(check(TlbGeometry{.itlb = {4, 4}, .dtlb = {1u << 30, 1024}}));
}

}  // namespace
}  // namespace loft::core
