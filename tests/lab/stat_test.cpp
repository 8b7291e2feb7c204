// loft stat with real counters. The emulated CPU executes one instruction per cycle, so every
// expected number follows from the programs in guest/.
#include <gmock/gmock.h>

#include <cmath>

#include "lab_results.hpp"

namespace loft::lab {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr std::uint64_t kLoop = 2'000'000;  // one round of lab_loop
constexpr std::uint64_t kLoopOverhead = 7;  // its other instructions
constexpr std::uint64_t kLongLoop = 60 * kLoop + kLoopOverhead;
constexpr std::uint64_t kFamilyLoop = 2'000'000;  // of each thread or child of lab_family
constexpr std::uint64_t kStartUp = 100'000;       // more than the C library needs to start it

std::uint64_t counted(const CaseResult& result, const std::string& name) {
  const auto event = result.event(name);
  if (event.is_null()) {
    ADD_FAILURE() << "no event " << name << " in " << result.json.dump() << result.notes;
    return 0;
  }
  EXPECT_EQ(event.at("kind"), "counted") << event.dump();
  EXPECT_EQ(event.at("running"), 1) << event.dump();
  EXPECT_TRUE(event.at("value").is_number_unsigned()) << event.dump();
  return event.at("value").is_number() ? event.at("value").get<std::uint64_t>() : 0;
}

TEST_F(Lab, CyclesAndInstructionsOfALoopAreExact) {
  const CaseResult result = result_of("exact");
  EXPECT_EQ(result.status, 0) << result.notes;
  EXPECT_EQ(counted(result, "instructions:u"), kLoop + kLoopOverhead);
  EXPECT_EQ(counted(result, "cycles:u"), kLoop + kLoopOverhead);
  EXPECT_EQ(result.json.at("source"), "perf_events");
}

TEST_F(Lab, CountsRepeat) {
  EXPECT_EQ(counted(result_of("exact"), "cycles:u"), counted(result_of("again"), "cycles:u"));
}

TEST_F(Lab, CountsFollowTheLengthOfTheLoop) {
  EXPECT_EQ(counted(result_of("longer"), "instructions:u"), 3 * kLoop + kLoopOverhead);
}

TEST_F(Lab, MeanOfEqualRunsHasNoSpread) {
  const auto event = result_of("repeated").event("instructions:u");
  ASSERT_FALSE(event.is_null());
  EXPECT_EQ(event.at("value"), kLoop + kLoopOverhead);
  EXPECT_EQ(event.at("ci95"),
            nlohmann::json::array({kLoop + kLoopOverhead, kLoop + kLoopOverhead}));
}

TEST_F(Lab, MoreEventsThanCountersAreScaledAndSaySo) {
  const CaseResult result = result_of("multiplexed");
  EXPECT_EQ(result.status, 0) << result.notes;
  // Ten events on seven counters. Cycles have one of their own, but the kernel rotates all.
  const auto event = result.event("instructions:u");
  ASSERT_FALSE(event.is_null()) << result.notes;
  EXPECT_EQ(event.at("kind"), "scaled");
  EXPECT_GT(event.at("running").get<double>(), 0.2);
  EXPECT_LT(event.at("running").get<double>(), 1.0);
  // The loop is even, so that an estimate must be near; how near depends on the rotation.
  const double share = event.at("value").get<double>() / static_cast<double>(kLongLoop);
  EXPECT_THAT(share, AllOf(Ge(0.9), Le(1.1)));
  for (const auto& other : result.json.at("events"))
    EXPECT_LT(other.at("running").get<double>(), 1.0) << other.dump();
}

TEST_F(Lab, AnEstimateIsMarkedInTheTable) {
  const std::string table = result_of("multiplexed_table").notes;
  EXPECT_THAT(table, HasSubstr("~"));
  EXPECT_THAT(result_of("exact_table").notes, ::testing::Not(HasSubstr("~")));
  EXPECT_THAT(result_of("exact_table").notes, HasSubstr("2,000,007"));
}

TEST_F(Lab, AGroupLargerThanThePmuIsRefusedAndNothingRuns) {
  const CaseResult result = result_of("group_too_large");
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.notes, HasSubstr("more events than the PMU has counters"));
  EXPECT_TRUE(result.json.is_null()) << result.json.dump();
}

// The kernel does not check a group whose leader is off while it is opened: seven events on six
// counters open, and never run.
TEST_F(Lab, AGroupThatNeverRanIsMissingAndNeverZero) {
  const CaseResult result = result_of("group_never_ran");
  ASSERT_TRUE(result.json.is_object()) << result.notes;
  ASSERT_EQ(result.json.at("events").size(), 7u);
  for (const auto& event : result.json.at("events")) {
    EXPECT_EQ(event.at("kind"), "missing") << event.dump();
    EXPECT_TRUE(event.at("value").is_null()) << event.dump();
    EXPECT_NE(event.value("why", ""), "") << event.dump();
  }
}

TEST_F(Lab, ChildrenAreCounted) {
  const auto value = counted(result_of("forks"), "instructions:u");
  EXPECT_THAT(value, AllOf(Ge(3 * kFamilyLoop), Le(3 * kFamilyLoop + kStartUp)));
}

TEST_F(Lab, ThreadsAreCounted) {
  const auto value = counted(result_of("threads"), "instructions:u");
  EXPECT_THAT(value, AllOf(Ge(3 * kFamilyLoop), Le(3 * kFamilyLoop + kStartUp)));
}

// The kernel of this machine (6.1) does not write down what a thread counted when it ends, so that
// they are followed with ptrace.
void expect_own_counts(const CaseResult& result) {
  const auto event = result.event("instructions:u");
  ASSERT_TRUE(event.contains("threads")) << event.dump();
  ASSERT_EQ(event.at("threads").size(), 4u) << event.dump();
  std::size_t loops = 0;
  std::uint64_t sum = 0;
  for (const auto& thread : event.at("threads")) {
    ASSERT_EQ(thread.at("kind"), "counted") << thread.dump();
    const auto value = thread.at("value").get<std::uint64_t>();
    sum += value;
    EXPECT_LE(value, kFamilyLoop + kStartUp);
    if (value >= kFamilyLoop) ++loops;
  }
  EXPECT_EQ(loops, 3u);
  EXPECT_EQ(sum, counted(result, "instructions:u"));
}

TEST_F(Lab, EachThreadHasItsOwnCounts) { expect_own_counts(result_of("threads")); }

TEST_F(Lab, EachThreadHasItsOwnCountsWithoutPrivilege) {
  expect_own_counts(result_of("user_threads"));
}

// More events than counters: one run can only estimate, several count them all.
TEST_F(Lab, TheProgramIsRunAgainUntilNoEventSharesACounter) {
  const CaseResult result = result_of("several_runs");
  ASSERT_TRUE(result.json.is_object()) << result.notes;
  ASSERT_EQ(result.json.at("events").size(), 10u);
  for (const auto& event : result.json.at("events"))
    EXPECT_EQ(event.at("kind"), "counted") << event.dump();
  // A mean of runs is no whole number by itself.
  EXPECT_EQ(result.event("instructions:u").at("value").get<double>(),
            static_cast<double>(kLongLoop));
  EXPECT_EQ(result.event("r3:u").at("value"), 0) << "raw events count nothing in this machine";
}

TEST_F(Lab, IntervalsAddUpToTheTotal) {
  const CaseResult result = result_of("intervals");
  EXPECT_EQ(counted(result, "instructions:u"), kLongLoop);
  ASSERT_TRUE(result.json.contains("intervals")) << result.json.dump();
  const auto& intervals = result.json.at("intervals");
  EXPECT_GT(intervals.size(), 3u);
  std::uint64_t sum = 0;
  double end = 0;
  for (const auto& interval : intervals) {
    EXPECT_GE(interval.at("start_s").get<double>(), end);
    end = interval.at("end_s").get<double>();
    sum += interval.at("values").at("instructions:u").get<std::uint64_t>();
  }
  EXPECT_EQ(sum, kLongLoop);
}

TEST_F(Lab, TheStatusOfTheProgramIsPassedOn) {
  EXPECT_EQ(result_of("exit_status").status, 7);
  EXPECT_EQ(result_of("killed").status, 128 + 9);
}

TEST_F(Lab, AUserWhoMayNotCountLearnsWhyAndNothingRuns) {
  const CaseResult result = result_of("user_refused");
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.notes, HasSubstr("perf_event_paranoid"));
  EXPECT_TRUE(result.json.is_null()) << result.json.dump();
}

TEST_F(Lab, AUserCountsHisOwnProgramsExactly) {
  const CaseResult result = result_of("user_counts");
  EXPECT_EQ(result.status, 0) << result.notes;
  EXPECT_EQ(counted(result, "instructions:u"), kLoop + kLoopOverhead);
  EXPECT_EQ(counted(result, "cycles:u"), kLoop + kLoopOverhead);
}

TEST_F(Lab, AUserIsRefusedTheKernelsCounts) {
  const CaseResult result = result_of("user_kernel");
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.notes, HasSubstr("perf_event_paranoid is 2"));
  EXPECT_TRUE(result.json.is_null()) << result.json.dump();
}

TEST_F(Lab, WhatAUserMayNotSeeIsLeftOutByName) {
  const CaseResult result = result_of("user_default");
  EXPECT_EQ(counted(result, "instructions:u"), kLoop + kLoopOverhead) << result.json.dump();
  EXPECT_TRUE(result.event("instructions").is_null()) << result.json.dump();
}

TEST_F(Lab, ARunningProcessCanBeWatched) {
  const CaseResult result = result_of("attached");
  EXPECT_EQ(result.status, 0) << result.notes;
  EXPECT_THAT(counted(result, "instructions:u"), AllOf(Ge(kLoop), Le(kLongLoop)));
}

// What a thread reads of its own counters, through the page or through the kernel, is the same but
// for the instructions of the reads themselves.
TEST_F(Lab, ReadsWithoutASystemCallAreExact) {
  constexpr std::uint64_t kOwnLoop = 2'000'000;
  constexpr std::uint64_t kReads = 2'000;
  const CaseResult result = result_of("reads_by_page");
  ASSERT_EQ(result.status, 0) << result.notes;
  const auto read = nlohmann::json::parse(result.out);
  EXPECT_EQ(read.at("direct"), true);
  EXPECT_THAT(read.at("by_page").get<std::uint64_t>(), AllOf(Ge(kOwnLoop), Le(kOwnLoop + kReads)));
  EXPECT_THAT(read.at("by_call").get<std::uint64_t>(),
              AllOf(Ge(read.at("by_page").get<std::uint64_t>()), Le(kOwnLoop + kReads)));
}

TEST_F(Lab, WhereThePageMayNotBeReadTheKernelIsAsked) {
  const CaseResult result = result_of("reads_by_call");
  ASSERT_EQ(result.status, 0) << result.notes;
  const auto read = nlohmann::json::parse(result.out);
  EXPECT_EQ(read.at("direct"), false);
  EXPECT_GE(read.at("by_call").get<std::uint64_t>(), 2'000'000u);
}

TEST_F(Lab, DoctorFindsTheCounters) {
  const CaseResult result = result_of("doctor");
  EXPECT_EQ(result.status, 0) << result.notes;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.out;
  bool found = false;
  for (const auto& check : json.at("checks")) {
    if (check.at("id") != "hardware-counters") continue;
    found = true;
    // Not "ok": of the usual events, this PMU has these two.
    EXPECT_EQ(check.at("status"), "limited") << check.dump();
    EXPECT_THAT(check.at("why").get<std::string>(), HasSubstr("cycles, instructions count"));
    EXPECT_THAT(check.at("why").get<std::string>(), HasSubstr("PMU 'armv8_pmuv3"));
  }
  EXPECT_TRUE(found) << result.out;
}

}  // namespace
}  // namespace loft::lab
