// Kernels whose misses can be worked out by hand, with cachegrind's geometry: two levels, LRU, no
// prefetchers.
#include <gtest/gtest.h>

#include "core/geometry.hpp"

namespace loft::core {
namespace {

class Kernel : public testing::Test {
 protected:
  void load(std::uint64_t address, std::uint64_t size = 8) { caches.load(0, address, size, 1); }
  void store(std::uint64_t address) { caches.store(0, address, 8, 1); }

  MachineGeometry machine = *find_machine("cachegrind");  // 32 KiB of 8 ways, 8 MiB of 16
  Hierarchy caches{machine.caches};
  Tlb tlb{machine.tlb};
};

TEST_F(Kernel, StreamingMissesOncePerLineAtBothLevels) {
  constexpr std::uint64_t kElements = 1 << 17;  // 1 MiB
  for (std::uint64_t i = 0; i < kElements; ++i) load(0x10000000 + 8 * i);
  EXPECT_EQ(caches.l1d(0).accesses(), kElements);
  EXPECT_EQ(caches.l1d(0).misses, kElements / 8);
  EXPECT_EQ(caches.l2(0).misses, kElements / 8);
  EXPECT_EQ(caches.traffic().from_memory, 8 * kElements);
}

TEST_F(Kernel, ASecondPassHitsTheLevelThatHoldsTheArray) {
  const auto pass = [&] {
    for (std::uint64_t i = 0; i < (1 << 14); ++i) load(8 * i);  // 128 KiB
  };
  pass();
  caches.reset_counts();
  pass();
  EXPECT_EQ(caches.l1d(0).misses, 2048u);  // LRU keeps nothing of a cycle longer than itself
  EXPECT_EQ(caches.l2(0).misses, 0u);
}

TEST_F(Kernel, AnArrayOfTheSizeOfL1StaysThere) {
  for (int pass = 0; pass < 3; ++pass)
    for (std::uint64_t line = 0; line < 512; ++line) load(line * 64);
  EXPECT_EQ(caches.l1d(0).misses, 512u);
}

TEST_F(Kernel, OneLineMoreThanASetConflictsEveryTime) {
  constexpr std::uint64_t kSetStride = 4096;  // 64 sets of 64 bytes
  for (int pass = 0; pass < 10; ++pass)
    for (std::uint64_t i = 0; i < 8; ++i) load(i * kSetStride);
  EXPECT_EQ(caches.l1d(0).misses, 8u);
  caches.reset_counts();
  for (int pass = 0; pass < 10; ++pass)
    for (std::uint64_t i = 0; i < 9; ++i) load(i * kSetStride);
  // The first pass finds 8 lines and misses the ninth, which begins the cycle that misses always.
  EXPECT_EQ(caches.l1d(0).misses, 1u + 9 * 9);
  EXPECT_EQ(caches.l2(0).misses, 1u);
}

TEST_F(Kernel, StridesBeyondALineMissEveryTime) {
  for (std::uint64_t i = 0; i < 1000; ++i) load(i * 256);
  EXPECT_EQ(caches.l1d(0).misses, 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) load(0x4000000 + i * 16);
  EXPECT_EQ(caches.l1d(0).misses, 1000u + 250);
}

TEST_F(Kernel, CapacityMissesOfL2) {
  constexpr std::uint64_t kLines = 2 * (8 << 20) / 64;
  for (int pass = 0; pass < 2; ++pass)
    for (std::uint64_t line = 0; line < kLines; ++line) load(line * 64);
  EXPECT_EQ(caches.l2(0).misses, 2 * kLines);
}

TEST_F(Kernel, TriadMovesFourWordsPerElement) {
  machine.caches.l2.bytes = 256 << 10;
  caches = Hierarchy(machine.caches);
  constexpr std::uint64_t kElements = 1 << 16;
  constexpr std::uint64_t kA = 0x10000000, kB = 0x20010000, kC = 0x30020000;
  for (std::uint64_t i = 0; i < kElements; ++i) {
    load(kB + 8 * i);
    load(kC + 8 * i);
    store(kA + 8 * i);
  }
  EXPECT_EQ(caches.l1d(0).misses, 3 * kElements / 8);
  EXPECT_EQ(caches.traffic().from_memory, 24 * kElements);
  // Of the stored array, all that does not fit in the caches any more has been written.
  EXPECT_LE(caches.traffic().to_memory, 8 * kElements);
  EXPECT_GE(caches.traffic().to_memory, 8 * kElements - (256 << 10));
}

TEST_F(Kernel, ColumnsOfAMatrixMissAtEveryElement) {
  constexpr std::uint64_t kRow = 1024 * 8 + 64;  // bytes: rows fall into different sets
  for (std::uint64_t column = 0; column < 16; ++column)
    for (std::uint64_t row = 0; row < 1024; ++row) load(row * kRow + column * 8);
  // 1024 lines per column are twice what L1 holds; 8 columns share each line in L2.
  EXPECT_EQ(caches.l1d(0).misses, 16u * 1024);
  EXPECT_EQ(caches.l2(0).misses, 2u * 1024);
}

TEST_F(Kernel, CodeLargerThanL1IMissesEachTimeRound) {
  for (int pass = 0; pass < 3; ++pass)
    for (std::uint64_t at = 0; at < 64 << 10; at += 4) caches.fetch(0, at, 4);
  EXPECT_EQ(caches.l1i(0).misses, 3u * 1024);
  EXPECT_EQ(caches.l2(0).misses, 1024u);
}

TEST_F(Kernel, PagesMissOncePerPageInOrder) {
  for (std::uint64_t i = 0; i < 100 * 512; ++i) tlb.data(i * 8, 8);
  EXPECT_EQ(tlb.counts().dtlb.misses, 100u);
  EXPECT_EQ(tlb.counts().walks, 100u);
}

TEST_F(Kernel, PagesBeyondTheFirstLevelAreFoundInTheSecond) {
  for (int pass = 0; pass < 4; ++pass)
    for (std::uint64_t page = 0; page < 65; ++page) tlb.data(page * 4096, 8);
  EXPECT_EQ(tlb.counts().dtlb.misses, 4u * 65);
  EXPECT_EQ(tlb.counts().walks, 65u);
  for (int pass = 0; pass < 4; ++pass)
    for (std::uint64_t page = 0; page < 1537; ++page) tlb.data((page + 10000) * 4096, 8);
  // 128 sets of 12 ways: one set gets 13 pages, which take turns there.
  EXPECT_EQ(tlb.counts().walks, 65u + 1537 + 3 * 13);
}

}  // namespace
}  // namespace loft::core
