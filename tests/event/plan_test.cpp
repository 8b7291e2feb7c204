#include "event/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "machines.hpp"

namespace loft::event {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Event> events_of(const std::string& list) {
  static const Tree tree = intel_machine();
  const auto events = tree.resolver().resolve_list(list);
  EXPECT_TRUE(events) << to_string(events.error());
  return events.value_or(std::vector<Event>{});
}

Counters cpu_with(int general, int fixed) {
  Counters counters;
  counters.of_pmu["cpu"] = {general, fixed};
  return counters;
}

std::vector<std::vector<std::size_t>> groups_of(const std::string& list, const Counters& counters) {
  const auto plan = plan_groups(events_of(list), counters);
  EXPECT_TRUE(plan) << to_string(plan.error());
  std::vector<std::vector<std::size_t>> groups;
  for (const PlannedGroup& group : plan->groups) groups.push_back(group.members);
  return groups;
}

TEST(Plan, WithoutKnownCountersOnlyRatiosStandTogether) {
  EXPECT_THAT(groups_of("cycles,branches,instructions,r1c2,branch-misses", {}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 4), ElementsAre(3)));
  EXPECT_THAT(groups_of("L1-dcache-loads,L1-dcache-load-misses,LLC-loads", {}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(Plan, EventsOfDifferentModifiersMakeNoRatio) {
  EXPECT_THAT(groups_of("cycles:u,instructions:k", {}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Plan, WhatFitsIsOneGroup) {
  const auto plan =
      plan_groups(events_of("cycles,instructions,branches,branch-misses"), cpu_with(4, 0));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->groups.size(), 1u);
  EXPECT_THAT(plan->multiplexed, IsEmpty());
}

TEST(Plan, OneMoreThanFitsTakesTurns) {
  const auto plan =
      plan_groups(events_of("cycles,instructions,branches,branch-misses,r1c2"), cpu_with(4, 0));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->groups.size(), 2u);
  EXPECT_THAT(plan->multiplexed, ElementsAre("cpu"));
}

TEST(Plan, FixedCountersTakeCyclesInstructionsAndReferenceCycles) {
  EXPECT_EQ(groups_of("cycles,instructions,ref-cycles,r1,r2", cpu_with(2, 3)).size(), 1u);
  EXPECT_EQ(groups_of("cycles,instructions,ref-cycles,r1,r2", cpu_with(2, 2)).size(), 2u);
  EXPECT_EQ(groups_of("cycles:u,cycles:k,r1", cpu_with(1, 3)).size(), 2u)
      << "there is one fixed counter for cycles";
}

TEST(Plan, APairIsNotSplitAcrossGroups) {
  EXPECT_THAT(groups_of("r1,r2,branches,branch-misses", cpu_with(3, 0)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(Plan, APairIsSplitWhenThereIsOneCounter) {
  EXPECT_THAT(groups_of("branches,branch-misses", cpu_with(1, 0)),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Plan, SoftwareEventsNeedNoCounterAndAreNeverMultiplexed) {
  const auto plan = plan_groups(events_of("task-clock,r1,page-faults,r2,cs"), cpu_with(1, 0));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->groups.size(), 5u);
  EXPECT_THAT(plan->multiplexed, ElementsAre("cpu"));
}

TEST(Plan, AnExplicitGroupStaysTogetherAndAlone) {
  EXPECT_THAT(groups_of("{cycles,task-clock,r1},instructions", cpu_with(8, 0)),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
}

TEST(Plan, AnExplicitGroupOneTooLargeIsRefused) {
  EXPECT_TRUE(plan_groups(events_of("{r1,r2,task-clock}"), cpu_with(2, 0)));
  const auto plan = plan_groups(events_of("{r1,r2,r3}"), cpu_with(2, 0));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::limit);
  EXPECT_THAT(plan.error().what, HasSubstr("{r1,r2,r3}"));
}

TEST(Plan, AnExplicitGroupOfTwoPmusIsRefused) {
  const auto plan = plan_groups(events_of("{cycles,energy-pkg}"), {});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().why, HasSubstr("'power'"));
}

TEST(Plan, VirtualEventsAreOneGroup) {
  EXPECT_EQ(groups_of("virtual::instructions,virtual::flops,virtual::loads", {}).size(), 1u);
}

TEST(Plan, ManyGroupsOnAnUnknownPmuAreSaidToBeUnknown) {
  const auto plan = plan_groups(events_of("r1,r2"), {});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->unknown, ElementsAre("cpu"));
  EXPECT_THAT(plan->multiplexed, IsEmpty());
}

TEST(Plan, EveryEventIsInExactlyOneGroupThatFits) {
  const std::vector<Event> pool = events_of(
      "cycles,instructions,branches,branch-misses,cs,r1,r2,r3,LLC-loads,LLC-load-misses,"
      "energy-pkg,cycles:u,task-clock,virtual::flops");
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Event> events;
    for (std::size_t n = random() % 20; n > 0; --n) events.push_back(pool[random() % pool.size()]);
    const int general = 1 + static_cast<int>(random() % 6);
    const auto plan = plan_groups(events, cpu_with(general, static_cast<int>(random() % 4)));
    ASSERT_TRUE(plan);
    std::vector<int> seen(events.size());
    for (const PlannedGroup& group : plan->groups) {
      ASSERT_FALSE(group.members.empty());
      int on_cpu = 0;
      for (const std::size_t member : group.members) {
        ++seen[member];
        if (events[member].encoding.pmu == "cpu") ++on_cpu;
      }
      EXPECT_LE(on_cpu, general + 3);
    }
    for (const int times : seen) EXPECT_EQ(times, 1);
  }
}

}  // namespace
}  // namespace loft::event
