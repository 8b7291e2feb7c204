// Schedules read from switch records that are built byte by byte.
#include "source/file/schedule.hpp"

#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "source/file/tasks.hpp"

namespace loft::source {

bool operator==(const RunSlice& a, const RunSlice& b) {
  return a.tid == b.tid && a.cpu == b.cpu && a.start == b.start && a.end == b.end;
}

void PrintTo(const RunSlice& slice, std::ostream* out) {
  *out << slice.tid << " on " << slice.cpu.value_or(999) << ": " << slice.start << " to "
       << slice.end;
}

namespace {

namespace perf = format::perf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

class Switches {
 public:
  explicit Switches(bool says_cpu = true) : says_cpu_(says_cpu) {
    file_.event({.sample_type = perf::kTid | perf::kTime | perf::kCpu * std::uint64_t{says_cpu}});
  }

  Switches& in(std::uint32_t tid, std::uint32_t cpu, std::uint64_t time) {
    return add(RecordType::switch_, 0, tid, cpu, time);
  }
  Switches& out(std::uint32_t tid, std::uint32_t cpu, std::uint64_t time) {
    return add(RecordType::switch_, perf::kMiscSwitchOut, tid, cpu, time);
  }
  Switches& sample(std::uint32_t tid, std::uint32_t cpu, std::uint64_t time) {
    return add(RecordType::sample, 2, tid, cpu, time);
  }
  Switches& fork(std::uint32_t tid, std::uint64_t time) {
    auto body = file_.body();
    body.u32(1).u32(1).u32(tid).u32(1).u64(time);
    tail(body, 1, 0, time);
    file_.record(RecordType::fork, 0, body);
    return *this;
  }
  Switches& exec(std::uint32_t tid, std::uint32_t cpu, std::uint64_t time) {
    auto body = file_.body();
    body.u32(1).u32(tid).text_padded("app", 8);
    tail(body, tid, cpu, time);
    file_.record(RecordType::comm, perf::kMiscCommExec, body);
    return *this;
  }
  Switches& exit(std::uint32_t tid, std::uint64_t time) {
    auto body = file_.body();
    body.u32(1).u32(1).u32(tid).u32(1).u64(time);
    tail(body, tid, 0, time);
    file_.record(RecordType::exit, 0, body);
    return *this;
  }

  std::vector<RunSlice> read() {
    bytes_ = file_.finish();
    const auto recording = Recording::of_bytes(bytes_);
    if (!recording) return {{9, 9, 9, 9}};
    auto schedule = read_schedule(**recording);
    if (says_cpu_) {
      EXPECT_THAT(runs_of(read_tasks(**recording)), UnorderedElementsAreArray(schedule));
    }
    return schedule;
  }

 private:
  // The table of tasks has the same schedule.
  static std::vector<RunSlice> runs_of(const sample::TaskTable& table) {
    std::vector<RunSlice> runs;
    for (const sample::TaskRun& run : table.runs)
      runs.push_back({table.tasks[run.task].tid, run.cpu, run.start, run.end});
    return runs;
  }
  void tail(format::ByteBuilder& body, std::uint32_t tid, std::uint32_t cpu,
            std::uint64_t time) const {
    body.u32(1).u32(tid).u64(time);
    if (says_cpu_) body.u32(cpu).u32(0);
  }
  Switches& add(RecordType type, std::uint16_t misc, std::uint32_t tid, std::uint32_t cpu,
                std::uint64_t time) {
    auto body = file_.body();
    tail(body, tid, cpu, time);
    file_.record(type, misc, body);
    return *this;
  }

  bool says_cpu_;
  perf::RecordingBuilder file_;
  perf::Bytes bytes_;
};

TEST(Schedule, RunsFromInToOut) {
  EXPECT_THAT(Switches().in(7, 2, 100).out(7, 2, 150).in(7, 3, 200).out(7, 3, 230).read(),
              ElementsAre(RunSlice{7, 2, 100, 150}, RunSlice{7, 3, 200, 230}));
}

// A program of which only the exec was told has lost its CPU when another one gets it.
TEST(Schedule, ACpuHasOneThreadAtATime) {
  EXPECT_THAT(Switches().exec(8, 2, 100).in(7, 2, 130).out(7, 2, 150).in(9, 2, 400).read(),
              ElementsAre(RunSlice{8, 2, 100, 130}, RunSlice{7, 2, 130, 150}));
  EXPECT_THAT(Switches().in(8, 2, 100).in(7, 3, 130).out(7, 3, 150).out(8, 2, 200).read(),
              ElementsAre(RunSlice{7, 3, 130, 150}, RunSlice{8, 2, 100, 200}))
      << "another CPU takes nothing away";
}

// 'loft record' names what was there before it, at no time at all.
TEST(Schedule, RecordsWithoutATimeAreNotItsBeginning) {
  EXPECT_THAT(Switches().sample(7, 0, 0).sample(8, 0, 100).out(7, 0, 150).read(),
              ElementsAre(RunSlice{7, 0, 100, 150}));
}

TEST(Schedule, AThreadDidNotRunBeforeItsBirth) {
  EXPECT_THAT(Switches().sample(8, 0, 100).fork(7, 140).out(7, 0, 150).read(),
              ElementsAre(RunSlice{7, 0, 140, 150}));
}

TEST(Schedule, KeepsThreadsApart) {
  EXPECT_THAT(Switches().in(7, 0, 100).in(8, 1, 110).out(7, 0, 120).out(8, 1, 130).read(),
              ElementsAre(RunSlice{7, 0, 100, 120}, RunSlice{8, 1, 110, 130}));
}

TEST(Schedule, AThreadThatOnlyStopsRanSinceTheRecordingBegan) {
  EXPECT_THAT(Switches().sample(7, 0, 90).out(7, 0, 150).read(),
              ElementsAre(RunSlice{7, 0, 90, 150}));
}

TEST(Schedule, AThreadThatNeverStopsRunsToTheEndOrToItsExit) {
  EXPECT_THAT(Switches().in(7, 0, 100).in(8, 1, 110).exit(8, 140).sample(7, 0, 170).read(),
              testing::UnorderedElementsAre(RunSlice{8, 1, 110, 140}, RunSlice{7, 0, 100, 170}));
}

TEST(Schedule, LeavesOutASliceWhoseOtherEndIsMissing) {
  // 7 is seen to stop twice: when it started in between is not known.
  EXPECT_THAT(Switches().in(7, 0, 100).out(7, 0, 120).out(7, 0, 160).read(),
              ElementsAre(RunSlice{7, 0, 100, 120}));
  // 7 starts on 0 and stops on 1: there was a stop and a start that nobody wrote down.
  EXPECT_THAT(Switches().in(7, 0, 100).out(7, 1, 160).read(), IsEmpty());
}

// A recording of all CPUs has the exit of a thread before the switch away from it.
TEST(Schedule, AThreadRunsOnAfterItsExitUntilItLeavesTheCpu) {
  EXPECT_THAT(Switches().sample(8, 0, 50).in(7, 0, 100).exit(7, 140).out(7, 0, 150).read(),
              ElementsAre(RunSlice{7, 0, 100, 150}));
}

TEST(Schedule, AnExitedThreadWithoutARunHasNone) {
  EXPECT_THAT(Switches().sample(8, 0, 50).in(7, 0, 100).out(7, 0, 120).exit(7, 120).read(),
              ElementsAre(RunSlice{7, 0, 100, 120}));
  EXPECT_THAT(Switches().sample(8, 0, 50).in(8, 1, 60).exit(7, 140).out(7, 0, 150).read(),
              ElementsAre(RunSlice{8, 1, 60, 150}));
}

TEST(Schedule, TheNumberOfAnExitedThreadIsUsedAgain) {
  EXPECT_THAT(
      Switches().in(7, 0, 100).exit(7, 140).fork(7, 200).in(7, 1, 210).out(7, 1, 220).read(),
      ElementsAre(RunSlice{7, 0, 100, 140}, RunSlice{7, 1, 210, 220}));
}

TEST(Schedule, AProgramRunsFromItsExec) {
  EXPECT_THAT(Switches().sample(8, 1, 50).exec(7, 0, 100).out(7, 0, 150).read(),
              ElementsAre(RunSlice{7, 0, 100, 150}));
}

// The records of its birth and of the switch to it were lost.
TEST(Schedule, AThreadDidNotRunWhileAnotherHadItsCpu) {
  EXPECT_THAT(Switches().in(8, 0, 100).out(8, 0, 150).out(7, 0, 200).read(),
              ElementsAre(RunSlice{8, 0, 100, 150}, RunSlice{7, 0, 150, 200}));
}

TEST(Schedule, SaysNoCpuWhereTheRecordingSaysNone) {
  EXPECT_THAT(Switches(false).in(7, 2, 100).out(7, 2, 150).read(),
              ElementsAre(RunSlice{7, std::nullopt, 100, 150}));
}

TEST(Schedule, TheIdleTaskIsNoThread) {
  EXPECT_THAT(Switches().in(0, 0, 100).out(0, 0, 120).read(), IsEmpty());
}

TEST(Schedule, IsEmptyWithoutSwitchRecords) {
  EXPECT_THAT(Switches().sample(7, 0, 100).sample(7, 0, 200).read(), IsEmpty());
}

}  // namespace
}  // namespace loft::source
