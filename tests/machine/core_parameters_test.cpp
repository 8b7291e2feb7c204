// Probes on the machine that is there. Loads on it lift costs, so only what holds by construction
// is asserted: a chain is never quicker than a stream, nothing is 0, and all that is missing says
// why.
#include "machine/core_parameters.hpp"

#include <gtest/gtest.h>

#include "machine/core_probes.hpp"

namespace loft::machine {
namespace {

class CoreParameters : public testing::Test {
 protected:
  // A short plan: two rounds of few windows.
  static void SetUpTestSuite() {
    const auto allowed = allowed_cpus();
    auto bench = Workbench::make({allowed->front()}, 4 << 20);
    ASSERT_TRUE(bench);
    const IsaSupport support = isa_support();
    PlanInput input;
    input.isas = support.usable;
    input.fma = support.fma;
    input.levels = {{"L1", 32768, 32768, 16384, true}, {"DRAM", 0, 0, 1 << 20, true}};
    Plan plan;
    std::vector<std::string> notes;
    auto rings = plan_latencies(plan, input, **bench, notes);
    ASSERT_TRUE(rings);
    auto probes = plan_core_probes(plan, input, *rings, **bench);
    ASSERT_TRUE(probes);
    for (int round = 0; round < 2; ++round)
      for (Item& item : plan.items) (*bench)->run_round(item.trial, 2, 0.00005);
    machine_ = new model::Machine;
    machine_->isas = {"scalar"};
    machine_->frequency_hz = 3e9;
    machine_->constants = constants_of(plan, **bench);
    machine_->core = core_parameters(plan, **bench, *machine_, {});
  }
  static void TearDownTestSuite() { delete machine_; }

  static double value(const std::string& name) {
    const model::Constant* found = find_core_parameter(*machine_, name);
    return found == nullptr || found->verdict == model::Verdict::unavailable ? 0 : found->value;
  }

  static model::Machine* machine_;
};

model::Machine* CoreParameters::machine_ = nullptr;

TEST_F(CoreParameters, HaveAValueOrAReason) {
  ASSERT_GT(machine_->core.size(), 40u);
  for (const model::Constant& each : machine_->core) {
    const bool known = each.verdict != model::Verdict::unavailable;
    EXPECT_EQ(known, each.value > 0) << each.name;
    EXPECT_EQ(known, each.why.empty()) << each.name;
    EXPECT_FALSE(each.unit.empty()) << each.name;
  }
}

TEST_F(CoreParameters, NamesAreUnique) {
  for (const model::Constant& each : machine_->core)
    EXPECT_EQ(find_core_parameter(*machine_, each.name), &each) << each.name;
}

// The time of one instruction in a chain is its latency; in a stream at most that, but for noise.
TEST_F(CoreParameters, ChainsAreNotQuickerThanStreams) {
  for (const char* name : {"int_mul", "vector_int_add", "shuffle"}) {
    const double latency = value(name + std::string("_latency_cycles"));
    const double rate = value(name + std::string("_per_cycle"));
    if (latency == 0 || rate == 0) continue;
    EXPECT_GT(latency * rate, 0.5) << name;
  }
}

TEST_F(CoreParameters, WhatWasNotMeasuredIsMissing) {
  EXPECT_EQ(value("dtlb_entries"), 0);
  EXPECT_EQ(value("l3_effective_bytes"), 0);
  EXPECT_EQ(value("dram_load_bytes_per_cycle"), 0) << "no roofs were measured";
}

}  // namespace
}  // namespace loft::machine
