#include "model/roof_advice.hpp"

#include <gmock/gmock.h>

namespace loft::model {
namespace {

using testing::HasSubstr;
using testing::Not;

Roof peak(std::string isa, std::string op, double flops, int threads = 1,
          std::string precision = "dp") {
  Roof roof;
  roof.kind = RoofKind::flops;
  roof.isa = std::move(isa);
  roof.op = std::move(op);
  roof.precision = std::move(precision);
  roof.threads = threads;
  roof.best = flops;
  roof.verdict = Verdict::stable;
  return roof;
}

Roof slope(std::string level, double bytes, int threads = 1) {
  Roof roof;
  roof.kind = RoofKind::bandwidth;
  roof.level = std::move(level);
  roof.op = "load";
  roof.threads = threads;
  roof.best = bytes;
  roof.verdict = Verdict::stable;
  return roof;
}

// One thread: 50 GFLOP/s, 200 GB/s from L1, 20 GB/s from memory. Two threads: twice the peaks,
// 30 GB/s from memory.
Machine machine() {
  Machine machine;
  for (const int threads : {1, 2}) {
    machine.roofs.push_back(peak("avx2", "fma", 50e9 * threads, threads));
    machine.roofs.push_back(peak("scalar", "add", 6e9 * threads, threads));
    machine.roofs.push_back(peak("avx2", "fma", 100e9 * threads, threads, "sp"));
    machine.roofs.push_back(slope("L1", 200e9 * threads, threads));
    machine.roofs.push_back(slope("DRAM", threads == 1 ? 20e9 : 30e9, threads));
  }
  return machine;
}

Subject subject(Scope scope, std::string name, double flops, double bytes, double seconds) {
  Subject subject;
  subject.scope = scope;
  subject.name = std::move(name);
  subject.seconds = seconds;
  subject.work = Work{.flops_dp = flops, .bytes = bytes, .instructions = flops};
  subject.work->widths.bits256 = flops;
  return subject;
}

TEST(RoofPoints, ARateIsTheWorkOverTheTimeAndIntensityOverTheBytes) {
  const auto chart = place(machine(), {subject(Scope::run, "app", 4e9, 48e9, 2)});
  ASSERT_EQ(chart.points.size(), 1u);
  EXPECT_DOUBLE_EQ(chart.points[0].flops_per_second.value(), 2e9);
  EXPECT_DOUBLE_EQ(chart.points[0].intensity.value(), 4.0 / 48);
  EXPECT_DOUBLE_EQ(chart.points[0].bytes_per_second.value(), 24e9);
}

TEST(RoofPoints, WhatIsNotKnownIsAbsentAndNotZero) {
  Subject uncounted = subject(Scope::function, "kernel", 0, 0, 1);
  uncounted.work.reset();
  const Subject timeless = subject(Scope::function, "short", 10, 10, 0);
  const Subject integers = subject(Scope::function, "copy", 0, 5e9, 1);
  const auto chart =
      place(machine(), {subject(Scope::run, "app", 1e9, 1e9, 2), uncounted, timeless, integers});
  EXPECT_FALSE(chart.points[1].flops_per_second);
  EXPECT_FALSE(chart.points[1].intensity);
  EXPECT_FALSE(chart.points[2].flops_per_second);
  EXPECT_EQ(chart.points[3].flops_per_second, 0);
  EXPECT_FALSE(chart.points[3].intensity);
  EXPECT_FALSE(chart.points[3].limit);
}

// 2 GFLOP/s, of 4 GFLOP in 2 s: 24 GB/s of 200 at L1, 18 GB/s of 20 at memory, which allows
// 20 * 4 / 36 GFLOP/s. The machine has no roof of L2, and nobody knows the bytes of L3.
TEST(RoofPoints, BytesOfLevelsGiveAPointAtEachAndTheOneMostUsedIsTheLimit) {
  Subject run = subject(Scope::run, "app", 4e9, 48e9, 2);
  run.work->levels = {.l2 = 64e9, .l3 = {}, .dram = 36e9};
  const RoofPoint point = place(machine(), {run}).points[0];
  ASSERT_EQ(point.levels.size(), 3u);
  EXPECT_EQ(point.levels[0].level, "L1");
  EXPECT_EQ(point.levels[0].origin, sample::Origin::counted);
  EXPECT_DOUBLE_EQ(point.levels[0].share.value(), 0.12);
  EXPECT_DOUBLE_EQ(point.levels[1].intensity.value(), 1.0 / 16);
  EXPECT_DOUBLE_EQ(point.levels[1].bytes_per_second.value(), 32e9);
  EXPECT_FALSE(point.levels[1].share);
  EXPECT_EQ(point.levels[2].level, "DRAM");
  EXPECT_EQ(point.levels[2].origin, sample::Origin::modelled);
  EXPECT_DOUBLE_EQ(point.levels[2].attainable.value(), 20e9 * 4 / 36);
  EXPECT_EQ(point.limit.value().name, "DRAM bandwidth");
  EXPECT_NEAR(point.limit->share, 0.9, 1e-12);

  // In the caches: the peak of its instructions is nearer than any bandwidth.
  run.work->levels.dram = 1e6;
  EXPECT_EQ(place(machine(), {run}).points[0].limit.value().name, "L1 bandwidth");
  run.work->bytes = 1e9;
  EXPECT_EQ(place(machine(), {run}).points[0].limit.value().name, "FMA, 256 bit");
  const Subject unknown = subject(Scope::function, "other", 4e9, 48e9, 2);
  EXPECT_FALSE(place(machine(), {run, unknown}).points[1].limit) << "its levels are not known";
  run.work->levels = {};
  EXPECT_TRUE(place(machine(), {run}).points[0].levels.empty());
}

TEST(RoofPoints, TheSumOfLevelsLacksWhatOneOfItsPartsLacks) {
  Work sum;
  sum += Work{.bytes = 1, .levels = {.l2 = 10, .l3 = 5, .dram = 1}};
  EXPECT_EQ(sum.levels, (LevelBytes{10, 5, 1})) << "nothing was done before";
  sum += Work{.bytes = 1, .levels = {.l2 = 10, .l3 = {}, .dram = 1}};
  EXPECT_EQ(sum.levels, (LevelBytes{20, {}, 2}));
  EXPECT_EQ(sum.scaled_by(0.5).levels, (LevelBytes{10, {}, 1}));
  sum += Work{};
  EXPECT_EQ(sum.levels, (LevelBytes{20, {}, 2}));
}

// Two loads and a store move four lines where three are touched; a cache of victims takes one for
// each that it gives.
TEST(RoofPoints, BandwidthsInLinesMovedReckonWithFillsAndWriteBacks) {
  Machine machine;
  for (const char* level : {"L1", "L2", "L3"}) {
    machine.roofs.push_back(slope(level, 30e9));
    machine.roofs.back().op = "2ld1st";
  }
  const Machine moved = roofs_of_traffic(machine, true);
  EXPECT_DOUBLE_EQ(moved.roofs[0].best, 30e9);
  EXPECT_DOUBLE_EQ(moved.roofs[1].best, 40e9);
  EXPECT_DOUBLE_EQ(moved.roofs[2].best, 60e9);
  EXPECT_DOUBLE_EQ(roofs_of_traffic(machine, false).roofs[2].best, 40e9);
}

// 300 GFLOP/s where the peak is 50: the estimate of the time is wrong, and so is the rate.
TEST(RoofPoints, AnEstimateThatTheMachineCannotReachIsNotShown) {
  Subject run = subject(Scope::run, "app", 300e9, 1e9, 1);
  run.origin = sample::Origin::modelled;
  const auto chart = place(machine(), {run});
  EXPECT_FALSE(chart.points[0].flops_per_second);
  EXPECT_FALSE(chart.points[0].limit);
  EXPECT_TRUE(chart.points[0].intensity);
}

// 75 GFLOP/s where the peak is 50: within the error of a time that few samples met, but not of an
// exact one.
TEST(RoofPoints, ARateAboveTheRoofOfFewSamplesIsNotShown) {
  Subject function = subject(Scope::function, "short", 75e9, 1e9, 1);
  function.time_error = 0.8;
  EXPECT_FALSE(place(machine(), {function}).points[0].flops_per_second);
  function.time_error = 0.1;
  EXPECT_TRUE(place(machine(), {function}).points[0].flops_per_second);
}

TEST(RoofPoints, TimeThatIsSharedByARuleGivesNoRate) {
  Subject function = subject(Scope::function, "add", 1e9, 1e9, 1);
  function.time_is_shared = true;
  const auto chart = place(machine(), {subject(Scope::run, "app", 1e9, 1e9, 2), function});
  EXPECT_FALSE(chart.points[1].flops_per_second);
  EXPECT_DOUBLE_EQ(chart.points[1].intensity.value(), 1);
  function.work->flops_dp = 0;
  EXPECT_EQ(place(machine(), {function}).points[0].flops_per_second, 0) << "none are none";
}

TEST(RoofPoints, OperationsInExtendedPrecisionAreOperations) {
  Subject old = subject(Scope::run, "app", 0, 1e9, 1);
  old.work->flops_x87 = 2e9;
  EXPECT_DOUBLE_EQ(place(machine(), {old}).points[0].flops_per_second.value(), 2e9);
}

TEST(RoofPoints, ThreadsAtWorkDecideWhoseRoofsCount) {
  Subject two = subject(Scope::run, "app", 2e9, 24e9, 1);
  two.concurrency = 1.9;
  const auto chart = place(machine(), {two});
  EXPECT_EQ(chart.roofline.threads, 2);
  ASSERT_TRUE(chart.points[0].limit);
  EXPECT_EQ(chart.points[0].limit->name, "DRAM bandwidth");
  EXPECT_NEAR(chart.points[0].limit->share, 24.0 / 30, 1e-9);
}

TEST(RoofPoints, PeaksOfNarrowerInstructionsDoNotBoundWideOnes) {
  Subject wide = subject(Scope::run, "app", 5e9, 0.1e9, 1);
  EXPECT_EQ(place(machine(), {wide}).points[0].limit->name, "FMA, 256 bit");
  wide.work->widths = {.scalar = 5e9};
  EXPECT_EQ(place(machine(), {wide}).points[0].limit->name, "ADD, scalar");
}

TEST(RoofPoints, ThePeakOfAdditionsDoesNotBoundMultiplyAdds) {
  Machine with_add = machine();
  with_add.roofs.push_back(peak("avx2", "add", 25e9));
  Subject fused = subject(Scope::run, "app", 20e9, 0.1e9, 1);
  EXPECT_EQ(place(with_add, {fused}).points[0].limit->name, "ADD, 256 bit");
  fused.work->flops_fma = 20e9;
  EXPECT_EQ(place(with_add, {fused}).points[0].limit->name, "FMA, 256 bit");
}

Machine machine_of_instructions() {
  Machine all = machine();
  Roof issue = peak("scalar", "mixed", 20e9);
  issue.kind = RoofKind::instructions;
  issue.precision.clear();
  all.roofs.push_back(issue);
  return all;
}

// 12e9 instructions and 3e9 bytes in 2 s: 6 G instructions/s at 4 per byte, where L1 allows 800 G,
// DRAM 80 G, and issue 20 G.
TEST(RoofPoints, ARunWithoutFloatingPointStandsUnderTheRoofOfInstructions) {
  Subject run = subject(Scope::run, "gzip", 0, 3e9, 2);
  run.work->instructions = 12e9;
  const auto chart = place(machine_of_instructions(), {run});
  EXPECT_EQ(chart.roofline.work, RoofKind::instructions);
  const RoofPoint& point = chart.points[0];
  EXPECT_DOUBLE_EQ(point.intensity.value(), 4);
  EXPECT_DOUBLE_EQ(point.ops_per_second.value(), 6e9);
  EXPECT_EQ(point.flops_per_second, 0);
  ASSERT_TRUE(point.limit);
  EXPECT_EQ(point.limit->name, "instruction issue");
  EXPECT_DOUBLE_EQ(point.limit->share, 0.3);
}

TEST(RoofPoints, AKindOfWorkThatWasAskedForIsShown) {
  Subject run = subject(Scope::run, "app", 4e9, 8e9, 2);
  run.work->instructions = 2e9;
  const auto fitting = place(machine_of_instructions(), {run});
  EXPECT_EQ(fitting.roofline.work, RoofKind::flops);
  EXPECT_DOUBLE_EQ(fitting.points[0].ops_per_second.value(), 2e9);
  const auto asked = place(machine_of_instructions(), {run}, 8, RoofKind::instructions);
  EXPECT_DOUBLE_EQ(asked.points[0].ops_per_second.value(), 1e9);
  EXPECT_DOUBLE_EQ(asked.points[0].intensity.value(), 0.25);
  EXPECT_DOUBLE_EQ(asked.points[0].flops_per_second.value(), 2e9) << "whatever the chart counts";
}

TEST(RoofPoints, InstructionsThatAreNotKnownGiveNoPointAmongThem) {
  Subject run = subject(Scope::run, "app", 4e9, 8e9, 2);
  run.work->instructions.reset();
  const auto chart = place(machine_of_instructions(), {run}, 8, RoofKind::instructions);
  EXPECT_FALSE(chart.points[0].ops_per_second);
  EXPECT_FALSE(chart.points[0].intensity);
  EXPECT_FALSE(chart.points[0].limit);
}

TEST(RoofPoints, AMachineFileWithoutARoofOfInstructionsKeepsFloatingPoint) {
  Subject run = subject(Scope::run, "gzip", 0, 3e9, 2);
  run.work->instructions = 12e9;
  EXPECT_EQ(place(machine(), {run}).roofline.work, RoofKind::flops);
}

TEST(RoofPoints, DividersBoundWhatMostlyDividesAndNothingElse) {
  Machine all = machine();
  all.roofs.push_back(peak("avx2", "div", 4e9));
  all.roofs.push_back(peak("avx2", "sqrt", 3e9));
  Subject run = subject(Scope::run, "app", 10e9, 1e9, 4);
  EXPECT_EQ(place(all, {run}).points[0].limit->name, "FMA, 256 bit");
  EXPECT_EQ(place(all, {run}).roofline.ceilings.back().op, "add");
  run.work->flops_div = 6e9;
  const auto chart = place(all, {run});
  EXPECT_EQ(chart.points[0].limit->name, "DIV, 256 bit");
  EXPECT_DOUBLE_EQ(chart.points[0].limit->share, 2.5 / 4);
  EXPECT_EQ(chart.roofline.ceilings.back().op, "div") << "roots have no line";
}

TEST(RoofPoints, SinglePrecisionStandsUnderItsOwnPeaks) {
  Subject single = subject(Scope::run, "app", 0, 1e9, 1);
  single.work->flops_sp = 80e9;
  const auto chart = place(machine(), {single});
  EXPECT_EQ(chart.roofline.precision, "sp");
  EXPECT_NEAR(chart.points[0].limit->share, 0.8, 1e-9);
}

TEST(RoofPoints, FunctionsBeyondTheTopAreAddedUp) {
  const auto chart = place(
      machine(),
      {subject(Scope::run, "app", 6e9, 6e9, 3), subject(Scope::function, "small", 1e9, 2e9, 0.5),
       subject(Scope::function, "large", 4e9, 2e9, 2),
       subject(Scope::function, "tiny", 1e9, 2e9, 0.5)},
      1);
  EXPECT_THAT(chart.shown, testing::ElementsAre(2u));
  ASSERT_TRUE(chart.others);
  EXPECT_EQ(chart.others->subject.name, "(2 others)");
  EXPECT_DOUBLE_EQ(chart.others->flops_per_second.value(), 2e9);
  EXPECT_DOUBLE_EQ(chart.others->intensity.value(), 0.5);
}

TEST(RoofPoints, ASumThatLacksAPartIsNotGiven) {
  Subject uncounted = subject(Scope::function, "kernel", 0, 0, 0.5);
  uncounted.work.reset();
  const auto chart = place(
      machine(),
      {subject(Scope::run, "app", 6e9, 6e9, 3), subject(Scope::function, "large", 4e9, 2e9, 2),
       uncounted, subject(Scope::function, "tiny", 1e9, 2e9, 0.4)},
      1);
  ASSERT_TRUE(chart.others);
  EXPECT_FALSE(chart.others->flops_per_second);
}

// At the DRAM line, with L1's far above: its data may come from anywhere.
TEST(Advice, APointAtALowerLineProvesNothing) {
  const auto chart = place(machine(), {subject(Scope::run, "app", 2e9, 20e9, 1.2),
                                       subject(Scope::function, "sweep", 1.9e9, 19e9, 1.0)});
  EXPECT_THAT(advice(chart), HasSubstr("sweep is below the line of DRAM bandwidth, at 95 % of it"));
  EXPECT_THAT(advice(chart), Not(HasSubstr("fewer bytes")));
}

TEST(Advice, APointAtTheSteepestLineNeedsFewerBytes) {
  const auto chart = place(machine(), {subject(Scope::run, "app", 19e9, 190e9, 1)});
  EXPECT_THAT(advice(chart), HasSubstr("app moves bytes as fast as L1 bandwidth allows: fewer"));
}

// The bytes are those that memory moved: its line is the only one.
TEST(Advice, APointAtTheLineOfMemoryNeedsFewerOfItsBytes) {
  Machine of_memory = machine();
  std::erase_if(of_memory.roofs, [](const Roof& roof) { return roof.level == "L1"; });
  const auto chart = place(of_memory, {subject(Scope::run, "app", 1.9e9, 19e9, 1)});
  EXPECT_THAT(advice(chart), HasSubstr("fewer bytes will help"));
}

TEST(Advice, ScalarCodeAtItsPeakHasRoomInVectors) {
  Subject scalar = subject(Scope::run, "loop", 5.7e9, 0.1e9, 1);
  scalar.work->widths = {.scalar = 5.7e9};
  EXPECT_THAT(advice(place(machine(), {scalar})), HasSubstr("vectorizing"));
  scalar.seconds = 2;  // half of the peak: something else holds it back
  EXPECT_THAT(advice(place(machine(), {scalar})), Not(HasSubstr("vectorizing")));
  scalar.seconds = 1;
  scalar.time_error = 0.3;  // it may be at 67 %
  EXPECT_THAT(advice(place(machine(), {scalar})), Not(HasSubstr("vectorizing")));
}

TEST(Advice, AnEstimateProvesNothing) {
  Subject run = subject(Scope::run, "app", 19e9, 190e9, 1);
  run.origin = sample::Origin::modelled;
  EXPECT_THAT(advice(place(machine(), {run})), Not(HasSubstr("fewer bytes")));
}

TEST(Advice, SaysWhenARooflineSaysLittle) {
  Subject run = subject(Scope::run, "gzip", 10, 1e9, 1);
  run.work->instructions = 5e9;
  EXPECT_THAT(advice(place(machine(), {run})), HasSubstr("hardly any floating point"));
}

// Under the peak of additions, not under that of multiplications, which is lower.
TEST(RoofPoints, OperationsOnIntegersHaveTheirOwnRoof) {
  Machine with_integers = machine();
  for (const auto& [op, best] : {std::pair{"add", 10e9}, {"mul", 2e9}}) {
    Roof roof;
    roof.kind = RoofKind::integer;
    roof.isa = "scalar";
    roof.precision = "int64";
    roof.op = op;
    roof.best = best;
    roof.verdict = Verdict::stable;
    with_integers.roofs.push_back(roof);
  }
  Subject run;
  run.seconds = 1;
  run.work = Work{};
  run.work->int_ops = 1.5e9;
  run.work->instructions = 4e9;
  run.work->bytes = 1e6;
  const RoofChart chart = place(with_integers, {run}, 8, RoofKind::integer);
  ASSERT_EQ(chart.roofline.ceilings.size(), 1u);
  ASSERT_TRUE(chart.points[0].limit);
  EXPECT_EQ(chart.points[0].limit->name, "integer ADD, scalar");
  EXPECT_DOUBLE_EQ(chart.points[0].limit->share, 0.15);
  EXPECT_DOUBLE_EQ(chart.points[0].intensity.value(), 1500);
  run.work->int_ops.reset();
  EXPECT_FALSE(place(with_integers, {run}, 8, RoofKind::integer).points[0].ops_per_second)
      << "what nobody counted is not 0";
}

}  // namespace
}  // namespace loft::model
