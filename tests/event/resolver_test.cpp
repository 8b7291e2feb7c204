#include "event/resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "event/virtual_names.hpp"
#include "machines.hpp"

namespace loft::event {
namespace {

using testing::HasSubstr;

Event resolved(const Tree& tree, std::string_view name) {
  const auto event = tree.resolver().resolve(name);
  EXPECT_TRUE(event) << name << ": " << (event ? "" : to_string(event.error()));
  return event.value_or(Event{});
}

Error refused(const Tree& tree, std::string_view list) {
  const auto events = tree.resolver().resolve_list(list);
  EXPECT_FALSE(events) << list;
  return events ? Error{} : events.error();
}

TEST(Resolver, KernelNamesResolveOnAMachineWithoutCounters) {
  const Tree tree = cloud_machine();
  const Event cycles = resolved(tree, "cycles");
  EXPECT_EQ(cycles.encoding, (Encoding{"cpu", 0, 0, 0, 0}));
  EXPECT_EQ(cycles.origin, "kernel");
  EXPECT_TRUE(cycles.counts_the_same_as(resolved(tree, "cpu-cycles")));
  EXPECT_EQ(resolved(tree, "cs").encoding, (Encoding{"software", 1, 3, 0, 0}));
  EXPECT_TRUE(resolved(tree, "faults").counts_the_same_as(resolved(tree, "page-faults")));
  EXPECT_EQ(resolved(tree, "task-clock").unit, "ns");
}

TEST(Resolver, CacheNamesFollowTheKernelsNumbers) {
  const Tree tree = intel_machine();
  EXPECT_EQ(resolved(tree, "L1-dcache-load-misses").encoding, (Encoding{"cpu", 3, 0x10000, 0, 0}));
  EXPECT_EQ(resolved(tree, "LLC-stores").encoding.config, 0x102u);
  EXPECT_EQ(resolved(tree, "dTLB-prefetch-misses").encoding.config, 0x10203u);
  EXPECT_EQ(resolved(tree, "l1d-read-miss").encoding.config, 0x10000u);
  EXPECT_EQ(resolved(tree, "LLC-misses").encoding.config, 0x10002u);
  EXPECT_EQ(resolved(tree, "branch-load-misses").encoding.config, 0x10005u);
  EXPECT_EQ(refused(tree, "iTLB-stores").kind, ErrorKind::not_found) << "the kernel has none";
}

TEST(Resolver, TermsGoWhereTheFormatSays) {
  const Tree tree = intel_machine();
  const Event event = resolved(tree, "cpu/event=0xd1,umask=0x20,cmask=2,inv/");
  EXPECT_EQ(event.encoding, (Encoding{"cpu", 4, 0x028020d1, 0, 0}));
  EXPECT_EQ(event.origin, "sysfs");
  EXPECT_EQ(resolved(tree, "cpu/mem-loads,ldlat=30/").encoding, (Encoding{"cpu", 4, 0x1cd, 30, 0}))
      << "a term beside a named event replaces its value";
  EXPECT_EQ(resolved(tree, "cpu/ldlat=30,mem-loads/").encoding.config1, 30u);
  EXPECT_EQ(resolved(tree, "uncore_cha_0/wide=0xab/").encoding.config, 0xa0000000bu);
  EXPECT_EQ(resolved(tree, "cpu/config=0xffffffffffffffff,config2=7/").encoding.config2, 7u);
}

TEST(Resolver, ATermThatDoesNotFitIsRefused) {
  const Tree tree = intel_machine();
  EXPECT_THAT(refused(tree, "cpu/event=0x100/").why, HasSubstr("8 bits"));
  EXPECT_THAT(refused(tree, "cpu/event=abc/").why, HasSubstr("not a number"));
  EXPECT_THAT(refused(tree, "cpu/evnt=1/").hint, HasSubstr("event"));
  EXPECT_THAT(refused(tree, "cpu/event=1,event=2/").why, HasSubstr("twice"));
  EXPECT_THAT(refused(tree, "uncore_cha_0/extra=1/").why, HasSubstr("config3"));
  EXPECT_THAT(refused(tree, "cpu/config3=1/").why, HasSubstr("config3"));
  EXPECT_THAT(refused(tree, "uncore_cha_0/open/").why, HasSubstr("open"));
  EXPECT_THAT(refused(tree, "cpu/../").why, HasSubstr("no term"));
}

TEST(Resolver, PackageEventsCarryUnitScaleAndCpus) {
  const Tree tree = intel_machine();
  for (const char* name : {"energy-pkg", "power/energy-pkg/", "sysfs:energy-pkg"}) {
    const Event event = resolved(tree, name);
    EXPECT_EQ(event.encoding, (Encoding{"power", 22, 2, 0, 0})) << name;
    EXPECT_EQ(event.unit, "Joules");
    EXPECT_DOUBLE_EQ(event.scale, 2.3283064365386962890625e-10);
    EXPECT_EQ(event.cpus, (CpuList{0, 18}));
  }
  EXPECT_THAT(refused(tree, "energy-pkg:u").why, HasSubstr("package"));
}

TEST(Resolver, AFamilyOfPmusIsExpanded) {
  const Tree tree = intel_machine();
  const auto events = tree.resolver().resolve_list("uncore_imc/cas_count_read/,imc/clockticks/");
  ASSERT_TRUE(events) << to_string(events.error());
  ASSERT_EQ(events->size(), 4u);
  EXPECT_EQ((*events)[0].name, "uncore_imc_0/cas_count_read/");
  EXPECT_EQ((*events)[1].encoding.type, 15u);
  EXPECT_EQ(tree.resolver().resolve("cas_count_read").error().kind, ErrorKind::invalid_input)
      << "one name of two events is not one event";
}

TEST(Resolver, ANameOfUnrelatedPmusIsAmbiguous) {
  EXPECT_THAT(refused(intel_machine(), "clockticks").hint, HasSubstr("uncore_imc/clockticks/"));
}

TEST(Resolver, EachKindOfCoreGetsItsOwnCount) {
  const Tree tree = hybrid_machine();
  const auto events = tree.resolver().resolve_list("cycles:u");
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].encoding, (Encoding{"cpu_atom", 0, 10ull << 32, 0, 0}));
  EXPECT_EQ((*events)[1].encoding, (Encoding{"cpu_core", 0, 4ull << 32, 0, 0}));
  EXPECT_FALSE((*events)[1].modifiers.kernel);
  EXPECT_TRUE(resolved(tree, "cpu_core/cycles/u").counts_the_same_as((*events)[1]));
  EXPECT_EQ(resolved(tree, "r1c2").encoding.pmu, "cpu_core");
}

TEST(Resolver, RawEventsBelongToTheCorePmu) {
  EXPECT_EQ(resolved(intel_machine(), "r01c2").encoding, (Encoding{"cpu", 4, 0x1c2, 0, 0}));
  EXPECT_EQ(resolved(arm_machine(), "r11").encoding, (Encoding{"armv8_pmuv3_0", 8, 0x11, 0, 0}));
  EXPECT_TRUE(resolved(arm_machine(), "raw:0x11:u")
                  .counts_the_same_as(resolved(arm_machine(), "cpu_cycles:u")));
  EXPECT_EQ(refused(intel_machine(), "raw:xyz").kind, ErrorKind::invalid_input);
  EXPECT_EQ(refused(intel_machine(), "r11112222333344445").kind, ErrorKind::not_found);
}

TEST(Resolver, ModifiersSayWhereToCount) {
  const Tree tree = intel_machine();
  EXPECT_EQ(resolved(tree, "cycles:u").modifiers, (Modifiers{true, false, false, 0}));
  EXPECT_EQ(resolved(tree, "cycles:ukpp").modifiers, (Modifiers{true, true, false, 2}));
  EXPECT_EQ(resolved(tree, "cpu/event=1/k").modifiers, (Modifiers{false, true, false, 0}));
  EXPECT_EQ(resolved(tree, "cpu/event=1/:k").modifiers, (Modifiers{false, true, false, 0}));
  EXPECT_EQ(resolved(tree, "cycles:ppp").modifiers, (Modifiers{true, true, true, 3}));
  for (const char* bad : {"cycles:x", "cycles:pppp", "cycles:uu", "cycles:", "cpu/event=1/z"}) {
    const Error error = refused(tree, bad);
    EXPECT_EQ(error.kind, ErrorKind::invalid_input) << bad;
    EXPECT_THAT(error.what, HasSubstr("modifiers")) << bad;
  }
}

TEST(Resolver, TracepointsAreNumberedByTracefs) {
  const Tree tree = cloud_machine();
  EXPECT_EQ(resolved(tree, "sched:sched_switch").encoding, (Encoding{"tracepoint", 2, 314, 0, 0}));
  EXPECT_FALSE(resolved(tree, "sched:sched_switch:u").modifiers.kernel);
  EXPECT_EQ(resolved(tree, "tracepoint:sched:sched_switch").encoding.config, 314u);
  const Error error = refused(tree, "sched:sched_swich");
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_THAT(error.hint, HasSubstr("sched:sched_switch"));
}

TEST(Resolver, TracefsThatIsNotMountedGetsItsOwnExplanation) {
  const Error error = refused(arm_machine(), "sched:sched_switch");
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_THAT(error.hint, HasSubstr("mount -t tracefs"));
}

TEST(Resolver, VirtualEventsCarryTheirIndex) {
  const Tree tree = cloud_machine();
  for (const char* name : {"instructions", "flops", "branch_misses"}) {
    const Event event = resolved(tree, "virtual::" + std::string(name));
    EXPECT_EQ(event.encoding.kind(), PmuKind::virtual_pmu);
    EXPECT_EQ(some_virtual_names()[event.encoding.config - 10].name, name);
  }
  EXPECT_EQ(resolved(tree, "virtual::load_bytes").unit, "B");
  EXPECT_EQ(resolved(tree, "instructions").encoding.pmu, "cpu") << "unless the source is virtual";
  EXPECT_THAT(refused(tree, "virtual::flop").hint, HasSubstr("virtual::flops"));
  EXPECT_EQ(refused(tree, "virtual::flops:k").kind, ErrorKind::invalid_input);
}

TEST(Resolver, ThePlainNameIsTheVirtualPmusWhereNothingElseCountsIt) {
  const Tree cloud = cloud_machine();
  Resolver best = cloud.resolver(PlainNames::best);
  for (const char* name : {"instructions", "instructions:u", "flops"})
    EXPECT_TRUE(best.resolve(name)->encoding.is_virtual()) << name;
  const auto cycles = best.resolve("cycles");
  ASSERT_TRUE(cycles);
  EXPECT_FALSE(cycles->encoding.is_virtual());
  EXPECT_THAT(cycles->uncountable, HasSubstr("no hardware counters"));
  EXPECT_TRUE(best.resolve("task-clock")->uncountable.empty());

  const Tree zen = zen_machine();
  Resolver counters = zen.resolver(PlainNames::best);
  EXPECT_EQ(counters.resolve("instructions")->encoding.pmu, "cpu");
  EXPECT_TRUE(counters.resolve("cycles")->uncountable.empty());
  EXPECT_TRUE(counters.resolve("flops")->encoding.is_virtual()) << "nobody else has it";
}

TEST(Resolver, WhatAnEventMeansDoesNotDependOnHowItIsWritten) {
  EXPECT_EQ(resolved(zen_machine(), "cpu-cycles:u").meaning, Meaning::cycles);
  EXPECT_EQ(resolved(hybrid_machine(), "cpu_core/instructions/").meaning, Meaning::instructions);
  EXPECT_EQ(resolved(arm_machine(), "armv8_pmuv3_0/cpu_cycles/").meaning, Meaning::cycles);
  EXPECT_EQ(resolved(zen_machine(), "virtual::instructions").meaning, Meaning::instructions);
  EXPECT_EQ(resolved(zen_machine(), "page-faults").meaning, Meaning::other);
}

TEST(Resolver, AnUnknownNameComesWithTheNearest) {
  const Error error = refused(cloud_machine(), "instrutions");
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_THAT(error.hint, HasSubstr("instructions"));
  EXPECT_THAT(refused(cloud_machine(), "cpu/event=1/").why, HasSubstr("none of this name"));
}

TEST(Resolver, GroupsAreNumbered) {
  const Tree tree = intel_machine();
  const auto list = tree.resolver().resolve_list("task-clock,{cycles,instructions:k}:u,{branches}");
  ASSERT_TRUE(list) << to_string(list.error());
  ASSERT_EQ(list->size(), 4u);
  EXPECT_EQ((*list)[0].group, 0u);
  EXPECT_EQ((*list)[1].group, 1u);
  EXPECT_EQ((*list)[2].group, 1u);
  EXPECT_EQ((*list)[3].group, 2u);
  EXPECT_FALSE((*list)[1].modifiers.kernel);
  EXPECT_TRUE((*list)[2].modifiers.kernel) << "its own modifier is stronger than the group's";
}

TEST(Resolver, LibpfmIsNotAskedAboutATreeOfAnotherMachine) {
  EXPECT_EQ(refused(intel_machine(), "pfm:INST_RETIRED:ANY").kind, ErrorKind::unsupported);
  EXPECT_EQ(refused(intel_machine(), "skl::INST_RETIRED:ANY").kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace loft::event
