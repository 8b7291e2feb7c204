// Groups of which only the leader takes samples: each member's part is what it counted in between.
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "source/file/recording.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

constexpr std::uint64_t kType =
    perf::kIdentifier | perf::kIp | perf::kTid | perf::kTime | perf::kRead;
constexpr std::uint64_t kFormat = perf::kReadGroup | perf::kReadId;
constexpr std::uint64_t kInherit = std::uint64_t{1} << 1;
constexpr std::uint64_t kSampleIdAll = std::uint64_t{1} << 18;

class Collector : public sample::SampleSink {
 public:
  void add(const sample::Sample& sample) override { samples.push_back(sample); }
  std::vector<sample::Sample> samples;
};

struct GroupTest : testing::Test {
  explicit GroupTest(std::uint64_t more_flags = 0) {
    const std::uint64_t flags = kSampleIdAll | more_flags;
    file.event({.sample_type = kType, .read_format = kFormat, .flags = flags, .ids = {1, 11}});
    file.event({.config = 1,
                .period = 0,
                .sample_type = kType,
                .read_format = kFormat,
                .flags = flags,
                .ids = {2, 12}});
  }

  void sample(std::uint32_t tid, std::uint64_t leader_id, std::uint64_t leader,
              std::uint64_t member) {
    auto body = file.body();
    body.u64(leader_id).u64(0x1000).u32(1).u32(tid).u64(++time);
    body.u64(2).u64(leader).u64(leader_id).u64(member).u64(leader_id + 1);
    file.record(RecordType::sample, 2, body);
  }

  // "event:period" of each sample that a profile gets.
  std::string delivered() {
    const auto bytes = file.finish();
    const auto recording = Recording::of_bytes(bytes);
    if (!recording) return "unreadable";
    Collector sink;
    (*recording)->for_each_sample(4, [&](unsigned) { return &sink; });
    std::string text;
    for (const auto& sample : sink.samples)
      text += std::to_string(sample.event) + ":" + std::to_string(sample.period) + " ";
    return text;
  }

  perf::RecordingBuilder file;
  std::uint64_t time = 0;
};

TEST_F(GroupTest, EachMemberGetsWhatItCountedSinceTheSampleBefore) {
  sample(7, 1, 100, 40);
  sample(7, 1, 250, 41);
  EXPECT_EQ(delivered(), "0:100 1:40 0:150 1:1 ");
}

TEST_F(GroupTest, CountersOfTwoCpusAreToldApart) {
  sample(7, 1, 100, 10);
  sample(7, 11, 30, 3);
  sample(7, 1, 110, 20);
  EXPECT_EQ(delivered(), "0:100 1:10 0:30 1:3 0:10 1:10 ");
}

struct InheritedGroupTest : GroupTest {
  InheritedGroupTest() : GroupTest(kInherit) {}
};

TEST_F(InheritedGroupTest, CountersHaveOneValuePerThread) {
  sample(7, 1, 100, 10);
  sample(8, 1, 50, 5);
  sample(7, 1, 101, 11);
  EXPECT_EQ(delivered(), "0:100 1:10 0:50 1:5 0:1 1:1 ");
}

TEST_F(GroupTest, AMemberThatCountedNothingHasNoSample) {
  sample(7, 1, 100, 10);
  sample(7, 1, 200, 10);
  EXPECT_EQ(delivered(), "0:100 1:10 0:100 ");
}

TEST_F(GroupTest, AValueThatGoesBackGivesNoAbsurdPeriod) {
  sample(7, 1, 100, 10);
  sample(7, 1, 90, 12);
  EXPECT_EQ(delivered(), "0:100 1:10 1:2 ");
}

}  // namespace
}  // namespace loft::source
