#include "engine/window_schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace loft::engine {
namespace {

using namespace std::chrono_literals;

struct Played {
  int windows = 0;
  Nanoseconds spent{};
  std::vector<Nanoseconds> times;
};

// A run of that length, in which each window takes `cost`.
Played play(Nanoseconds length, Nanoseconds cost, std::uint64_t seed = 1) {
  WindowSchedule schedule({.seed = seed});
  Played played;
  for (Nanoseconds time{}; time < length; time += 1ms) {
    if (!schedule.is_due(time)) continue;
    played.times.push_back(time);
    ++played.windows;
    time += cost;
    schedule.add_cost(time, cost, cost);
  }
  played.spent = schedule.spent();
  return played;
}

TEST(WindowSchedule, SeesShortRuns) {
  EXPECT_GE(play(100ms, 5ms).windows, 3);
  EXPECT_GE(play(1s, 20ms).windows, 5);
}

TEST(WindowSchedule, TakesAFifthOfARunAndNeverTwo) {
  for (const Nanoseconds length : {Nanoseconds(1s), Nanoseconds(10s)})
    EXPECT_LT(play(length, 40ms).windows * 40ms, length * 2 / 5);
}

TEST(WindowSchedule, NeverSpendsMoreThanItsBudget) {
  for (const Nanoseconds length : {Nanoseconds(1min), Nanoseconds(20min), Nanoseconds(2h)})
    for (const Nanoseconds cost : {Nanoseconds(5ms), Nanoseconds(45ms), Nanoseconds(700ms)}) {
      const Played played = play(length, cost);
      EXPECT_LE(played.windows * cost, 5s + cost);
      EXPECT_GE(played.windows, 5);
    }
}

TEST(WindowSchedule, StillOpensWindowsLateInALongRun) {
  EXPECT_GT(play(1h, 45ms).times.back(), 20min);
}

TEST(WindowSchedule, SpendsCpuTimeNotTheTimeOfABusyMachine) {
  WindowSchedule schedule;
  int windows = 0;
  for (Nanoseconds time{}; time < 10min; time += 1ms) {
    if (!schedule.is_due(time)) continue;
    ++windows;
    time += 1s;
    schedule.add_cost(time, 1s, 40ms);
  }
  EXPECT_GT(windows, 20);
  EXPECT_EQ(schedule.spent(), windows * 40ms);
}

TEST(WindowSchedule, IsJitteredByItsSeed) {
  EXPECT_EQ(play(2s, 10ms, 1).times, play(2s, 10ms, 1).times);
  EXPECT_NE(play(2s, 10ms, 1).times, play(2s, 10ms, 2).times);
}

}  // namespace
}  // namespace loft::engine
