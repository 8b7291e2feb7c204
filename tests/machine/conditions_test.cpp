#include "machine/conditions.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace loft::machine {
namespace {

core::CoreParameters quiet() {
  core::CoreParameters core = *core::core_parameters("zen4");
  core.l3_latency = {50, core::Origin::measured};
  core.dram_latency = {400, core::Origin::measured};
  core.dram_bandwidth = {10, core::Origin::measured};
  return core;
}

TEST(Conditions, WhatWasWorseReplacesWhatTheMachineCanDo) {
  const core::CoreParameters then = under(
      {.l3_latency = 310, .dram_latency = 600, .dram_share = 0.4, .core_share = 0.7}, quiet());
  EXPECT_EQ(then.l3_latency.value, 310);
  EXPECT_EQ(then.dram_latency.value, 600);
  EXPECT_EQ(then.dram_bandwidth.value, 4);
  EXPECT_EQ(then.core_share.value, 0.7);
  EXPECT_TRUE(core::check(then));
}

TEST(Conditions, AQuietMachineIsLeftAsItIs) {
  EXPECT_EQ(under({}, quiet()), quiet());
  EXPECT_EQ(under({.core_share = 0.97}, quiet()), quiet()) << "the loop of the probe has a cost";
  EXPECT_EQ(describe({.l3_latency = 60, .core_share = 0.97}, quiet()), "");
}

TEST(Conditions, MemoryThatAnswersAsEverGivesAllItHas) {
  const core::CoreParameters then = under({.dram_latency = 350, .dram_share = 0.4}, quiet());
  EXPECT_EQ(then.dram_latency.value, 400) << "it was no slower than it is when quiet";
  EXPECT_EQ(then.dram_bandwidth.value, 10) << "nobody else was there";
  EXPECT_EQ(describe({.dram_latency = 350, .dram_share = 0.4}, quiet()), "");
}

TEST(Conditions, WalksToMemoryTakeAsMuchLonger) {
  core::CoreParameters core = quiet();
  core.walk_to_memory = {300, core::Origin::measured};
  EXPECT_EQ(under({.dram_latency = 600}, core).walk_to_memory.value, 450);
  EXPECT_EQ(under({.dram_latency = 200}, core).walk_to_memory.value, 300);
}

TEST(Conditions, L3IsNeverFartherAwayThanMemory) {
  EXPECT_EQ(under({.l3_latency = 900}, quiet()).l3_latency.value, 400);
}

TEST(Conditions, SaysWhatOthersTook) {
  EXPECT_EQ(describe({.l3_latency = 310, .dram_latency = 600, .dram_share = 0.4, .core_share = 0.6},
                     quiet()),
            "L3 took 310 cycles instead of 50, memory took 600 cycles instead of 400, memory gave "
            "40 % of "
            "its bandwidth, siblings took 40 % of the core");
}

TEST(Conditions, AProbeSeesEverythingItAsksFor) {
  model::Machine machine;
  machine.frequency_hz = 1e9;
  machine.topology.caches = {{.level = 2, .type = "Unified", .bytes = 256 << 10},
                             {.level = 3, .type = "Unified", .bytes = 4 << 20}};
  model::Constant adds;
  adds.name = "int_add_per_cycle";
  adds.value = 100;
  adds.verdict = model::Verdict::stable;
  machine.core = {adds};
  auto probe = ConditionsProbe::make(machine);
  ASSERT_TRUE(probe);
  EXPECT_FALSE(probe->conditions().core_share) << "nothing was looked at";
  probe->look_at_l3();
  for (int i = 0; i < 2; ++i) probe->look_beside(::getpid());
  const Conditions met = probe->conditions();
  EXPECT_GT(met.l3_latency.value_or(0), 0);
  EXPECT_GT(met.core_share.value_or(0), 0);
#if defined(__x86_64__)
  EXPECT_GT(met.dram_latency.value_or(0), 0);
  EXPECT_GT(probe->best_stream(), 0);
  EXPECT_FALSE(met.dram_share) << "this machine has no stream to compare it with";
#endif
}

TEST(Conditions, AProcessThatIsGoneTellsNothing) {
  auto probe = ConditionsProbe::make({});
  ASSERT_TRUE(probe);
  probe->look_beside(-5);
  EXPECT_FALSE(probe->conditions().core_share);
  EXPECT_FALSE(probe->conditions().l3_latency);
}

}  // namespace
}  // namespace loft::machine
