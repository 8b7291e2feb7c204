#include "machine/knees.hpp"

#include <gtest/gtest.h>

#include "machine/sweep.hpp"

namespace loft::machine {
namespace {

using model::Cache;
using model::Level;
using model::SweepPoint;

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * 1024;

struct Made {
  std::uint64_t knee;
  double ns;
};

// A machine with these levels, and memory behind them; beyond a knee the cost climbs over an
// octave.
std::vector<SweepPoint> sweep_of(const std::vector<Made>& caches, double memory_ns) {
  std::vector<SweepPoint> sweep;
  for (const std::uint64_t size : sweep_sizes(128 * kMi)) {
    double ns = memory_ns;
    for (std::size_t i = caches.size(); i-- > 0;) {
      const double next = i + 1 < caches.size() ? caches[i + 1].ns : memory_ns;
      if (size <= caches[i].knee)
        ns = caches[i].ns;
      else if (size < 2 * caches[i].knee)
        ns = caches[i].ns + (next - caches[i].ns) * 0.6;
    }
    sweep.push_back({size, ns, 0});
  }
  return sweep;
}

std::vector<Cache> claims(std::uint64_t l1, std::uint64_t l2, std::uint64_t l3) {
  return {{1, "Data", l1, 64, 8, 2, 1},
          {1, "Instruction", l1, 64, 8, 2, 1},
          {2, "Unified", l2, 64, 8, 2, 1},
          {3, "Unified", l3, 64, 16, 1, 2}};
}

const Level& named(const std::vector<Level>& levels, const std::string& name) {
  for (const Level& level : levels)
    if (level.name == name) return level;
  throw std::runtime_error(name);
}

TEST(Knees, AreWhereThePlateausEnd) {
  const auto plateaus =
      find_plateaus(sweep_of({{32 * kKi, 1.2}, {512 * kKi, 4}, {8 * kMi, 15}}, 120));
  ASSERT_EQ(plateaus.size(), 4u);
  EXPECT_EQ(plateaus[0].last, 32 * kKi);
  EXPECT_EQ(plateaus[1].last, 512 * kKi);
  EXPECT_EQ(plateaus[2].last, 8 * kMi);
  EXPECT_EQ(plateaus[3].last, 128 * kMi);
}

TEST(Knees, SurviveWindowsThatWereTooSlow) {
  auto sweep = sweep_of({{32 * kKi, 1.2}, {512 * kKi, 4}, {8 * kMi, 15}}, 120);
  for (std::size_t i = 1; i < sweep.size(); i += 5) sweep[i].latency_ns *= 3;
  const auto plateaus = find_plateaus(sweep);
  ASSERT_EQ(plateaus.size(), 4u);
  // A slow window at the very knee costs one step of the sweep, no more.
  EXPECT_GE(plateaus[0].last, 24 * kKi);
  EXPECT_LE(plateaus[0].last, 32 * kKi);
  EXPECT_GE(plateaus[2].last, 6 * kMi);
  EXPECT_LE(plateaus[2].last, 8 * kMi);
}

// What the guest is told of the last cache is its host's; only a part of it is to be had.
TEST(Knees, NotTheClaimSetTheSizeOfATest) {
  const auto sweep = sweep_of({{32 * kKi, 1.2}, {1024 * kKi, 4}, {6 * kMi, 15}}, 120);
  const auto levels =
      levels_of(find_plateaus(sweep), claims(32 * kKi, 1024 * kKi, 32 * kMi), 128 * kMi);
  ASSERT_EQ(levels.size(), 4u);
  const Level& l3 = named(levels, "L3");
  EXPECT_EQ(l3.knee, 6 * kMi);
  EXPECT_EQ(l3.claimed, 32 * kMi);
  EXPECT_LT(l3.test_bytes, 6 * kMi);
  EXPECT_GT(l3.test_bytes, 2 * kMi) << "beyond what L2 could hold";
  EXPECT_EQ(named(levels, "DRAM").test_bytes, 128 * kMi);
}

// Seen on a shared 300 MiB cache of which 4 MiB were left: 2 MiB fitted into the level before, and
// its bandwidth was taken for the third level's.
TEST(Knees, ATestStaysClearOfWhatTheLevelBeforeMayHold) {
  const auto sweep = sweep_of({{48 * kKi, 1.9}, {1 * kMi, 5.9}, {4 * kMi, 29}}, 100);
  const auto levels =
      levels_of(find_plateaus(sweep), claims(48 * kKi, 2 * kMi, 300 * kMi), 1024 * kMi);
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[1].knee, 1 * kMi);
  EXPECT_EQ(levels[2].knee, 4 * kMi);
  EXPECT_EQ(levels[2].test_bytes, 3 * kMi);
}

TEST(Knees, ALevelThatDoesNotShowIsSaidSo) {
  const auto sweep = sweep_of({{32 * kKi, 1.2}, {1024 * kKi, 4}}, 120);
  const auto levels =
      levels_of(find_plateaus(sweep), claims(32 * kKi, 1024 * kKi, 32 * kMi), 128 * kMi);
  EXPECT_TRUE(named(levels, "L2").found);
  EXPECT_FALSE(named(levels, "L3").found);
  EXPECT_EQ(named(levels, "L3").knee, 32 * kMi);
}

TEST(Knees, AClaimThatIsTooSmallDoesNotHideALevel) {
  const auto sweep = sweep_of({{48 * kKi, 1.2}, {2 * kMi, 4}, {24 * kMi, 15}}, 120);
  const auto levels =
      levels_of(find_plateaus(sweep), claims(32 * kKi, 512 * kKi, 4 * kMi), 128 * kMi);
  EXPECT_EQ(named(levels, "L1").knee, 48 * kKi);
  EXPECT_EQ(named(levels, "L2").knee, 2 * kMi);
  EXPECT_EQ(named(levels, "L3").knee, 24 * kMi);
}

TEST(Knees, WithoutClaimsTheSweepAloneNamesTheLevels) {
  const auto sweep = sweep_of({{32 * kKi, 1.2}, {512 * kKi, 4}}, 120);
  const auto levels = levels_of(find_plateaus(sweep), {}, 64 * kMi);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].name, "L1");
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_EQ(levels[2].name, "DRAM");
}

TEST(Knees, OfNothingAreNothing) {
  EXPECT_TRUE(find_plateaus({}).empty());
  const auto levels = levels_of({}, {}, 8 * kMi);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].name, "DRAM");
}

}  // namespace
}  // namespace loft::machine
