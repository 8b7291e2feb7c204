// Machines that were made up, as the timing model sees their cores.
#include "machine/core_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/geometry.hpp"

namespace loft::machine {
namespace {

model::Machine machine_with(const std::string& cpu, std::vector<std::string> isas) {
  model::Machine machine;
  machine.architecture = "x86_64";
  machine.cpu = cpu;
  machine.isas = std::move(isas);
  return machine;
}

void put(model::Machine& machine, const char* name, double value) {
  model::Constant constant;
  constant.name = name;
  constant.value = value;
  constant.verdict = model::Verdict::stable;
  machine.core.push_back(std::move(constant));
}

TEST(CoreOf, TakesOverWhatWasMeasured) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx2", "avx512"});
  put(machine, "dram_latency_cycles", 431.5);
  put(machine, "load_per_cycle", 2.997);
  put(machine, "fp_div_occupancy_cycles", 5.01);
  put(machine, "misprediction_cycles", 16);
  auto core = core_of(machine);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->base, "zen4");
  EXPECT_EQ(core->parameters.dram_latency.value, 431.5);
  EXPECT_EQ(core->parameters.dram_latency.origin, core::Origin::measured);
  EXPECT_EQ(core->parameters[core::Unit::load].value, 3) << "ports are whole";
  EXPECT_EQ(core->parameters[core::Op::fp_div_double].occupancy.value, 5.01);
  EXPECT_EQ(core->parameters.mispredict_penalty.value, 14) << "what it is without test and branch";
  EXPECT_NE(core->parameters.l3_latency.origin, core::Origin::measured);
  EXPECT_NE(std::ranges::find(core->missing, "l3_latency_cycles"), core->missing.end());
  EXPECT_TRUE(core::check(core->parameters));
}

TEST(CoreOf, WhatIsWrittenBackCostsWhatStoresTakeLongerThanLoads) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar"});
  EXPECT_EQ(core_of(machine)->parameters.write_back_cost.value, 1) << "not known: as much";
  put(machine, "dram_load_bytes_per_cycle", 9);
  put(machine, "dram_store_bytes_per_cycle", 6);
  EXPECT_DOUBLE_EQ(core_of(machine)->parameters.write_back_cost.value, 0.5);
  machine.core.back().value = 10;
  EXPECT_EQ(core_of(machine)->parameters.write_back_cost.value, 0);
}

TEST(CoreOf, OfMemoryTheUsualIsTaken) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx512"});
  put(machine, "dram_latency_cycles", 500);
  machine.core.back().median = 600;
  put(machine, "l3_latency_cycles", 45);
  machine.core.back().median = 60;
  EXPECT_EQ(core_of(machine)->parameters.dram_latency.value, 600);
  EXPECT_EQ(core_of(machine)->parameters.l3_latency.value, 45) << "its best is the cost";
}

TEST(CoreOf, AStreamWaitsAtAPageForWhatSmallPagesTakeLonger) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx512"});
  EXPECT_EQ(core_of(machine)->parameters.page_start.origin, core::Origin::assumed);
  put(machine, "dram_latency_cycles", 600);
  put(machine, "page_walk_cycles", 140);
  put(machine, "dram_misses_in_flight", 20);
  put(machine, "dram_small_pages_bytes_per_cycle", 4);
  put(machine, "dram_one_stream_bytes_per_cycle", 8);
  // 1024 cycles a page instead of 512; 20 lines of 8 cycles come meanwhile, 140 are of the walk.
  EXPECT_DOUBLE_EQ(core_of(machine)->parameters.page_start.value, (512 + 160 - 140) / 600.0);
  machine.core.back().value = 4;
  EXPECT_EQ(core_of(machine)->parameters.page_start.value, 0) << "small pages cost nothing";
}

TEST(CoreOf, AWalkToMemoryTakesWhatSmallPagesTakeLonger) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx512"});
  put(machine, "dram_latency_cycles", 600);
  EXPECT_EQ(core_of(machine)->parameters.walk_to_memory.value, 0);
  machine.constants.push_back(machine.core.back());
  machine.constants.back().name = "Mem_small_pages_lat";
  machine.constants.back().value = 900;
  machine.constants.back().median = 1100;
  EXPECT_EQ(core_of(machine)->parameters.walk_to_memory.value, 500);
}

TEST(CoreOf, TheTlbHasAsManyEntriesAsWereFound) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx512"});
  EXPECT_EQ(geometry_of(machine).tlb.second.entries, 3072u) << "of Zen 4";
  put(machine, "dtlb_entries", 60);
  put(machine, "dtlb_second_entries", 2310);
  const core::TlbGeometry tlb = geometry_of(machine).tlb;
  EXPECT_EQ(tlb.dtlb.entries, 60u);
  EXPECT_EQ(tlb.dtlb.ways, 60u) << "still fully associative";
  EXPECT_EQ(tlb.second.entries, 2304u) << "whole sets of 24 ways";
  EXPECT_TRUE(core::check(tlb));
}

// A busy neighbour hides units, and never adds some.
TEST(CoreOf, ANoisyMeasurementTakesNoUnitsFromAKnownCore) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar", "avx2", "avx512"});
  put(machine, "load_per_cycle", 1.2);
  EXPECT_EQ(core_of(machine)->parameters[core::Unit::load].value, 1);
  machine.core.back().verdict = model::Verdict::noisy;
  EXPECT_EQ(core_of(machine)->parameters[core::Unit::load].value, 3);
  machine.core.back().value = 4.02;
  EXPECT_EQ(core_of(machine)->parameters[core::Unit::load].value, 4);
}

TEST(CoreOf, KnowsGoldenCoveByItsCaches) {
  model::Machine machine = machine_with("Intel(R) Xeon(R) Processor", {"scalar", "avx512"});
  EXPECT_EQ(core_of(machine)->base, "icelake");
  machine.topology.caches = {{.level = 1, .type = "Data", .bytes = 48 << 10},
                             {.level = 2, .type = "Unified", .bytes = 1280 << 10}};
  EXPECT_EQ(core_of(machine)->base, "icelake");
  machine.topology.caches[1].bytes = 2048 << 10;
  EXPECT_EQ(core_of(machine)->base, "golden_cove");
  EXPECT_EQ(geometry_of(machine).name, "golden_cove");
}

TEST(CoreOf, ForwardingThatRenamingHidesIsNotMeasured) {
  model::Machine machine = machine_with("Intel(R) Xeon(R) Processor", {"scalar", "avx512"});
  put(machine, "l1_latency_cycles", 5);
  put(machine, "store_forward_latency_cycles", 0.5);
  const core::CoreParameters renamed = core_of(machine)->parameters;
  EXPECT_EQ(renamed.forward_general.value, 4) << "as documented";
  EXPECT_EQ(renamed.renames.value, 1);
  machine.core.back().value = 6.5;
  EXPECT_EQ(core_of(machine)->parameters.forward_general.value, 6.5);
}

// Every name of the table must be one that the core has: none may be refused as unknown.
TEST(CoreOf, KnowsAllParametersThatItMaps) {
  model::Machine machine = machine_with("AMD EPYC", {"scalar"});
  const auto without = core_of(machine);
  ASSERT_TRUE(without);
  for (const std::string& name : without->missing) put(machine, name.c_str(), 4);
  auto core = core_of(machine);
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->missing.empty());
  EXPECT_TRUE(core->unlikely.empty()) << core->unlikely.front();
}

TEST(CoreOf, RefusesWhatNoCoreCanHave) {
  model::Machine machine = machine_with("Intel(R) Xeon(R)", {"scalar", "avx2"});
  put(machine, "reorder_window_instructions", 1e9);
  auto core = core_of(machine);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->base, "skylake");
  EXPECT_EQ(core->unlikely, std::vector<std::string>{"reorder_window_instructions"});
  EXPECT_TRUE(core::check(core->parameters));
}

TEST(CoreOf, OfAnotherArchitectureIsNotGuessed) {
  model::Machine machine = machine_with("arm64 CPU", {"scalar", "neon"});
  machine.architecture = "aarch64";
  EXPECT_FALSE(core_of(machine));
}

}  // namespace
}  // namespace loft::machine
