// A machine file as text and CSV, and two of them side by side.
#include "view/machine.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace loft::view {
namespace {

using model::RoofKind;
using model::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

model::Roof roof(RoofKind kind, const char* isa, const char* op, double best) {
  model::Roof roof;
  roof.kind = kind;
  roof.isa = isa;
  roof.op = op;
  if (kind == RoofKind::flops) roof.precision = "dp";
  if (kind == RoofKind::bandwidth) roof.level = "L1";
  roof.best = best;
  roof.median = best / 2;
  roof.per_cycle = best / 2e9;
  roof.spread = 0.125;
  roof.verdict = Verdict::noisy;
  return roof;
}

model::Machine machine() {
  model::Machine machine;
  machine.cpu = "Some CPU";
  machine.architecture = "x86_64";
  machine.when = "2026-01-02T03:04:05Z";
  machine.mode = "quick";
  machine.isas = {"scalar", "avx2"};
  machine.frequency_hz = 2e9;
  machine.topology.cores = 2;
  machine.topology.threads_per_core = 1;
  machine.topology.packages = machine.topology.nodes = 1;
  machine.roofs = {roof(RoofKind::flops, "scalar", "add", 4e9),
                   roof(RoofKind::flops, "avx2", "fma", 48e9),
                   roof(RoofKind::bandwidth, "avx2", "load", 200e9)};
  model::Constant latency;
  latency.name = "L1_lat";
  latency.unit = "cycles";
  latency.value = latency.cycles = latency.median = 5;
  latency.ns = 2.5;
  latency.verdict = Verdict::stable;
  latency.origin = "measured";
  machine.constants = {latency};
  return machine;
}

TEST(MachineText, ShowsTheWidestRoofsAndAllWhenAskedFor) {
  const std::string text = machine_text(machine());
  EXPECT_THAT(text, HasSubstr("2 cores, 1 thread each, 1 socket, 1 NUMA node\n"));
  EXPECT_THAT(text, HasSubstr("clock 2.00 GHz measured, not known nominal"));
  EXPECT_THAT(text, HasSubstr("dp fma        avx2              1     48.00     24.00     24.00   "
                              "12.5 %  noisy\n"));
  EXPECT_THAT(text, Not(HasSubstr("dp add")));
  EXPECT_THAT(machine_text(machine(), true), HasSubstr("dp add        scalar"));
  EXPECT_THAT(text, HasSubstr("L1_lat                      5.00      2.50      5.00    0.0 %  "
                              "stable\n"));
}

TEST(MachineText, AKneeThatWasNotFoundIsNone) {
  model::Machine shown = machine();
  shown.levels.resize(2);
  shown.levels[0].name = "L1";
  shown.levels[0].claimed = 48 << 10;
  shown.levels[0].knee = 32 << 10;
  shown.levels[0].test_bytes = 16 << 10;
  shown.levels[0].found = true;
  shown.levels[1].name = "DRAM";
  shown.levels[1].test_bytes = 256 << 20;
  shown.levels[1].found = false;
  const std::string text = machine_text(shown);
  EXPECT_THAT(text, HasSubstr("L1            48 KiB        32 KiB        16 KiB\n"));
  EXPECT_THAT(text, HasSubstr("DRAM               -          none       256 MiB\n"));
}

TEST(MachineCsv, WhatIsNotAvailableIsAnEmptyField) {
  model::Machine shown = machine();
  shown.roofs = {roof(RoofKind::flops, "avx2", "fma", 48e9)};
  shown.roofs[0].verdict = Verdict::unavailable;
  EXPECT_EQ(machine_csv(shown),
            "kind,name,level,isa,precision,op,threads,bytes,best,median,per_cycle,unit,spread,"
            "verdict\n"
            "flops,\"FMA, 256 bit, double, 1 thread\",,avx2,dp,fma,1,,,,,FLOP/s,,unavailable\n"
            "constant,L1_lat,,,,,,,5,5,,cycles,0,stable\n");
}

TEST(MachineComparison, HasTheRatioOfWhatBothHave) {
  model::Machine faster = machine();
  faster.roofs[1].best = 96e9;
  faster.roofs.pop_back();
  const std::string text = comparison_text(machine(), faster);
  EXPECT_THAT(text, HasSubstr("48.0 G      96.0 G    2.000  noisy\n"));
  EXPECT_THAT(text, HasSubstr("200 G           -        -"));
  const auto json = nlohmann::json::parse(comparison_json(machine(), faster));
  EXPECT_EQ(json["schema"], "loft.machine-compare/1");
  int seen = 0;
  for (const auto& row : json["rows"]) {
    if (row["first"] == 48e9) {
      EXPECT_EQ(row["ratio"], 2.0);
      ++seen;
    }
    if (row["first"] == 200e9) {
      EXPECT_TRUE(row["second"].is_null());
      EXPECT_TRUE(row["ratio"].is_null());
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace loft::view
