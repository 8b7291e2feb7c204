// The public rooflines: points that were computed by hand, and a program that is measured.
#include "loft/roof.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.hpp"
#include "machine/file.hpp"

namespace loft::roofline {
namespace {

using ::testing::HasSubstr;

model::Roof roof(const char* isa, const char* op, double best, int threads = 1) {
  model::Roof roof;
  roof.isa = isa;
  roof.precision = "dp";
  roof.op = op;
  roof.threads = threads;
  roof.cpus = threads == 1 ? CpuList{0} : CpuList{0, 1};
  roof.best = roof.median = best;
  roof.verdict = model::Verdict::stable;
  return roof;
}

model::Roof bandwidth(const char* level, double best, int threads = 1) {
  model::Roof slope = roof("avx2", "load", best, threads);
  slope.kind = model::RoofKind::bandwidth;
  slope.precision.clear();
  slope.level = level;
  return slope;
}

class PublicRoofs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "loft-roofs-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    model::Machine machine;
    machine.identity = "0123456789abcdef";
    machine.cpu = "Test CPU";
    machine.architecture = "x86_64";
    machine.mode = "quick";
    machine.roofs = {roof("scalar", "add", 6e9),   roof("avx2", "fma", 48e9),
                     roof("avx2", "fma", 96e9, 2), bandwidth("L1", 200e9),
                     bandwidth("DRAM", 20e9),      bandwidth("L1", 400e9, 2),
                     bandwidth("DRAM", 30e9, 2)};
    file_ = folder_ + "/machine.json";
    ASSERT_TRUE(replace_file(file_, machine::to_json(machine)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::unique_ptr<Machine> machine() const {
    std::string why;
    auto loaded = Machine::load(file_, why);
    EXPECT_NE(loaded, nullptr) << why;
    return loaded;
  }

  std::string folder_;
  std::string file_;
};

TEST_F(PublicRoofs, AKernelStandsUnderTheRoofThatItIsNext) {
  // 2 GFLOP and 24 GB in 1.5 s: 1/12 FLOP a byte, 16 GB/s of the 20 that memory has.
  const Point point =
      machine()->place({.name = "triad", .flops = 2e9, .bytes = 24e9, .seconds = 1.5});
  EXPECT_EQ(point.name, "triad");
  EXPECT_DOUBLE_EQ(*point.intensity, 1.0 / 12);
  EXPECT_DOUBLE_EQ(*point.flops_per_second, 2e9 / 1.5);
  EXPECT_DOUBLE_EQ(*point.bytes_per_second, 16e9);
  ASSERT_TRUE(point.limit);
  EXPECT_EQ(point.limit->name, "DRAM bandwidth");
  EXPECT_TRUE(point.limit->is_bandwidth);
  EXPECT_DOUBLE_EQ(point.limit->share, 0.8);
  EXPECT_EQ(point.origin, Origin::counted);
}

TEST_F(PublicRoofs, ThreadsAndVectorsDecideWhichRoofsCount) {
  const Work work{.name = "gemm", .flops = 5e9, .bytes = 1e9, .seconds = 1, .vector_bits = 64};
  EXPECT_EQ(machine()->place(work).limit->name, "ADD, scalar");
  Work wide = work;
  wide.vector_bits = 0;
  EXPECT_EQ(machine()->place(wide).limit->name, "FMA, 256 bit");
  EXPECT_DOUBLE_EQ(machine()->place(wide).limit->share, 5.0 / 48);
  wide.threads = 2;
  EXPECT_DOUBLE_EQ(machine()->place(wide).limit->share, 5.0 / 96);
}

TEST_F(PublicRoofs, WhatIsNotKnownIsAbsent) {
  const Point untimed = machine()->place({.name = "k", .flops = 1e9, .bytes = 1e9});
  EXPECT_TRUE(untimed.intensity);
  EXPECT_FALSE(untimed.seconds);
  EXPECT_FALSE(untimed.flops_per_second);
  EXPECT_FALSE(untimed.limit);
  EXPECT_FALSE(machine()->place({.name = "k", .flops = 1e9, .seconds = 1}).intensity);
}

TEST_F(PublicRoofs, RoofsAreThoseOfTheNumberOfThreads) {
  const auto roofs = machine()->roofs(2);
  ASSERT_FALSE(roofs.empty());
  EXPECT_EQ(roofs.front().name, "L1 bandwidth");
  EXPECT_EQ(roofs.front().per_second, 400e9);
  EXPECT_TRUE(roofs.front().is_bandwidth);
  EXPECT_EQ(roofs.back().per_second, 96e9);
  EXPECT_EQ(machine()->cpu(), "Test CPU");
}

TEST_F(PublicRoofs, WhatFailsSaysWhy) {
  std::string why;
  EXPECT_EQ(Machine::load(folder_ + "/none", why), nullptr);
  EXPECT_THAT(why, HasSubstr("none"));
  EXPECT_FALSE(read(file_, why));
  EXPECT_NE(why, "");
  EXPECT_FALSE(measure({}, why, {.machine_file = file_}));
  EXPECT_THAT(why, HasSubstr("no command"));
}

#ifdef LOFT_HAS_ENGINE
TEST_F(PublicRoofs, AProgramIsMeasuredAndItsRecordingReadAgain) {
  std::string why;
  const std::string kept = folder_ + "/true.data";
  const auto run = measure({"/bin/true"}, why, {.machine_file = file_, .recording = kept});
  ASSERT_TRUE(run) << why;
  EXPECT_EQ(run->exit_status, 0);
  EXPECT_GT(run->wall_seconds, 0);
  ASSERT_FALSE(run->points.empty());
  EXPECT_EQ(run->points.front().scope, Scope::run);
  EXPECT_GT(run->points.front().bytes.value_or(0), 0);
  const auto again = read(kept, why);
  ASSERT_TRUE(again) << why;
  EXPECT_EQ(again->points.front().bytes, run->points.front().bytes);
  EXPECT_EQ(again->points.size(), run->points.size());
  EXPECT_EQ(again->command, std::vector<std::string>{"/bin/true"});
}
#endif

}  // namespace
}  // namespace loft::roofline
