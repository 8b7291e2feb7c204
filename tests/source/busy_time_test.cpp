#include "source/busy_time.hpp"

#include <gtest/gtest.h>

namespace loft::source {
namespace {

//                          user nice system idle iowait irq softirq steal
constexpr const char* kStat =
    "cpu  30 3 6 1000 50 2 4 9\n"
    "cpu0 10 1 2 900 40 1 2 8\n"
    "cpu1 20 2 4 100 10 1 2 1\n"
    "cpu10 7 0 0 0 0 0 0 0\n"
    "intr 1 2 3\n";

TEST(BusyTime, LeavesOutIdleWaitingAndStolen) {
  EXPECT_EQ(busy_ticks(kStat, {1}), 29u);
  EXPECT_EQ(busy_ticks(kStat, {0, 1}), 45u);
  EXPECT_EQ(busy_ticks(kStat, {}), 45u) << "the line of all CPUs";
}

TEST(BusyTime, IsUnknownForACpuThatIsNotThere) {
  EXPECT_FALSE(busy_ticks(kStat, {1, 2}));
  EXPECT_FALSE(busy_ticks("cpu1 1 2\n", {1}));
  EXPECT_FALSE(busy_ticks("", {}));
}

}  // namespace
}  // namespace loft::source
