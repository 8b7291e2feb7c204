#include "source/scheduler/read_table.hpp"

#include "source/scheduler/off_cpu.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
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

// Samples of tasks that block, as they come to the file: thread, time, period.
class Blocked final : public TaskEventsFilter {
 public:
  Blocked() { set_behind(nothing_); }
  void take_raw(std::span<const std::byte> record) override {
    std::uint64_t words[7] = {};
    std::memcpy(words, record.data(), std::min(sizeof words, record.size()));
    perf_event_header header;
    std::memcpy(&header, words, sizeof header);
    if (header.type != PERF_RECORD_SAMPLE) return;
    samples.push_back({words[3] >> 32, words[4], words[6]});
  }
  std::vector<std::array<std::uint64_t, 3>> samples;

 private:
  Collected nothing_;
};

class OffCpuTest : public ::testing::Test {
 protected:
  void SetUp() override { times.set_behind(seen); }
  static std::vector<std::byte> blocking(std::uint32_t tid, std::uint64_t time) {
    return record(PERF_RECORD_SAMPLE, {kClock, 0x400000, pair(5, tid), time, pair(0, 0), 1, 0});
  }
  void leaves(std::uint32_t tid, std::uint64_t time, bool can_run = false) {
    times.take(Switch{{time, 0}, {5, tid}, {}, true, false, can_run});
  }
  void comes(std::uint32_t tid, std::uint64_t time, std::optional<Waker> waker = {}) {
    times.take(Switch{{time, 0}, {}, {5, tid}, false, true, false, waker});
  }
  using Samples = std::vector<std::array<std::uint64_t, 3>>;
  Blocked seen;
  OffCpuTimes times{{kClock}};
};

TEST_F(OffCpuTest, ASampleGetsTheTimeUntilItsThreadHasACpuAgain) {
  leaves(7, 100);
  times.take_raw(blocking(7, 102));
  times.write_finished();
  EXPECT_TRUE(seen.samples.empty()) << "it blocks still";
  comes(7, 160);
  times.write_finished();
  EXPECT_EQ(seen.samples, (Samples{{7, 160, 60}}));
  EXPECT_EQ(times.total().blocked_ns, 60u);
}

TEST_F(OffCpuTest, RingsMayBeReadInAnyOrderAndWhoLostItsCpuDidNotBlock) {
  comes(7, 160);  // of another CPU, whose ring was read first
  leaves(7, 200, true);
  comes(7, 250);
  leaves(7, 100);
  times.take_raw(blocking(7, 201));
  times.take_raw(blocking(7, 101));
  times.write_finished();
  EXPECT_EQ(seen.samples, (Samples{{7, 160, 60}}));
}

TEST_F(OffCpuTest, WhatTheKernelSaysOfSwitchesIsUnderstoodToo) {
  auto out = record(PERF_RECORD_SWITCH, {pair(5, 7), 103, pair(0, 0), kClock});
  const std::uint16_t misc = PERF_RECORD_MISC_SWITCH_OUT;
  std::memcpy(out.data() + 4, &misc, sizeof misc);
  times.take_raw(blocking(7, 101));
  times.take_raw(out);
  times.take_raw(record(PERF_RECORD_SWITCH, {pair(5, 7), 150, pair(1, 0), kClock}));
  times.write_finished();
  EXPECT_EQ(seen.samples, (Samples{{7, 150, 47}}));
}

TEST_F(OffCpuTest, AThreadThatEndedDoesNotBlockForEverAndOneThatWaitsStillDoes) {
  leaves(7, 100);
  times.take_raw(blocking(7, 101));
  times.take(Exit{{102, 0}, {5, 7}});
  leaves(8, 100);
  times.take_raw(blocking(8, 101));
  times.finish(400);
  EXPECT_EQ(seen.samples, (Samples{{8, 400, 300}}));
  EXPECT_EQ(times.total().times, 1u);
}

TEST_F(OffCpuTest, WhoWokeWhomIsAddedUpByPairs) {
  const Waker other{{5, 9}, false};
  leaves(7, 100);
  comes(7, 110, other);
  leaves(7, 120);
  comes(7, 150, other);
  leaves(7, 200);
  comes(7, 202, Waker{{}, true});
  leaves(7, 210);
  comes(7, 211);  // nobody tells who did it
  leaves(7, 300, true);
  comes(7, 301, other);  // it was preempted: nobody woke it
  times.write_finished();
  const auto wakeups = times.wakeups();
  ASSERT_EQ(wakeups.size(), 3u);
  EXPECT_EQ(wakeups[0].waker.tid, 9u);
  EXPECT_EQ(wakeups[0].woken.tid, 7u);
  EXPECT_EQ(wakeups[0].times, 2u);
  EXPECT_EQ(wakeups[0].blocked_ns, 40u);
  EXPECT_TRUE(wakeups[1].by_interrupt);
  EXPECT_EQ(wakeups[2].waker.tid, 0u);
  EXPECT_EQ(times.total().wakeups, 3u);
  const auto bytes = sample::wakeup_section(wakeups);
  const auto again = sample::read_wakeup_section(bytes, "perf.data");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, wakeups);
}

TEST(WakeupSection, WhatIsNoSuchSectionIsRefused) {
  for (const char* text : {"x", "1\t2\t0\t3\t4\t5\t6\ta\n", "1\t2\t0\t3\t99999999999\t5\t6\ta\tb\n",
                           "-1\t2\t0\t3\t4\t5\t6\ta\tb\n"})
    EXPECT_FALSE(sample::read_wakeup_section(std::as_bytes(std::span(std::string_view(text))), "f"))
        << text;
  const sample::Wakeups odd{{1, 2, "a\tb\nc"}, false, false, {3, 4, ""}, 5, 6};
  const auto read = sample::read_wakeup_section(sample::wakeup_section({&odd, 1}), "f");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u) << "a name breaks no line";
  EXPECT_EQ((*read)[0].woken.tid, 4u);
  EXPECT_FALSE((*read)[0].is_sure);
}

}  // namespace
}  // namespace loft::source::scheduler
