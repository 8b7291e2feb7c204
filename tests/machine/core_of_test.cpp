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
