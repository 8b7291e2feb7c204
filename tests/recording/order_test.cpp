// Recordings built byte by byte, opened as a whole.
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "source/file/recording.hpp"
#include "source/file/time_range.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

void add_sample(perf::RecordingBuilder& file, std::uint64_t time, std::uint64_t ip = 0x1000) {
  auto body = file.body();
  body.u64(ip).u32(1).u32(1).u64(time).u64(1);
  file.record(RecordType::sample, 2, body);
}

void finish_round(perf::RecordingBuilder& file) {
  file.record(RecordType::finished_round, 0, file.body());
}

std::vector<std::uint64_t> times_in_order(const Recording& recording) {
  std::vector<std::uint64_t> times;
  recording.in_order([&](const PlacedRecord& placed) {
    if (placed.record.type == RecordType::sample) times.push_back(*placed.time);
    return true;
  });
  return times;
}

TEST(Ordering, MergesTheBuffersOfARound) {
  perf::RecordingBuilder file;
  file.event({});
  for (const std::uint64_t time : {10, 30, 50, 20, 40}) add_sample(file, time);
  finish_round(file);
  for (const std::uint64_t time : {60, 45, 70}) add_sample(file, time);
  finish_round(file);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ(times_in_order(**recording),
            (std::vector<std::uint64_t>{10, 20, 30, 40, 45, 50, 60, 70}));
}

TEST(Ordering, SortsAFileWithoutRoundMarks) {
  perf::RecordingBuilder file;
  file.event({});
  for (std::uint64_t i = 0; i < 100; ++i) add_sample(file, (i * 37) % 101);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  const auto times = times_in_order(**recording);
  EXPECT_EQ(times.size(), 100u);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST(Ordering, KeepsTheNumberThatARecordHasInTheFile) {
  perf::RecordingBuilder file;
  file.event({});
  add_sample(file, 20);
  add_sample(file, 10);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  std::vector<std::uint64_t> numbers;
  (*recording)->in_order([&](const PlacedRecord& placed) {
    numbers.push_back(placed.number);
    return true;
  });
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 0}));
}

TEST(Recording, AMappingThatComesLaterInTheFileButEarlierInTimeCounts) {
  perf::RecordingBuilder file;
  file.event({});
  add_sample(file, 20, 0x1100);
  auto body = file.body();
  body.u32(1).u32(1).u64(0x1000).u64(0x1000).u64(0).text_padded("/bin/app", 8);
  body.u32(1).u32(1).u64(10);
  file.record(RecordType::mmap, 2, body);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  const auto& history = (*recording)->history();
  EXPECT_NE(history.find(history.space_at(1, 20), 0x1100), nullptr);
  EXPECT_EQ(history.find(history.space_at(1, 9), 0x1100), nullptr);
}

TEST(Recording, EventsOfAPipeComeFromItsRecords) {
  perf::Bytes bytes = perf::pipe_start(ByteOrder::big);
  const auto append = [&](const perf::Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  format::ByteBuilder attr(ByteOrder::big);
  attr.bytes(perf::attr_bytes({}, ByteOrder::big)).u64(5);
  append(perf::record_bytes(RecordType::header_attr, 0, attr));
  format::ByteBuilder name(ByteOrder::big);
  name.u64(2).u64(5).text_padded("my-event", 8);
  append(perf::record_bytes(RecordType::event_update, 0, name));
  format::ByteBuilder last(ByteOrder::big);
  last.u64(40);  // the mark behind the features, of a perf that knew 40 of them
  append(perf::record_bytes(RecordType::header_feature, 0, last));
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  ASSERT_EQ((*recording)->metadata().events.size(), 1u);
  EXPECT_EQ((*recording)->metadata().events[0].name, "my-event");
  EXPECT_TRUE((*recording)->metadata().other_features.empty());
}

TEST(Recording, AKilledRecordersSamplesAreAllThere) {
  perf::RecordingBuilder file;
  file.event({});
  for (std::uint64_t i = 0; i < 50; ++i) add_sample(file, i);
  file.claimed_data_size(0);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->summary().samples, 50u);
}

void add_map(perf::RecordingBuilder& file, std::uint64_t start, const char* path) {
  auto body = file.body();
  body.u32(1).u32(1).u64(start).u64(0x1000).u64(0).text_padded(path, 8);
  body.u32(1).u32(1).u64(1);
  file.record(RecordType::mmap, 2, body);
}

TEST(Recording, MemoryWithoutAFileBelongsToItsProcessAndItsJitdump) {
  perf::RecordingBuilder file;
  file.event({});
  add_map(file, 0x1000, "//anon");
  add_map(file, 0x3000, "/home/me/.debug/jit/x/jit-1.dump");
  add_map(file, 0x5000, "[anon:code]");
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  const auto& history = (*recording)->history();
  for (const std::uint64_t address : {0x1100, 0x5100}) {
    const auto* mapping = history.find(history.space_at(1, 20), address);
    ASSERT_NE(mapping, nullptr);
    EXPECT_EQ(history.binaries()[mapping->binary].jit_pid, 1u);
    EXPECT_EQ(history.binaries()[mapping->binary].jit_dump, "/home/me/.debug/jit/x/jit-1.dump");
  }
}

TEST(Recording, ALossThatIsToldTwiceCountsOnce) {
  perf::RecordingBuilder file;
  file.event({});
  const auto add = [&](RecordType type, std::uint16_t misc, std::uint64_t count) {
    auto body = file.body();
    if (type == RecordType::lost) body.u64(5);
    body.u64(count).u32(1).u32(1).u64(9);
    file.record(type, misc, body);
  };
  add(RecordType::lost, 0, 30);
  add(RecordType::lost, 0, 10);
  add(RecordType::lost_samples, 0, 38);
  add(RecordType::lost_samples, 1u << 15, 1000);  // dropped by a filter of the user's
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->summary().lost, 40u);
}

TEST(Recording, ReadingsTellWhatTheirCountersLost) {
  perf::RecordingBuilder file;
  perf::BuiltEvent attr;
  attr.read_format = perf::kReadId | perf::kReadLost;
  file.event(attr);
  for (const std::uint64_t lost : {3, 7}) {  // the count grows; it is not to be added up
    auto body = file.body();
    body.u32(1).u32(1).u64(100).u64(5).u64(lost).u32(1).u32(1).u64(9);
    file.record(RecordType::read, 0, body);
  }
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->summary().lost, 7u);
}

TEST(TimeRange, TakesSecondsPercentAndTheRecordingsClock) {
  const TimeRange whole{100'000'000'000, 110'000'000'000};
  const auto seconds = parse_time_range("1,2.5", whole);
  ASSERT_TRUE(seconds);
  EXPECT_EQ(seconds->first, 101'000'000'000u);
  EXPECT_EQ(seconds->second, 102'500'000'000u);
  EXPECT_EQ(parse_time_range("10%,20%", whole)->first, 101'000'000'000u);
  EXPECT_EQ(parse_time_range("103,104", whole)->first, 103'000'000'000u);
  EXPECT_EQ(parse_time_range(",2", whole)->second, 102'000'000'000u);
  EXPECT_FALSE(parse_time_range("2,1", whole));
  EXPECT_FALSE(parse_time_range("x,1", whole));
  EXPECT_FALSE(parse_time_range("1,2", std::nullopt));
}

}  // namespace
}  // namespace loft::source
