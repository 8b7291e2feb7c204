#include "model/machine_merge.hpp"

#include <gtest/gtest.h>

namespace loft::model {
namespace {

Roof load(const char* level, double best, int threads = 1) {
  Roof roof;
  roof.kind = RoofKind::bandwidth;
  roof.isa = "avx2";
  roof.op = "load";
  roof.level = level;
  roof.threads = threads;
  roof.best = roof.median = best;
  roof.verdict = Verdict::stable;
  return roof;
}

Constant constant(const char* name, double value, Verdict verdict) {
  Constant constant;
  constant.name = name;
  constant.unit = "cycles";
  constant.value = value;
  constant.verdict = verdict;
  return constant;
}

Machine measured_on(const char* when, std::vector<Roof> roofs) {
  Machine machine;
  machine.when = when;
  machine.roofs = std::move(roofs);
  return machine;
}

TEST(Merge, KeepsTheBetterOfEachRoofWithItsDate) {
  const Machine old = measured_on("May", {load("L1", 200e9), load("L2", 90e9), load("L3", 70e9)});
  const Merged merged =
      merge(old, measured_on("June", {load("L1", 150e9), load("L2", 95e9), load("DRAM", 20e9)}));
  ASSERT_EQ(merged.machine.roofs.size(), 4u);
  EXPECT_EQ(merged.machine.when, "June");
  EXPECT_EQ(merged.machine.roofs[0].best, 200e9);
  EXPECT_EQ(merged.machine.roofs[0].when, "May");
  EXPECT_EQ(merged.machine.roofs[1].best, 95e9);
  EXPECT_EQ(merged.machine.roofs[1].when, "");
  EXPECT_EQ(merged.machine.roofs[3].level, "L3") << "which was not measured again";
  ASSERT_EQ(merged.kept.size(), 2u);
  const std::string words = in_words(merged, old.when);
  EXPECT_NE(words.find("2 roofs of May"), std::string::npos) << words;
  EXPECT_NE(words.find("L1 load, avx2, 1 thread: kept 200 GB/s, now 150 GB/s"), std::string::npos)
      << words;
}

TEST(Merge, OfMergedFilesKeepsTheFirstDate) {
  const Merged once =
      merge(measured_on("May", {load("L1", 200e9)}), measured_on("June", {load("L1", 150e9)}));
  const Merged twice = merge(once.machine, measured_on("July", {load("L1", 160e9)}));
  EXPECT_EQ(twice.machine.roofs[0].when, "May");
}

TEST(Merge, PrefersWhatWasMeasuredAtAll) {
  Roof missing = load("L1", 0);
  missing.verdict = Verdict::unavailable;
  const Merged merged = merge(measured_on("May", {load("L1", 200e9), missing}),
                              measured_on("June", {missing, load("L2", 90e9)}));
  ASSERT_EQ(merged.machine.roofs.size(), 2u);
  EXPECT_EQ(merged.machine.roofs[0].best, 200e9);
}

TEST(Merge, ThreadsAreToldApart) {
  const Merged merged = merge(measured_on("May", {load("L1", 400e9, 2)}),
                              measured_on("June", {load("L1", 200e9, 1)}));
  EXPECT_EQ(merged.machine.roofs.size(), 2u);
}

TEST(Merge, AStableConstantStaysBeforeANoisyOne) {
  Machine old = measured_on("May", {});
  old.constants = {constant("L1_lat", 4, Verdict::stable), constant("L2_lat", 12, Verdict::noisy)};
  old.core = {constant("fp_add_latency_cycles", 3, Verdict::stable)};
  Machine now = measured_on("June", {});
  now.constants = {constant("L1_lat", 5, Verdict::noisy), constant("L2_lat", 14, Verdict::noisy)};
  const Merged merged = merge(old, now);
  EXPECT_EQ(find_constant(merged.machine, "L1_lat")->value, 4);
  EXPECT_EQ(find_constant(merged.machine, "L2_lat")->value, 12) << "the lower one of equals";
  EXPECT_EQ(find_core_parameter(merged.machine, "fp_add_latency_cycles")->value, 3);
  EXPECT_EQ(in_words(merged, "May"), "") << "no roof was kept";
}

// A measurement in a bad moment does not replace a good one.
TEST(Merge, OfTwoStableConstantsTheUndisturbedOneStays) {
  const auto of = [](const char* name, const char* unit, double value, double spread) {
    Constant made = constant(name, value, Verdict::stable);
    made.unit = unit;
    made.spread = spread;
    return made;
  };
  Machine old = measured_on("May", {});
  Machine now = measured_on("June", {});
  old.core = {of("l3_latency_cycles", "cycles", 48, 0.1), of("load_per_cycle", "per_cycle", 3, 0),
              of("misprediction_cycles", "cycles", 12, 0.3), of("walks", "walks", 6, 0.1),
              of("l3_effective_bytes", "bytes", 32e6, 0)};
  now.core = {of("l3_latency_cycles", "cycles", 90, 0), of("load_per_cycle", "per_cycle", 2.5, 0),
              of("misprediction_cycles", "cycles", 16, 0.1), of("walks", "walks", 9, 0.5),
              of("l3_effective_bytes", "bytes", 4e6, 0)};
  const Merged merged = merge(old, now);
  const double expected[] = {48, 3, 16, 6, 4e6};
  for (std::size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(merged.machine.core[i].value, expected[i]) << merged.machine.core[i].name;
}

TEST(ChangesSince, NamesWhatChangedAndBelievesWhatIsNotSaid) {
  const System before{"Some CPU", "0x1", "6.1", 2};
  EXPECT_TRUE(changes_since(before, before).empty());
  EXPECT_TRUE(changes_since({}, before).empty()) << "an older file";
  const auto changes = changes_since(before, {"Some CPU", "0x2", "6.18", 4});
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0], "the number of CPUs was 2, now 4");
  EXPECT_EQ(changes[1], "the microcode was 0x1, now 0x2");
  EXPECT_EQ(changes[2], "the kernel was 6.1, now 6.18");
}

}  // namespace
}  // namespace loft::model
