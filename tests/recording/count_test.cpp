// What recordings counted, from bytes built here.
#include "source/file/count_recording.hpp"

#include <gtest/gtest.h>

#include "format/builders.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;
using sample::Origin;

constexpr std::uint64_t kInherit = std::uint64_t{1} << 1;
constexpr std::uint64_t kFreq = std::uint64_t{1} << 10;
constexpr std::uint64_t kSampleIdAll = std::uint64_t{1} << 18;

sample::RunCounts counts_of(const perf::RecordingBuilder& file) {
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  EXPECT_TRUE(recording);
  return recording ? count_recording(**recording) : sample::RunCounts{};
}

void add_stat(perf::RecordingBuilder& file, std::uint64_t id, std::uint32_t cpu,
              std::uint64_t value, std::uint64_t enabled, std::uint64_t running) {
  auto body = file.body();
  body.u64(id).u32(cpu).u32(0).u64(value).u64(enabled).u64(running);
  file.record(RecordType::stat, 0, body);
}

void add_round(perf::RecordingBuilder& file, std::uint64_t kind, std::uint64_t time) {
  auto body = file.body();
  body.u64(kind).u64(time);
  file.record(RecordType::stat_round, 0, body);
}

TEST(CountRecording, TakesTheCountsOfPerfStatAsTheyAre) {
  perf::RecordingBuilder file;
  file.event({.ids = {1, 2}}).event({.config = 1, .ids = {3}}).event({.config = 2, .ids = {4}});
  add_stat(file, 1, 0, 100, 1000, 1000);
  add_stat(file, 2, 1, 50, 1000, 1000);
  add_stat(file, 3, 0, 10, 1000, 250);
  add_stat(file, 4, 0, 0, 1000, 0);
  add_round(file, 1, 2'000'000'000);
  const auto run = counts_of(file);
  ASSERT_EQ(run.events.size(), 3u);
  EXPECT_EQ(run.events[0].total.origin, Origin::counted);
  EXPECT_EQ(run.events[0].total.raw, 150u);
  EXPECT_EQ(run.events[1].total.origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(run.events[1].total.value(), 40);
  EXPECT_EQ(run.events[2].total.origin, Origin::missing) << "it never ran; that is not 0";
  EXPECT_DOUBLE_EQ(to_seconds(run.wall), 2);
  EXPECT_EQ(run.wall_origin, Origin::counted);
}

TEST(CountRecording, GivesTheIntervalsOfPerfStatAsDifferences) {
  perf::RecordingBuilder file;
  file.event({.ids = {1}});
  add_stat(file, 1, 0, 100, 1000, 500);
  add_round(file, 0, 1000);
  add_stat(file, 1, 0, 160, 2000, 1000);
  add_round(file, 0, 2000);
  add_round(file, 1, 2100);
  const auto run = counts_of(file);
  ASSERT_EQ(run.intervals.size(), 2u);
  EXPECT_EQ(run.intervals[1].counts[0].raw, 60u);
  EXPECT_EQ(run.intervals[1].counts[0].running.count(), 500);
  EXPECT_EQ(run.intervals[1].start.count(), 1000);
  EXPECT_DOUBLE_EQ(run.events[0].total.value(), 320) << "160 in half of the time";
}

void add_sample(perf::RecordingBuilder& file, std::uint64_t id, std::uint64_t time,
                std::uint64_t period) {
  auto body = file.body();
  body.u64(id).u64(0x1000).u32(1).u32(1).u64(time).u64(period);
  file.record(RecordType::sample, 2, body);
}

constexpr std::uint64_t kWithId =
    perf::kIdentifier | perf::kIp | perf::kTid | perf::kTime | perf::kPeriod;

TEST(CountRecording, PeriodsAddUpToAnEstimate) {
  perf::RecordingBuilder file;
  file.event({.period = 4000, .sample_type = kWithId, .flags = kFreq | kSampleIdAll, .ids = {1}});
  file.event({.config = 1, .period = 1000, .sample_type = kWithId, .ids = {2}});
  file.event({.type = 2, .config = 77, .sample_type = kWithId, .ids = {3}});
  add_sample(file, 1, 1'000'000'000, 300);
  add_sample(file, 1, 3'000'000'000, 500);
  const auto run = counts_of(file);
  EXPECT_EQ(run.events[0].total.origin, Origin::scaled) << "an estimate is never called a count";
  EXPECT_DOUBLE_EQ(run.events[0].total.value(), 800);
  EXPECT_EQ(run.events[1].total.origin, Origin::missing) << "no sample is not 0 events";
  EXPECT_EQ(run.events[2].total.origin, Origin::counted) << "every one of it would be a sample";
  EXPECT_EQ(run.events[2].total.raw, 0u);
  EXPECT_DOUBLE_EQ(to_seconds(run.wall), 2);
  EXPECT_EQ(run.wall_origin, Origin::scaled);
}

// Samples with the readings of a group: the leader 1 and its sibling 2.
void add_reading(perf::RecordingBuilder& file, std::uint32_t tid, std::uint64_t time,
                 std::uint64_t leader, std::uint64_t sibling) {
  auto body = file.body();
  body.u64(1).u32(1).u32(tid).u64(time).u64(10);
  body.u64(2).u64(time).u64(time).u64(leader).u64(1).u64(sibling).u64(2);
  file.record(RecordType::sample, 2, body);
}

perf::RecordingBuilder group_recording(std::uint64_t flags) {
  constexpr std::uint64_t kType =
      perf::kIdentifier | perf::kTid | perf::kTime | perf::kPeriod | perf::kRead;
  constexpr std::uint64_t kFormat =
      perf::kReadGroup | perf::kReadId | perf::kReadTotalTimeEnabled | perf::kReadTotalTimeRunning;
  perf::RecordingBuilder file;
  file.event({.period = 10,
              .sample_type = kType,
              .read_format = kFormat,
              .flags = flags | kSampleIdAll,
              .ids = {1}});
  file.event({.config = 1,
              .period = 0,
              .sample_type = kType,
              .read_format = kFormat,
              .flags = flags | kSampleIdAll,
              .ids = {2}});
  return file;
}

TEST(CountRecording, ReadingsOfAGroupCountItsSilentMembersToo) {
  auto file = group_recording(0);
  add_reading(file, 1, 100, 10, 7);
  add_reading(file, 2, 300, 30, 21);  // the same counter, whoever ran
  add_reading(file, 1, 200, 20, 14);
  const auto run = counts_of(file);
  EXPECT_DOUBLE_EQ(run.events[0].total.value(), 30);
  EXPECT_DOUBLE_EQ(run.events[1].total.value(), 21);
  EXPECT_EQ(run.events[1].total.origin, Origin::scaled) << "what came after the last is missing";
}

TEST(CountRecording, InheritedCountersAreThoseOfEachThread) {
  auto file = group_recording(kInherit);
  add_reading(file, 1, 100, 10, 7);
  add_reading(file, 2, 100, 30, 21);
  add_reading(file, 1, 200, 20, 14);
  const auto run = counts_of(file);
  EXPECT_DOUBLE_EQ(run.events[0].total.value(), 50);
  EXPECT_DOUBLE_EQ(run.events[1].total.value(), 35);
}

TEST(CountRecording, SurvivesCountsThatCannotBe) {
  perf::RecordingBuilder file;
  file.event({.sample_type = kWithId, .ids = {1}});
  add_sample(file, 1, 10, ~std::uint64_t{0});
  add_sample(file, 1, 20, ~std::uint64_t{0});
  add_stat(file, 999, 0, 1, 1, 1);  // of no event
  const auto run = counts_of(file);
  EXPECT_EQ(run.events[0].total.origin, Origin::missing);
}

}  // namespace
}  // namespace loft::source
