#include "core/cache.hpp"

#include <gtest/gtest.h>

#include "core/reference.hpp"
#include "core/streams.hpp"

namespace loft::core {
namespace {

std::vector<CacheGeometry> geometries() {
  std::vector<CacheGeometry> all;
  for (const Replacement replacement :
       {Replacement::lru, Replacement::tree_plru, Replacement::quasi_lru, Replacement::random})
    for (const std::uint32_t ways : {1u, 2u, 4u, 8u, 16u})
      for (const std::uint64_t sets : {1u, 3u, 8u, 20u})
        all.push_back({.bytes = sets * ways * 64, .ways = ways, .replacement = replacement});
  for (const std::uint32_t ways : {3u, 5u, 12u})
    for (const Replacement replacement : {Replacement::lru, Replacement::quasi_lru})
      all.push_back({.bytes = 7 * ways * 64, .ways = ways, .replacement = replacement});
  return all;
}

// Hit or miss, by the way that all users take.
bool use(Cache& cache, const StreamedLine& access) {
  if (cache.touch_recent(access.line, access.is_store)) return true;
  if (cache.look_up(access.line, access.is_store).is_hit) return true;
  cache.fill(access.line, {.is_dirty = access.is_store});
  return false;
}

TEST(Cache, AgreesWithReferenceOnEveryAccess) {
  for (const CacheGeometry& geometry : geometries()) {
    ASSERT_TRUE(check(geometry, "L1D"));
    Cache cache(geometry);
    reference::Cache plain(geometry);
    CacheCounts expected;
    std::uint32_t step = 0;
    for (const auto& access : random_lines(1000, 2 * geometry.bytes / 64 + 8, geometry.ways)) {
      // Now and then a line is taken away, as other threads do.
      if (++step % 37 == 0) {
        const auto out = plain.remove(access.line);
        const Evicted same = cache.invalidate(access.line);
        ASSERT_EQ(same.is_valid, out.has_value());
        ASSERT_EQ(same.is_dirty, out && out->is_dirty);
        continue;
      }
      if (plain.use(access.line, access.is_store)) {
        ++expected.hits;
        ASSERT_TRUE(use(cache, access));
        continue;
      }
      ++expected.misses;
      ASSERT_FALSE(cache.touch_recent(access.line, access.is_store));
      ASSERT_FALSE(cache.look_up(access.line, access.is_store).is_hit);
      const auto out = plain.fill(access.line, access.is_store);
      const Evicted victim = cache.fill(access.line, {.is_dirty = access.is_store});
      ASSERT_EQ(victim.is_valid, out.has_value()) << to_string(geometry.replacement) << step;
      if (!out) continue;
      ++expected.evictions;
      expected.write_backs += out->is_dirty;
      ASSERT_EQ(victim.line, out->number);
      ASSERT_EQ(victim.is_dirty, out->is_dirty);
    }
    EXPECT_EQ(cache.counts(), expected);
  }
}

TEST(Cache, KnowsAfterWarmUpWhatTheWholeRunKnows) {
  const CacheGeometry geometry{.bytes = 8 * 4 * 64, .ways = 4};
  for (const Cache::Keep keep : {Cache::Keep::nothing, Cache::Keep::as_guess}) {
    Cache whole(geometry), begun(geometry);
    const auto lines = random_lines(4000, 64, 3);
    for (std::size_t i = 0; i < 1000; ++i) use(whole, lines[i]);
    // The other one saw something else before.
    for (std::uint64_t line = 1000; line < 1200; ++line) use(begun, {line, false});
    begun.reset_counts();
    begun.start_warm_up(keep);
    std::uint64_t unknown = 0;
    for (std::size_t i = 1000; i < lines.size(); ++i) {
      const bool is_hit = use(whole, lines[i]);
      if (begun.touch_recent(lines[i].line, lines[i].is_store)) {
        ASSERT_TRUE(is_hit);
        continue;
      }
      const Lookup found = begun.look_up(lines[i].line, lines[i].is_store);
      if (found.is_known) {
        ASSERT_EQ(found.is_hit, is_hit) << i;
      }
      unknown += !found.is_known;
      if (!found.is_hit) begun.fill(lines[i].line);
    }
    EXPECT_EQ(begun.counts().unknown(), unknown);
    EXPECT_EQ(unknown, 8u * 4u);  // each way once, no more
  }
}

TEST(Cache, CountsFirstTouchesOfANewCacheAsMisses) {
  Cache cache(CacheGeometry{.bytes = 4096, .ways = 4});
  use(cache, {1, false});
  EXPECT_EQ(cache.counts().misses, 1u);
  EXPECT_EQ(cache.counts().unknown(), 0u);
  cache.start_warm_up(Cache::Keep::nothing);
  use(cache, {1, false});
  EXPECT_EQ(cache.counts().misses, 1u);
  EXPECT_EQ(cache.counts().unknown_misses, 1u);
}

TEST(Cache, TakesLinesKeptOverAWarmUpForAGuess) {
  Cache cache(CacheGeometry{.bytes = 4096, .ways = 4});
  use(cache, {1, false});
  cache.start_warm_up(Cache::Keep::as_guess);
  const Lookup first = cache.look_up(1, false);
  EXPECT_TRUE(first.is_hit);
  EXPECT_FALSE(first.is_known);
  EXPECT_TRUE(cache.look_up(1, false).is_known);
}

TEST(Cache, TellsTheFirstUseOfAPrefetchedLine) {
  Cache cache(CacheGeometry{.bytes = 4096, .ways = 4});
  cache.fill(7, {.prefetched_from = Level::memory});
  EXPECT_FALSE(cache.touch_recent(7, false));
  EXPECT_EQ(cache.look_up(7, false).prefetched_from, Level::memory);
  EXPECT_TRUE(cache.touch_recent(7, false));
  EXPECT_EQ(cache.look_up(7, false).prefetched_from, Level::l1);
}

TEST(Cache, RandomReplacementRepeatsWithItsSeed) {
  CacheGeometry geometry{.bytes = 4096, .ways = 8, .replacement = Replacement::random, .seed = 5};
  Cache one(geometry), same(geometry);
  geometry.seed = 6;
  Cache other(geometry);
  bool differs = false;
  for (const auto& access : random_lines(3000, 200, 1)) {
    const bool is_hit = use(one, access);
    ASSERT_EQ(use(same, access), is_hit);
    differs |= use(other, access) != is_hit;
  }
  EXPECT_TRUE(differs);
}

TEST(Cache, RefusesGeometriesThatCannotBe) {
  EXPECT_FALSE(check({.bytes = 1000, .ways = 8}, "L1D"));
  EXPECT_FALSE(check({.bytes = 0, .ways = 8}, "L1D"));
  EXPECT_FALSE(check({.bytes = 4096, .ways = 0}, "L1D"));
  EXPECT_FALSE(check({.bytes = 4096, .ways = 8, .line = 48}, "L1D"));
  EXPECT_FALSE(check({.bytes = 4096, .ways = 8, .line = 16}, "L1D"));
  EXPECT_FALSE(check({.bytes = 3 * 64, .ways = 3, .replacement = Replacement::tree_plru}, "L1D"));
  EXPECT_FALSE(check({.bytes = 64 * 64, .ways = 64, .replacement = Replacement::quasi_lru}, "L2"));
  EXPECT_FALSE(check({.bytes = std::uint64_t{1} << 40, .ways = 16}, "L3"));
  EXPECT_TRUE(check({.bytes = 48 << 10, .ways = 12}, "L1D"));
}

}  // namespace
}  // namespace loft::core
