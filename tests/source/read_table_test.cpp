#include "source/scheduler/read_table.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace loft::source::scheduler {
namespace {

constexpr std::uint64_t kClock = 70;   // on CPU 0
constexpr std::uint64_t kFaults = 71;  // on CPU 0

std::uint64_t pair(std::uint32_t first, std::uint32_t second) {
  const std::uint32_t halves[] = {first, second};
  std::uint64_t word = 0;
  std::memcpy(&word, halves, sizeof word);
  return word;
}

std::vector<std::byte> record(std::uint32_t type, std::vector<std::uint64_t> words) {
  std::vector<std::byte> bytes(8 + words.size() * 8);
  const perf_event_header header{type, PERF_RECORD_MISC_USER,
                                 static_cast<std::uint16_t>(bytes.size())};
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto body = std::as_bytes(std::span(words));
  std::copy(body.begin(), body.end(), bytes.begin() + 8);
  return bytes;
}

std::vector<std::byte> sample(std::uint32_t tid, std::uint64_t time, std::uint64_t clock,
                              std::uint64_t faults) {
  return record(PERF_RECORD_SAMPLE, {kClock, 0x400000, pair(5, tid), time, pair(0, 0), 10, 2, clock,
                                     clock, clock, kClock, faults, kFaults});
}

// What a thread leaves when it ends: first of the whole group, then of the leader alone.
std::vector<std::byte> last_values(std::uint32_t tid, std::uint64_t clock, std::uint64_t faults) {
  return record(PERF_RECORD_READ,
                {pair(5, tid), 2, clock, clock, clock, kClock, faults, kFaults, 0, 0, 0, kFaults});
}
std::vector<std::byte> last_value(std::uint32_t tid, std::uint64_t clock) {
  return record(PERF_RECORD_READ, {pair(5, tid), 1, clock, clock, clock, kClock, 0, 0, 0, kClock});
}

std::vector<std::byte> task(std::uint32_t type, std::uint32_t tid, std::uint64_t time) {
  return record(type, {pair(5, 5), pair(tid, 5), time, pair(5, tid), time, pair(0, 0), kClock});
}

class Collected final : public TaskEvents {
 public:
  void take(const Slice& slice) override {
    run[slice.task.tid] += slice.run_ns;
    faults[slice.task.tid] += slice.counts.empty() ? 0 : slice.counts[0];
    if (slice.sets.size() > 1) {
      enabled += slice.sets[1].enabled_ns;
      running += slice.sets[1].running_ns;
    }
    ++slices;
  }
  void take(const Switch&) override {}
  void take(const Fork&) override {}
  void take(const Exit&) override {}
  void take(const Migration&) override {}
  void take(const Name&) override {}
  void take(const CodeMapping&) override {}
  void take_raw(std::span<const std::byte>) override { ++raw; }
  void take_lost(std::uint64_t records) override { lost += records; }

  std::map<std::uint32_t, std::uint64_t> run, faults;
  std::uint64_t slices = 0, raw = 0, lost = 0, enabled = 0, running = 0;
};

class ReadTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    table.set_members(2, 10, TaskId{5, 5});
    table.add_id(kClock, 0);
    table.add_id(kFaults, 1);
    // Rings are read one after the other: what comes first need not have been first.
    table.take_other(record(PERF_RECORD_COMM, {pair(5, 6), 0, pair(5, 6), 1, 0, kClock}), seen);
  }
  ReadTable table;
  Collected seen;
};

TEST_F(ReadTableTest, ASliceIsTheDifferenceToTheThreadsOwnLastValues) {
  table.take_sample(sample(5, 100, 10, 1), true, seen);
  table.take_sample(sample(6, 110, 12, 7), true, seen);
  table.take_sample(sample(5, 120, 25, 4), true, seen);
  EXPECT_EQ(seen.run[5], 25u);
  EXPECT_EQ(seen.faults[5], 4u);
  EXPECT_EQ(seen.run[6], 12u);
}

TEST_F(ReadTableTest, AThreadThatEndsHasItsRestAsALastSlice) {
  table.take_other(task(PERF_RECORD_FORK, 6, 50), seen);
  table.take_sample(sample(6, 110, 12, 7), true, seen);
  table.take_other(task(PERF_RECORD_EXIT, 6, 200), seen);
  table.take_read(last_values(6, 15, 9), true);
  table.hand_over(seen);
  EXPECT_EQ(seen.run[6], 12u) << "its other last value has not come yet";
  table.take_read(last_value(6, 15), true);
  table.hand_over(seen);
  EXPECT_EQ(seen.run[6], 15u);
  EXPECT_EQ(seen.faults[6], 9u);
}

TEST_F(ReadTableTest, TheFirstThreadHasWhatRemainsOfTheSum) {
  table.take_other(task(PERF_RECORD_FORK, 6, 50), seen);
  table.take_sample(sample(5, 100, 10, 1), true, seen);
  table.take_other(task(PERF_RECORD_EXIT, 6, 200), seen);
  table.take_read(last_values(6, 15, 9), true);
  table.take_read(last_value(6, 15), true);
  table.hand_over(seen);
  table.take_total(kClock, 40);
  table.take_total(kFaults, 12);
  table.finish(seen);
  EXPECT_EQ(table.why_rest_is_missing(), "");
  EXPECT_EQ(seen.run[5], 25u);
  EXPECT_EQ(seen.faults[5], 3u);
  EXPECT_EQ(seen.run[5] + seen.run[6], 40u);
}

TEST_F(ReadTableTest, TheRestIsNotGuessedWhereOthersMayHaveAPartInIt) {
  table.take_other(task(PERF_RECORD_FORK, 6, 50), seen);  // and its end never comes
  table.take_total(kClock, 40);
  table.finish(seen);
  EXPECT_NE(table.why_rest_is_missing(), "");
  EXPECT_EQ(seen.run[5], 0u);
}

// A thread that ran on two CPUs: each of the two groups was wanted all the time, and ran for a
// part.
TEST_F(ReadTableTest, AThreadThatMovesIsNotTakenForOneWhoseCountersTookTurns) {
  constexpr std::uint64_t kOtherClock = 77, kOtherFaults = 78;
  table.add_id(kOtherClock, 0);
  table.add_id(kOtherFaults, 1);
  const auto last = [](std::uint64_t running, std::uint64_t clock, std::uint64_t faults) {
    return record(PERF_RECORD_READ,
                  {pair(5, 6), 2, 40, running, running, clock, 1, faults, 0, 0, 0, faults});
  };
  table.take_other(task(PERF_RECORD_EXIT, 6, 200), seen);
  for (int i = 0; i < 2; ++i) {  // once as a whole and once more
    table.take_read(last(30, kClock, kFaults), true);
    table.take_read(last(10, kOtherClock, kOtherFaults), true);
  }
  table.hand_over(seen);
  EXPECT_EQ(seen.run[6], 40u);
  EXPECT_EQ(seen.faults[6], 2u);
  EXPECT_EQ(seen.enabled, 40u);
  EXPECT_EQ(seen.running, 40u);
}

// Samples of one CPU; the other will tell at its own next sample, or never.
TEST_F(ReadTableTest, LessThanASliceOnAnotherCpuIsNoReasonToScale) {
  table.add_id(77, 0);
  const auto at = [](std::uint64_t enabled, std::uint64_t running) {
    return record(PERF_RECORD_SAMPLE, {kClock, 0, pair(5, 6), 100, pair(0, 0), 10, 2, enabled,
                                       running, running, kClock, 1, kFaults});
  };
  table.take_sample(at(19, 10), true, seen);
  EXPECT_EQ(seen.enabled, 10u);
  EXPECT_EQ(seen.running, 10u);
  table.take_sample(at(60, 20), true, seen);
  EXPECT_EQ(seen.enabled, 50u) << "more than a slice cannot have been elsewhere";
  EXPECT_EQ(seen.running, 20u);
}

TEST_F(ReadTableTest, WhatTheKernelLostIsCounted) {
  table.take_other(record(PERF_RECORD_LOST, {kClock, 17, pair(5, 5), 1, 0, kClock}), seen);
  EXPECT_EQ(table.lost(), 17u);
  EXPECT_EQ(seen.lost, 17u);
}

TEST_F(ReadTableTest, ARecordThatIsTooShortIsNoReasonToReadBehindIt) {
  table.take_sample(record(PERF_RECORD_SAMPLE, {kClock}), true, seen);
  table.take_read(record(PERF_RECORD_READ, {}), true);
  EXPECT_EQ(seen.run[0], 0u);
}

}  // namespace
}  // namespace loft::source::scheduler
