#include "core/coherence.hpp"

#include <gtest/gtest.h>

namespace loft::core {
namespace {

TEST(Coherence, ReadersShareWithoutPassing) {
  Coherence coherence(64);
  for (std::uint32_t thread = 0; thread < 8; ++thread)
    EXPECT_FALSE(coherence.access(thread, 0x1000, 8, false).is_transfer);
  EXPECT_EQ(coherence.counts().transfers, 0u);
  EXPECT_TRUE(coherence.lines().empty());
}

TEST(Coherence, AStoreTakesTheLineFromAllReaders) {
  Coherence coherence(64);
  for (std::uint32_t thread = 0; thread < 4; ++thread) coherence.access(thread, 0, 8, false);
  const Sharing sharing = coherence.access(2, 0, 8, true);
  EXPECT_TRUE(sharing.is_invalidation);
  EXPECT_FALSE(sharing.is_transfer);
  EXPECT_EQ(sharing.invalidate, 0b1011u);
}

TEST(Coherence, AReaderLeavesTheWriterACleanCopy) {
  Coherence coherence(64);
  coherence.access(0, 0, 8, true);
  const Sharing sharing = coherence.access(1, 0, 8, false);
  EXPECT_TRUE(sharing.is_transfer);
  EXPECT_EQ(sharing.from, 0u);
  EXPECT_EQ(sharing.make_clean, 1u);
  EXPECT_EQ(sharing.invalidate, 0u);
  EXPECT_EQ(coherence.access(0, 0, 8, true).invalidate, 0b10u);
}

TEST(Coherence, NeighboursInOneLineShareFalsely) {
  Coherence coherence(64);
  for (int i = 0; i < 100; ++i) {
    coherence.access(0, 0x1000, 8, true);
    coherence.access(1, 0x1008, 8, true);
  }
  const auto lines = coherence.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].address, 0x1000u);
  EXPECT_EQ(lines[0].transfers, 199u);
  EXPECT_EQ(lines[0].true_transfers, 0u);
  EXPECT_EQ(lines[0].false_transfers, 198u);
  EXPECT_EQ(lines[0].writers, 0b11u);
  EXPECT_EQ(coherence.counts().unclassified(), 1u);
}

TEST(Coherence, InstructionsThatUseALineAreKeptFromItsFirstTransferOn) {
  Coherence coherence(64);
  coherence.access(0, 0x1000, 8, true, 0x400);
  EXPECT_TRUE(coherence.lines().empty());
  for (int i = 0; i < 10; ++i) {
    coherence.access(1, 0x1010, 4, true, 0x500);
    coherence.access(0, 0x1000, 8, false, 0x400);
    coherence.access(0, 0x1008, 8, true, 0x404);
  }
  const auto lines = coherence.lines();
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0].users.size(), 3u);
  const LineUser& other = lines[0].users[0];
  EXPECT_EQ(other.ip, 0x500u);
  EXPECT_EQ(other.thread, 1u);
  EXPECT_EQ(other.stores, 10u);
  EXPECT_EQ(other.transfers, 10u);
  EXPECT_EQ(other.bytes, 0xf0000u);
  EXPECT_EQ(lines[0].users[1].loads, 10u);
  EXPECT_EQ(lines[0].users[1].transfers, 10u);
  EXPECT_EQ(lines[0].users[2].transfers, 0u) << "its thread had the line already";

  for (std::uint64_t ip = 1; ip <= 1000; ++ip) coherence.access(ip % 2, 0x1000, 8, true, ip);
  const auto users = coherence.lines()[0].users;
  EXPECT_LE(users.size(), Coherence::kMaxUsers + 2);
  std::uint64_t stores = 0;
  for (const LineUser& user : users) stores += user.stores;
  EXPECT_EQ(stores, 1020u) << "what has no room of its own is with the others";
}

TEST(Coherence, OneCounterForAllIsTrueSharing) {
  Coherence coherence(64);
  for (int i = 0; i < 100; ++i)
    for (std::uint32_t thread = 0; thread < 3; ++thread) {
      coherence.access(thread, 0x1000, 8, false);
      coherence.access(thread, 0x1000, 8, true);
    }
  EXPECT_EQ(coherence.counts().false_transfers, 0u);
  EXPECT_GE(coherence.counts().true_transfers, 290u);
}

TEST(Coherence, LaterUseOfTheOthersBytesIsTrueSharing) {
  Coherence coherence(64);
  coherence.access(0, 0, 4, true);
  coherence.access(1, 8, 4, true);  // the first transfer, unclassified
  coherence.access(0, 0, 4, true);
  EXPECT_EQ(coherence.counts().false_transfers, 1u);  // so far
  coherence.access(0, 8, 4, false);
  EXPECT_EQ(coherence.counts().false_transfers, 0u);
  EXPECT_EQ(coherence.counts().true_transfers, 1u);
}

TEST(Coherence, ALineThatLeftIsNotPassed) {
  Coherence coherence(64);
  coherence.access(0, 0x40, 8, true);
  coherence.left(0, 0x7f);
  EXPECT_FALSE(coherence.is_held_by_others(1, 0x40));
  EXPECT_FALSE(coherence.access(1, 0x40, 8, false).is_transfer);
  coherence.left(3, 0x40);  // it never had it
  EXPECT_TRUE(coherence.is_held_by_others(0, 0x40));
}

TEST(Coherence, AccessesAtTheEndsOfALine) {
  Coherence coherence(64);
  coherence.access(0, 63, 1, true);
  coherence.access(1, 0, 64, false);
  coherence.access(0, 63, 8, true);
  coherence.access(1, 62, 1, false);
  EXPECT_EQ(coherence.counts().false_transfers, 1u);
  coherence.access(1, 63, 1, false);
  EXPECT_EQ(coherence.counts().true_transfers, 1u);
}

TEST(Coherence, ThreadsBeyondTheLimitShareANumber) {
  Coherence coherence(64);
  coherence.access(0, 0, 8, true);
  EXPECT_FALSE(coherence.access(64, 0, 8, true).is_transfer);
  EXPECT_TRUE(coherence.access(65, 0, 8, true).is_transfer);
}

}  // namespace
}  // namespace loft::core
