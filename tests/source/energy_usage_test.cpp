#include "source/energy/usage.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/file.hpp"
#include "sample/energy_share.hpp"

namespace loft::source::energy {
namespace {

// A machine with two meters below a folder of the test's own.
class EnergyUsageTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "loft-energy-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    ASSERT_TRUE(replace_file(zone("intel-rapl:0") + "/name", "package-0\n"));
    ASSERT_TRUE(replace_file(zone("intel-rapl:1") + "/name", "package-1\n"));
    ASSERT_TRUE(replace_file(zone("intel-rapl:0") + "/energy_uj", "1000000\n"));
    ASSERT_TRUE(replace_file(zone("intel-rapl:1") + "/energy_uj", "5000000\n"));
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string zone(const std::string& name) const {
    return root_ + "/sys/class/powercap/" + name;
  }
  void set(const std::string& name, const std::string& microjoules) const {
    // In place: some file systems wait for the disk where a file is replaced.
    std::fstream(zone(name) + "/energy_uj", std::ios::in | std::ios::out) << microjoules << '\n';
  }
  std::string root_;
};

TEST_F(EnergyUsageTest, IsTheDifferenceOfTheMeters) {
  auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "3500000");
  set("intel-rapl:1", "5000001");
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 2u);
  EXPECT_DOUBLE_EQ(used[0].joules, 2.5);
  EXPECT_NEAR(used[1].joules, 1e-6, 1e-12);
}

TEST_F(EnergyUsageTest, AMeterThatNeverMovedTellsNothing) {
  auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "3500000");
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 1u);
  EXPECT_THAT(used[0].meter, testing::HasSubstr("package-0"));
}

TEST_F(EnergyUsageTest, JoulesOfAMeterThatShowsWattsAreModelled) {
  ASSERT_TRUE(replace_file(root_ + "/sys/class/hwmon/hwmon0/name", "acpi\n"));
  ASSERT_TRUE(replace_file(root_ + "/sys/class/hwmon/hwmon0/power1_average", "5000000\n"));
  auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "3500000");
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 2u);
  EXPECT_EQ(used[0].origin, sample::Origin::counted);
  EXPECT_EQ(used[1].meter, "acpi power1");
  EXPECT_EQ(used[1].origin, sample::Origin::modelled);
}

TEST_F(EnergyUsageTest, AMeterThatWentAroundOrIsGoneIsLeftOut) {
  auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "10");
  std::filesystem::remove_all(zone("intel-rapl:1"));
  EXPECT_TRUE(usage.so_far().empty());
}

TEST_F(EnergyUsageTest, AMeterThatSaysWhereItBeginsAgainIsFollowedThere) {
  ASSERT_TRUE(replace_file(zone("intel-rapl:0") + "/max_energy_range_uj", "4000000\n"));
  auto usage = EnergyUsage::start(SystemRoot{root_});
  for (const char* now : {"3900000", "100000", "3000000", "50000"}) {
    set("intel-rapl:0", now);
    usage.poll();
  }
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 1u);
  EXPECT_NEAR(used[0].joules, 2.9 + 0.2 + 2.9 + 1.05, 1e-9);
}

// After a sleep of the machine some meters begin at 0: that is no range full of joules.
TEST_F(EnergyUsageTest, AMeterThatBeganAnewIsUnknownForOnce) {
  ASSERT_TRUE(replace_file(zone("intel-rapl:0") + "/max_energy_range_uj", "262143328850\n"));
  Gauges gauges = Gauges::open(SystemRoot{root_});
  const Nanoseconds start = now();
  set("intel-rapl:0", "20      ");
  EXPECT_EQ(gauges.advance(start + std::chrono::seconds(1))[0], std::nullopt);
  set("intel-rapl:0", "30000020");
  EXPECT_DOUBLE_EQ(gauges.advance(start + std::chrono::seconds(2))[0].value_or(0), 30);
}

TEST(Gauges, WhatIsSlowToReadIsReadSeldom) {
  int readings = 0;
  Gauges gauges;
  const auto take_long = [&]() -> std::optional<double> {
    const Nanoseconds until = now(CLOCK_THREAD_CPUTIME_ID) + std::chrono::milliseconds(1);
    while (now(CLOCK_THREAD_CPUTIME_ID) < until) {
    }
    return 10.0 * ++readings;
  };
  ASSERT_TRUE(gauges.add({.name = "slow", .read = take_long}));
  ASSERT_TRUE(gauges.add({.name = "quick", .read = [] { return std::optional(1.0); }}));
  const Nanoseconds start = now();
  EXPECT_TRUE(gauges.advance_sparingly(start)[0].is_read) << "at first, to know something";
  const auto soon = gauges.advance_sparingly(start + std::chrono::milliseconds(100));
  EXPECT_FALSE(soon[0].is_read);
  EXPECT_TRUE(soon[1].is_read);
  EXPECT_EQ(readings, 2);
  const auto later = gauges.advance_sparingly(start + std::chrono::seconds(20));
  EXPECT_TRUE(later[0].is_read);
  EXPECT_EQ(later[0].joules, 10.0);
  EXPECT_NEAR(later[0].seconds, 20, 1) << "all the time since it was read before";
  EXPECT_EQ(gauges.advance(start + std::chrono::seconds(20))[0], 10.0) << "who must know may ask";
}

// Between two steps of a meter its power is even: readings that show nothing new are no steps.
TEST_F(EnergyUsageTest, ItsCourseHasTheStepsOfTheMeter) {
  auto usage = EnergyUsage::start(SystemRoot{root_});
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 9) set("intel-rapl:0", std::to_string(1000000 + i * 1000));
    usage.poll();
  }
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 1u);
  EXPECT_EQ(used[0].over_time.size(), 4u);
}

// What a function has is by its samples between two steps of the meter, whatever others have later.
TEST_F(EnergyUsageTest, IsSharedByTheSamplesBetweenTheStepsOfTheMeter) {
  constexpr std::uint32_t kFirst = 1;
  constexpr std::uint32_t kSecond = 2;
  auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "3000000");
  usage.poll();
  usage.poll();
  set("intel-rapl:0", "4000000");
  usage.poll();
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 1u);
  ASSERT_EQ(used[0].over_time.size(), 2u);
  const double border = used[0].over_time[0].seconds;
  const auto shares = sample::share_energy(
      used[0].over_time,
      {{border / 2, kFirst, 3}, {border, kSecond, 1}, {used[0].over_time[1].seconds, kSecond, 9}});
  EXPECT_DOUBLE_EQ(shares.of_place.at(kFirst).joules, 1.5);
  EXPECT_DOUBLE_EQ(shares.of_place.at(kSecond).joules, 1.5);
  EXPECT_EQ(shares.joules_of_nobody, 0);
}

TEST_F(EnergyUsageTest, ItsCourseAddsUpAndStaysSmall) {
  auto usage = EnergyUsage::start(SystemRoot{root_});
  int microjoules = 1000000;
  for (int i = 0; i < 10000; ++i) {
    set("intel-rapl:0", std::to_string(microjoules += 100));
    usage.poll();
  }
  const auto used = usage.so_far();
  ASSERT_EQ(used.size(), 1u);
  const auto& course = used[0].over_time;
  EXPECT_LE(course.size(), 4096u);
  EXPECT_GE(course.size(), 1000u);
  EXPECT_DOUBLE_EQ(course.back().joules, used[0].joules);
  EXPECT_NEAR(used[0].joules, 1.0, 1e-9);
  EXPECT_TRUE(std::ranges::is_sorted(course, {}, &sample::EnergySeen::seconds));
  EXPECT_TRUE(std::ranges::is_sorted(course, {}, &sample::EnergySeen::joules));
}

}  // namespace
}  // namespace loft::source::energy
