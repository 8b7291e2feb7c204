#include "model/roofline.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/machine_compare.hpp"

namespace loft::model {
namespace {

Roof peak(const char* op, const char* isa, double best, int threads = 1) {
  Roof roof;
  roof.isa = isa;
  roof.precision = "dp";
  roof.op = op;
  roof.threads = threads;
  roof.cpus = threads == 1 ? CpuList{1} : CpuList{1, 0};
  roof.best = roof.median = best;
  roof.verdict = Verdict::stable;
  return roof;
}

Roof bandwidth(const char* level, const char* op, double best, int threads = 1) {
  Roof roof = peak(op, "avx2", best, threads);
  roof.kind = RoofKind::bandwidth;
  roof.precision.clear();
  roof.level = level;
  return roof;
}

Machine sample() {
  Machine machine;
  machine.cpu = "Some <CPU> & more";
  machine.roofs = {peak("add", "scalar", 6e9),        peak("fma", "avx2", 50e9),
                   peak("mixed", "avx2", 64e9),       peak("div", "avx2", 2e9),
                   bandwidth("L1", "load", 200e9),    bandwidth("L1", "2ld1st", 300e9),
                   bandwidth("L2", "load", 100e9),    bandwidth("DRAM", "load", 20e9),
                   peak("fma", "avx2", 98e9, 2),      bandwidth("L1", "load", 400e9, 2),
                   bandwidth("DRAM", "load", 30e9, 2)};
  return machine;
}

TEST(Roofline, TakesTheBestKernelOfEachLevel) {
  const Roofline roofline = roofline_of(sample());
  ASSERT_EQ(roofline.slopes.size(), 3u);
  EXPECT_EQ(roofline.slopes[0].bytes_per_second, 300e9);
  EXPECT_EQ(roofline.slopes[2].level, "DRAM");
  EXPECT_EQ(roofline.ceilings[0].name, "FMA and ADD mixed, 256 bit");
  EXPECT_EQ(roofline.ceilings.size(), 3u) << "division is no roof";
}

TEST(Roofline, IsTheLowerOfSlopeAndCeiling) {
  const Roofline roofline = roofline_of(sample());
  EXPECT_DOUBLE_EQ(roofline.attainable(0.1), 30e9);
  EXPECT_DOUBLE_EQ(roofline.attainable(10), 64e9);
  EXPECT_DOUBLE_EQ(roofline.ridge(), 64.0 / 300);
  EXPECT_DOUBLE_EQ(roofline.attainable(roofline.ridge()), 64e9);
}

TEST(Roofline, LimitIsTheLowestRoofAboveThePoint) {
  const Roofline roofline = roofline_of(sample());
  const auto l2 = roofline.limit(0.05, 4e9);  // 80 GB/s: more than memory gives, less than L2
  ASSERT_TRUE(l2);
  EXPECT_EQ(l2->name, "L2 bandwidth");
  EXPECT_DOUBLE_EQ(l2->share, 0.8);
  const auto memory = roofline.limit(0.01, 0.1e9);
  EXPECT_EQ(memory->name, "DRAM bandwidth");
  EXPECT_TRUE(memory->is_bandwidth);
  EXPECT_DOUBLE_EQ(memory->share, 0.5);
  const auto fma = roofline.limit(100, 40e9);
  EXPECT_EQ(fma->name, "FMA, 256 bit");
  EXPECT_DOUBLE_EQ(fma->share, 0.8);
}

TEST(Roofline, APointThatIsHardlyAboveARoofIsAtIt) {
  const Roofline roofline = roofline_of(sample());
  const auto at = roofline.limit(0.01, 1.04e9);  // 104 GB/s, where L2 gives 100
  ASSERT_TRUE(at);
  EXPECT_EQ(at->name, "L2 bandwidth");
  EXPECT_DOUBLE_EQ(at->share, 1.04);
  EXPECT_EQ(roofline.limit(0.01, 1.1e9)->name, "L1 bandwidth");
}

TEST(Roofline, APointAboveAllIsMeasuredAgainstTheTop) {
  const Roofline roofline = roofline_of(sample());
  const auto above = roofline.limit(100, 128e9);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->name, "FMA and ADD mixed, 256 bit");
  EXPECT_DOUBLE_EQ(above->share, 2);
  const auto left = roofline.limit(0.01, 6e9);
  EXPECT_EQ(left->name, "L1 bandwidth");
}

TEST(Roofline, WithoutRoofsOrIntensityThereIsNoLimit) {
  EXPECT_FALSE(Roofline().limit(1, 1));
  EXPECT_FALSE(roofline_of(sample()).limit(0, 1e9));
  EXPECT_FALSE(roofline_of(sample()).limit(std::nan(""), 1e9));
  EXPECT_EQ(Roofline().attainable(1), 0);
}

// 16 cores, measured with 1, 8 and 16 threads; additions with 1 and 16 alone.
Machine sixteen() {
  Machine machine;
  machine.roofs = {peak("add", "avx2", 10e9),
                   peak("add", "avx2", 160e9, 16),
                   peak("fma", "avx2", 20e9),
                   peak("fma", "avx2", 140e9, 8),
                   peak("fma", "avx2", 260e9, 16),
                   peak("sqrt", "avx2", 1e9),
                   bandwidth("DRAM", "load", 20e9),
                   bandwidth("DRAM", "load", 90e9, 8),
                   bandwidth("DRAM", "load", 100e9, 16),
                   bandwidth("DRAM", "copy", 30e9),
                   bandwidth("DRAM", "copy", 110e9, 16)};
  return machine;
}

TEST(Roofline, BetweenTwoMeasuredNumbersOfThreadsItIsInterpolated) {
  const Roofline roofline = roofline_of(sixteen(), {15, "dp"});
  EXPECT_EQ(roofline.threads, 15);
  EXPECT_EQ(roofline.threads_below, 8);
  EXPECT_EQ(roofline.threads_above, 16);
  EXPECT_EQ(roofline.basis(), RoofBasis::interpolated);
  ASSERT_EQ(roofline.ceilings.size(), 2u);
  EXPECT_EQ(roofline.ceilings[0].op, "fma");
  EXPECT_DOUBLE_EQ(roofline.ceilings[0].flops_per_second, 245e9);
  EXPECT_DOUBLE_EQ(roofline.ceilings[1].flops_per_second, 150e9) << "between 1 and 16";
  EXPECT_EQ(roofline.ceilings[0].basis, RoofBasis::interpolated);
  const auto limit = roofline.limit(100, 17e9);
  ASSERT_TRUE(limit);
  EXPECT_LT(limit->share, 0.12) << "of 15 threads, not of one";
  EXPECT_EQ(limit->basis, RoofBasis::interpolated);
}

TEST(Roofline, OfAMeasuredNumberOfThreadsPrefersWhatWasMeasured) {
  const Roofline roofline = roofline_of(sixteen(), {8, "dp"});
  EXPECT_EQ(roofline.threads_below, 8);
  EXPECT_EQ(roofline.threads_above, 8);
  ASSERT_EQ(roofline.slopes.size(), 1u);
  EXPECT_DOUBLE_EQ(roofline.slopes[0].bytes_per_second, 90e9) << "not the copy between 1 and 16";
  EXPECT_EQ(roofline.slopes[0].basis, RoofBasis::measured);
  EXPECT_EQ(roofline.ceilings[0].basis, RoofBasis::measured);
  EXPECT_EQ(roofline.ceilings[1].basis, RoofBasis::interpolated);
  EXPECT_EQ(roofline.basis(), RoofBasis::interpolated) << "the additions are";
  EXPECT_EQ(roofline_of(sixteen(), {16, "dp"}).basis(), RoofBasis::measured);
}

TEST(Roofline, BetweenANoisyAndAStableRoofIsNoisy) {
  Machine machine = sixteen();
  machine.roofs[4].verdict = Verdict::noisy;
  EXPECT_EQ(roofline_of(machine, {12, "dp"}).ceilings[0].verdict, Verdict::noisy);
  EXPECT_EQ(roofline_of(machine, {4, "dp"}).ceilings[0].verdict, Verdict::stable);
}

// Two threads on one memory node and on two: a program may be placed either way.
TEST(Roofline, TakesTheBestPlacementOfTheSameNumberOfThreads) {
  Machine machine = sample();
  Roof scattered = bandwidth("DRAM", "load", 39e9, 2);
  scattered.cpus = {1, 8};
  machine.roofs.push_back(scattered);
  EXPECT_EQ(roofline_of(machine, {2, "dp"}).slopes.back().bytes_per_second, 39e9);
}

TEST(Roofline, ExtrapolatesNothingBeyondTheLargestNumberOfThreads) {
  EXPECT_EQ(roofline_of(sample(), {8, "dp"}).threads, 2);
  EXPECT_EQ(roofline_of(sample(), {8, "dp"}).slopes[0].bytes_per_second, 400e9);
  EXPECT_EQ(roofline_of(sample(), {1, "dp"}).threads, 1);
  EXPECT_TRUE(roofline_of(sample(), {1, "sp"}).ceilings.empty());
}

TEST(Roofline, ShowsDividersToWhatDivides) {
  RooflineChoice choice;
  choice.divides = true;
  const Roofline roofline = roofline_of(sample(), choice);
  ASSERT_EQ(roofline.ceilings.size(), 4u);
  EXPECT_EQ(roofline.ceilings.back().name, "DIV, 256 bit");
  EXPECT_EQ(roofline.limit(10, 1.9e9)->name, "DIV, 256 bit");
}

TEST(Roofline, OfInstructionsHasTheirPeakAndNoOther) {
  Machine machine = sample();
  Roof issue = peak("mixed", "scalar", 18e9);
  issue.kind = RoofKind::instructions;
  issue.precision.clear();
  Roof sums = peak("add", "avx2", 44e9);
  sums.kind = RoofKind::integer;
  sums.precision = "int64";
  machine.roofs.push_back(issue);
  machine.roofs.push_back(sums);
  EXPECT_EQ(roofline_of(machine).ceilings.size(), 3u) << "floating point has its own";
  RooflineChoice choice;
  choice.work = RoofKind::instructions;
  Roofline roofline = roofline_of(machine, choice);
  ASSERT_EQ(roofline.ceilings.size(), 1u);
  EXPECT_EQ(roofline.ceilings[0].name, "instruction issue");
  EXPECT_DOUBLE_EQ(roofline.attainable(0.01), 3e9) << "instructions per byte times L1's bandwidth";
  choice.work = RoofKind::integer;
  roofline = roofline_of(machine, choice);
  ASSERT_EQ(roofline.ceilings.size(), 1u);
  EXPECT_EQ(roofline.ceilings[0].name, "integer ADD, 256 bit");
  EXPECT_EQ(describe(issue), "instruction issue, 1 thread");
}

TEST(Roofline, LeavesOutWhatIsUnavailable) {
  Machine machine = sample();
  machine.roofs[2].verdict = Verdict::unavailable;
  machine.roofs[2].best = 0;
  EXPECT_EQ(roofline_of(machine).ceilings[0].op, "fma");
}

TEST(Comparison, PutsBothValuesInOneRow) {
  Machine other = sample();
  other.roofs[1].best = 100e9;
  other.roofs.erase(other.roofs.begin());
  const auto rows = compare(sample(), other);
  int seen = 0;
  for (const Comparison& row : rows) {
    if (row.name == "FMA, 256 bit, double, 1 thread") {
      EXPECT_DOUBLE_EQ(*row.ratio(), 2);
      ++seen;
    }
    if (row.name == "ADD, scalar, double, 1 thread") {
      EXPECT_FALSE(row.second) << "the other has none";
      EXPECT_FALSE(row.ratio());
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace loft::model
