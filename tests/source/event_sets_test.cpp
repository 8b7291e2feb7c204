#include "source/scheduler/event_sets.hpp"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include <random>

#include "source/scheduler/poll_clock.hpp"

namespace loft::source::scheduler {
namespace {

using ::testing::ElementsAre;

event::Event hardware(std::string name, std::uint64_t config, std::string pmu = "cpu") {
  event::Event event;
  event.name = std::move(name);
  event.encoding = {std::move(pmu), PERF_TYPE_RAW, config};
  return event;
}

event::Event instructions() {
  event::Event event;
  event.name = "instructions";
  event.encoding = {"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
  return event;
}

event::Event software(std::string name, std::uint64_t config) {
  event::Event event;
  event.name = std::move(name);
  event.encoding = {"software", PERF_TYPE_SOFTWARE, config};
  return event;
}

// A machine with so many counters.
Trials counters(std::size_t count, bool has_instructions = true) {
  return {[count](const std::vector<event::Event>& events) { return events.size() <= count; },
          [has_instructions](const event::Event&) { return has_instructions; }};
}

// "a b|c d" with * before sets that take turns.
std::string told(const EventSets& sets) {
  std::string text;
  for (std::size_t s = 0; s < sets.sets.size(); ++s) {
    if (s > 0) text += '|';
    if (sets.sets[s].takes_turns) text += '*';
    for (std::size_t i = 0; i < sets.sets[s].size; ++i)
      text += (i > 0 ? " " : "") + sets.events[sets.sets[s].first + i].name;
  }
  return text;
}

std::string planned(const std::vector<event::Event>& events,
                    const std::vector<std::vector<event::Event>>& turns, const Trials& trials) {
  const auto sets = plan_sets(events, turns, trials);
  return sets ? told(*sets) : "refused: " + to_string(sets.error());
}

const event::Event kA = hardware("a", 1), kB = hardware("b", 2), kC = hardware("c", 3);
const event::Event kFaults = software("faults", PERF_COUNT_SW_PAGE_FAULTS);

TEST(EventSets, WhatFitsIsCountedAllTheTime) {
  EXPECT_EQ(planned({kA, kFaults, kB, kC}, {}, counters(3)), "faults|a b c");
  EXPECT_EQ(planned({}, {}, counters(0)), "");
}

TEST(EventSets, MoreEventsThanCountersTakeTurnsBesideInstructions) {
  const auto sets = plan_sets({kA, kB, kC, kFaults}, {}, counters(2));
  ASSERT_TRUE(sets);
  EXPECT_EQ(told(*sets), "faults|instructions|*a|*b|*c");
  ASSERT_TRUE(sets->work);
  EXPECT_EQ(sets->events[*sets->work].name, "instructions");
  EXPECT_EQ(planned({kA, instructions(), kB, kC}, {}, counters(3)), "|instructions|*a b|*c");
}

TEST(EventSets, WithoutInstructionsSetsTakeTurnsAlone) {
  const auto sets = plan_sets({kA, kB, kC}, {}, counters(2, false));
  ASSERT_TRUE(sets);
  EXPECT_EQ(told(*sets), "|*a b|*c");
  EXPECT_FALSE(sets->work);
}

TEST(EventSets, EventsInBracesStayTogether) {
  auto b = kB, c = kC;
  b.group = c.group = 1;
  EXPECT_EQ(planned({kA, b, c, hardware("d", 4)}, {}, counters(3)), "|instructions|*a d|*b c");
  EXPECT_THAT(planned({kA, b, c}, {}, counters(2)), ::testing::HasSubstr("'b,c'"));
}

TEST(EventSets, SetsThatWereAskedForTakeTurnsAlsoWhereTheyFit) {
  const auto clock = software("clock", PERF_COUNT_SW_CPU_CLOCK);
  EXPECT_EQ(planned({}, {{kFaults}, {clock}}, counters(0)), "|*faults|*clock");
  EXPECT_EQ(planned({}, {{kA, kB}, {kC, kFaults}}, counters(6)), "|instructions|*a b|*c faults");
}

TEST(EventSets, AnEventOfSeveralSetsIsAlwaysCounted) {
  EXPECT_EQ(planned({}, {{kA, kFaults}, {kB, kFaults}}, counters(6)), "faults|instructions|*a|*b");
}

TEST(EventSets, ASetThatIsTooLargeIsRefused) {
  EXPECT_THAT(planned({}, {{kA, kB}, {kC}}, counters(2)),
              ::testing::AllOf(::testing::HasSubstr("'a,b'"), ::testing::HasSubstr("smaller")));
}

TEST(EventSets, PmusDoNotShareCounters) {
  const auto tsc = hardware("tsc", 0, "msr");
  EXPECT_EQ(planned({tsc, kA}, {}, counters(1)), "|tsc|a");
  EXPECT_EQ(planned({kA, kA}, {}, counters(1)), "|a");
}

TEST(EventSets, InUserModeTracepointsAreLeftOut) {
  event::Event point;
  point.name = "sched:sched_switch";
  point.encoding = {"tracepoint", PERF_TYPE_TRACEPOINT, 7};
  const auto sets = plan_sets({point, kFaults, kA, kB, kC}, {}, counters(2));
  ASSERT_TRUE(sets);
  const EventSets smaller = sets->in_user_mode();
  EXPECT_EQ(told(smaller), "faults:u|instructions:u|*a:u|*b:u|*c:u");
  ASSERT_TRUE(smaller.work);
  EXPECT_EQ(smaller.events[*smaller.work].name, "instructions:u");
  EXPECT_EQ(smaller.set_of(0), 0u);
  EXPECT_EQ(smaller.set_of(4), 4u);
}

// Equal turns would hide a program of the same period from all sets but one.
TEST(Turns, AreOfDifferentLengthAroundTheirMean) {
  std::minstd_rand random(1);
  constexpr std::uint64_t kMean = 10'000'000;
  std::set<std::uint64_t> lengths;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t pause = uneven_pause(kMean, random);
    EXPECT_GE(pause, kMean / 2);
    EXPECT_LE(pause, kMean + kMean / 2);
    lengths.insert(pause);
    sum += static_cast<double>(pause);
  }
  EXPECT_GT(lengths.size(), 900u);
  EXPECT_NEAR(sum / 1000, kMean, kMean * 0.05);
}

}  // namespace
}  // namespace loft::source::scheduler
