#include "core/hierarchy.hpp"

#include <gtest/gtest.h>

#include "core/reference.hpp"
#include "core/streams.hpp"

namespace loft::core {
namespace {

CacheGeometry cache(std::uint64_t lines, std::uint32_t ways,
                    Replacement replacement = Replacement::lru) {
  return {.bytes = lines * 64, .ways = ways, .replacement = replacement};
}

void expect_agreement(const HierarchyGeometry& geometry, std::uint32_t seed) {
  ASSERT_TRUE(check(geometry));
  Hierarchy quick(geometry);
  reference::Hierarchy plain(geometry);
  std::uint64_t step = 0;
  for (const auto& access : random_lines(1500, 800, seed)) {
    const std::uint64_t address = access.line * 64 + access.line % 57;
    const bool is_fetch = ++step % 5 == 0;
    const Level expected =
        is_fetch ? plain.fetch(access.line) : plain.data(access.line, access.is_store);
    const Access got = is_fetch          ? quick.fetch(0, address, 4)
                       : access.is_store ? quick.store(0, address, 4, 1)
                                         : quick.load(0, address, 4, 1);
    ASSERT_EQ(got.level, expected) << "access " << step;
    ASSERT_FALSE(got.is_unknown());
  }
  EXPECT_EQ(quick.traffic().from_memory, plain.memory_reads * 64);
  EXPECT_EQ(quick.traffic().to_memory, plain.memory_writes * 64);
}

TEST(Hierarchy, AgreesWithReferenceOnEveryAccess) {
  std::uint32_t seed = 0;
  for (const Replacement replacement :
       {Replacement::lru, Replacement::tree_plru, Replacement::quasi_lru, Replacement::random})
    for (const Inclusion l2 : {Inclusion::inclusive, Inclusion::non_inclusive})
      for (const Inclusion l3 :
           {Inclusion::inclusive, Inclusion::exclusive, Inclusion::non_inclusive})
        expect_agreement({.l1i = cache(16, 2, replacement),
                          .l1d = cache(24, 4, replacement),
                          .l2 = cache(64, 8, replacement),
                          .l3 = cache(256, 16, replacement),
                          .l2_inclusion = l2,
                          .l3_inclusion = l3},
                         ++seed);
}

TEST(Hierarchy, AgreesWithReferenceWhereLevelsAreMissing) {
  expect_agreement({.l1i = cache(16, 2), .l1d = cache(16, 4)}, 1);
  expect_agreement({.l1i = cache(16, 2), .l1d = cache(16, 4), .l2 = cache(60, 3)}, 2);
  expect_agreement({.l1i = cache(16, 2), .l1d = cache(16, 4), .l3 = cache(128, 4)}, 3);
}

HierarchyGeometry small() {
  return {.l1i = cache(16, 2), .l1d = cache(16, 4), .l2 = cache(64, 4), .l3 = cache(256, 4)};
}

TEST(Hierarchy, TakesTheSlowestLineOfAnAccessThatStraddles) {
  Hierarchy caches(small());
  caches.load(0, 0, 8, 1);
  const Access both = caches.load(0, 60, 8, 1);
  EXPECT_EQ(both.level, Level::memory);
  EXPECT_EQ(both.lines, 2);
  EXPECT_EQ(caches.l1d(0).misses, 2u);
  EXPECT_EQ(caches.l1d(0).hits, 1u);
}

TEST(Hierarchy, TouchesEachLineOfALongRangeOnce) {
  Hierarchy caches(small());
  const Access access = caches.store(0, 32, 1000 * 64, 1);
  EXPECT_EQ(caches.l1d(0).accesses(), 1001u);
  EXPECT_EQ(access.lines, 255);
}

TEST(Hierarchy, WritesModifiedLinesBackOnce) {
  Hierarchy caches({.l1i = cache(2, 2), .l1d = cache(2, 2)});
  for (std::uint64_t line = 0; line < 100; ++line) caches.store(0, line * 64, 8, 1);
  EXPECT_EQ(caches.traffic().from_memory, 100u * 64);
  EXPECT_EQ(caches.traffic().to_memory, 98u * 64);
}

TEST(Hierarchy, SendsStoresPastTheCachesToMemory) {
  Hierarchy caches(small());
  caches.load(0, 0, 8, 1);
  caches.store_past(0, 0, 64);
  EXPECT_EQ(caches.traffic().to_memory, 64u);
  EXPECT_EQ(caches.load(0, 0, 8, 1).level, Level::memory);
}

TEST(Hierarchy, SaysHowNearAnUnknownLineMayHaveBeen) {
  Hierarchy caches(small());
  caches.load(0, 0, 8, 1);
  caches.start_warm_up(Cache::Keep::nothing);
  const Access cold = caches.load(0, 0, 8, 1);
  EXPECT_EQ(cold.level, Level::memory);
  EXPECT_EQ(cold.nearest, Level::l1);
  EXPECT_TRUE(cold.is_unknown());
  EXPECT_EQ(caches.traffic().unknown_from_memory, 64u);
  // Sets of L1 are full of new lines soon: it is known then that L1 did not hold them.
  for (std::uint64_t line = 0; line < 64; ++line) caches.load(0, line * 64, 8, 1);
  const Access later = caches.load(0, 64 * 64, 8, 1);
  EXPECT_EQ(later.nearest, Level::l3);
  for (std::uint64_t line = 0; line < 512; ++line) caches.load(0, line * 64, 8, 1);
  EXPECT_FALSE(caches.load(0, 1000 * 64, 8, 1).is_unknown());
}

TEST(Hierarchy, StreamPrefetcherHidesAllButTheFirstLines) {
  HierarchyGeometry geometry = small();
  geometry.prefetch.stream_lines = 4;
  Hierarchy caches(geometry);
  std::uint64_t memory = 0;
  for (std::uint64_t line = 0; line < 64; ++line)
    memory += caches.load(0, line * 64, 8, 1).level == Level::memory;
  EXPECT_EQ(memory, 3u);  // the third one is sure of the direction
  EXPECT_EQ(caches.prefetches().issued[static_cast<std::size_t>(PrefetchKind::stream)], 65u);
  EXPECT_EQ(caches.prefetches().useful, 61u);
  EXPECT_EQ(caches.prefetches().late, 61u);
  EXPECT_EQ(caches.traffic().from_memory, 68u * 64);
}

TEST(Hierarchy, StridePrefetcherFollowsOneInstruction) {
  HierarchyGeometry geometry = small();
  geometry.prefetch.stride_steps = 2;
  Hierarchy caches(geometry);
  std::vector<Level> levels;
  for (std::uint64_t i = 0; i < 8; ++i) {
    levels.push_back(caches.load(0, i * 7 * 64, 8, 0x400123).level);
    caches.load(0, 0x100000 + i * i * 4096, 8, 0x400200);  // another one in between
  }
  const std::vector<Level> expected{Level::memory, Level::memory, Level::memory, Level::memory,
                                    Level::l1,     Level::l1,     Level::l1,     Level::l1};
  EXPECT_EQ(levels, expected);
}

TEST(Hierarchy, RemembersWhereAPrefetchedLineCameFrom) {
  HierarchyGeometry geometry = small();
  geometry.prefetch.next_line = true;
  Hierarchy caches(geometry);
  EXPECT_EQ(caches.load(0, 0, 8, 1).prefetched_from, Level::l1);
  const Access next = caches.load(0, 64, 8, 1);
  EXPECT_EQ(next.level, Level::l1);
  EXPECT_EQ(next.prefetched_from, Level::memory);
  EXPECT_EQ(caches.load(0, 64, 8, 1).prefetched_from, Level::l1);
}

TEST(Hierarchy, OnlyStreamsGoOnInTheNextPage) {
  HierarchyGeometry geometry = small();
  geometry.prefetch = {.next_line = true, .stride_steps = 8};
  Hierarchy others(geometry);
  for (std::uint64_t line = 50; line < 64; ++line) others.load(0, line * 64, 8, 1);
  EXPECT_EQ(others.traffic().from_memory, 14u * 64);
  geometry.prefetch = {.stream_lines = 8};
  for (const bool is_ascending : {true, false}) {
    Hierarchy caches(geometry);
    std::uint64_t memory = 0;
    for (std::uint64_t i = 0; i < 128; ++i) {
      const std::uint64_t line = is_ascending ? 32 + i : 223 - i;
      memory += caches.load(0, line * 64, 8, 1).level == Level::memory;
    }
    EXPECT_LE(memory, 3u) << "before the direction was known";
    EXPECT_EQ(caches.traffic().from_memory, (128u + 8) * 64);
  }
}

TEST(Hierarchy, PassesALineBetweenThreads) {
  Hierarchy caches(small());
  caches.store(0, 0, 8, 1);  // before there is a second thread
  const Access first = caches.load(1, 0, 8, 1);
  EXPECT_TRUE(first.is_transfer);
  EXPECT_EQ(first.level, Level::l3);
  EXPECT_EQ(caches.load(0, 0, 8, 1).level, Level::l1);  // a copy stays
  EXPECT_FALSE(caches.store(0, 0, 8, 1).is_transfer);   // takes it away from thread 1
  EXPECT_TRUE(caches.store(1, 0, 8, 1).is_transfer);
  EXPECT_TRUE(caches.store(0, 0, 8, 1).is_transfer);
  EXPECT_EQ(caches.coherence().counts().transfers, 3u);
  EXPECT_EQ(caches.traffic().from_memory, 64u);
}

TEST(Hierarchy, ThreadsThatShareNothingPassNothing) {
  Hierarchy caches(small());
  for (std::uint64_t i = 0; i < 4000; ++i)
    for (std::uint32_t thread = 0; thread < 4; ++thread)
      caches.store(thread, (std::uint64_t{thread} << 20) + i % 700 * 64, 8, 1);
  EXPECT_EQ(caches.coherence().counts().transfers, 0u);
  EXPECT_EQ(caches.coherence().counts().invalidations, 0u);
}

TEST(Hierarchy, RefusesWhatCannotBe) {
  HierarchyGeometry geometry = small();
  geometry.l2.line = 128;
  EXPECT_FALSE(check(geometry));
  geometry = small();
  geometry.l2_inclusion = Inclusion::exclusive;
  EXPECT_FALSE(check(geometry));
  geometry = small();
  geometry.l2 = {};
  geometry.l3_inclusion = Inclusion::exclusive;
  EXPECT_FALSE(check(geometry));
  geometry = small();
  geometry.prefetch.stream_lines = 200;
  EXPECT_FALSE(check(geometry));
}

}  // namespace
}  // namespace loft::core
