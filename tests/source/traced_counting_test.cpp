// Threads followed with ptrace: real programs, real counters, whatever this kernel tells by itself.
#include "source/perf_events/traced_counting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.hpp"
#include "event/resolver.hpp"
#include "source/perf_events/counting.hpp"
#include "source/perf_events/thread_rings.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using ::testing::UnorderedElementsAre;

CountRequest request_for(const std::string& events, std::vector<std::string> command) {
  CountRequest request;
  event::Resolver resolver;
  request.events = resolver.resolve_list(events).value();
  for (std::size_t i = 0; i < request.events.size(); ++i) request.groups.push_back({{i}, false});
  request.command = std::move(command);
  request.split = Split::threads;
  return request;
}

Result<sample::RunCounts> count(const CountRequest& request) {
  LOFT_TRY(const auto run, perf_events::prepare_traced(request));
  return watch(*run, request, {});
}

Result<sample::RunCounts> count_script(const std::string& script) {
  return count(request_for("task-clock", {"sh", "-c", script}));
}

// Counting or tracing may be forbidden; then there is nothing to test here.
#define SKIP_WITHOUT_PERMISSION(result)                                  \
  if (!(result) && (result).error().kind == ErrorKind::permission)       \
    GTEST_SKIP() << "not allowed here: " << to_string((result).error()); \
  ASSERT_TRUE(result) << to_string((result).error())

std::vector<std::string> names(const sample::RunCounts& run) {
  std::vector<std::string> names;
  for (const auto& thread : run.threads) names.push_back(thread.comm);
  return names;
}

// Linux 6.18 tells the counts of threads that end; whoever asks must hear so each time.
TEST(TracedCounting, IsNotNeededWhereTheKernelTells) {
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  int major = 0;
  int minor = 0;
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  if (std::pair(major, minor) < std::pair(6, 18)) GTEST_SKIP() << "an older kernel may not";
  const auto run = count(request_for("task-clock", {"true"}));
  SKIP_WITHOUT_PERMISSION(run);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(perf_events::reports_counts_of_threads());
}

TEST(TracedCounting, EveryThreadHasItsCountsAndTheySumToTheTotal) {
  const auto run =
      count(request_for("task-clock,page-faults,context-switches", {LOFT_TEST_THREADS, "4"}));
  SKIP_WITHOUT_PERMISSION(run);
  ASSERT_EQ(run->threads.size(), 6u);  // the first, four, and one of a thread's own
  for (std::size_t event = 0; event < 3; ++event) {
    std::uint64_t sum = 0;
    for (const auto& thread : run->threads) {
      if (!thread.counts[event].is_available()) continue;
      sum += thread.counts[event].raw;
      EXPECT_EQ(thread.pid, run->threads.back().pid);
    }
    EXPECT_EQ(sum, run->events[event].total.raw) << run->events[event].name;
  }
  for (const auto& thread : run->threads) EXPECT_GT(thread.counts[0].raw, 0u) << thread.tid;
}

TEST(TracedCounting, NamesThreadsAsTheyNamedThemselves) {
  const auto run = count(request_for("task-clock", {LOFT_TEST_THREADS, "3"}));
  SKIP_WITHOUT_PERMISSION(run);
  for (const char* name : {"loft_test_threa", "work0", "work1", "work2"})
    EXPECT_THAT(names(*run), ::testing::Contains(name));
}

// The kernel's own records, where they exist, are the second witness.
TEST(TracedCounting, CountsAsManyFaultsAsInheritedCounters) {
  CountRequest request = request_for("page-faults:u", {LOFT_TEST_THREADS, "2"});
  const auto traced = count(request);
  SKIP_WITHOUT_PERMISSION(traced);
  request.split = Split::none;
  const auto plain = perf_events::prepare(request);
  ASSERT_TRUE(plain);
  const auto inherited = watch(**plain, request, {});
  ASSERT_TRUE(inherited);
  EXPECT_NEAR(static_cast<double>(traced->events[0].total.raw),
              static_cast<double>(inherited->events[0].total.raw),
              0.05 * static_cast<double>(inherited->events[0].total.raw));
}

TEST(TracedCounting, FollowsChildrenThroughForkAndExec) {
  const auto run = count_script("sleep 0.01; (sleep 0.01; exit 3); exit $?");
  SKIP_WITHOUT_PERMISSION(run);
  EXPECT_EQ(run->exit_status, 3);
  EXPECT_THAT(names(*run), UnorderedElementsAre("sh", "sleep", "sh", "sleep"));
}

TEST(TracedCounting, AThreadThatBecomesAnotherProgramIsFollowed) {
  const auto run =
      count(request_for("task-clock", {LOFT_TEST_THREADS, "0", "sh", "-c", "sleep 0.01; exit 4"}));
  SKIP_WITHOUT_PERMISSION(run);
  EXPECT_EQ(run->exit_status, 4);
  // The first thread, which ended in the exec; the one that became sh, in its place; sleep.
  EXPECT_EQ(run->threads.size(), 3u);
  for (const auto& thread : run->threads) EXPECT_GT(thread.counts[0].raw, 0u) << thread.comm;
}

TEST(TracedCounting, SignalsArriveAsWithoutIt) {
  const auto trapped = count_script("trap 'exit 7' USR1; kill -USR1 $$; exit 1");
  SKIP_WITHOUT_PERMISSION(trapped);
  EXPECT_EQ(trapped->exit_status, 7);
  const auto killed = count_script("kill -TERM $$; exit 1");
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->exit_status, 128 + SIGTERM);
}

TEST(TracedCounting, AProgramThatIsStoppedStandsUntilItIsContinued) {
  // It is seen to stand when it is born, too: what is waited for comes after its mark.
  const std::string mark = ::testing::TempDir() + "loft-stopped-" + std::to_string(::getpid());
  const auto run =
      count_script("sh -c 'echo >" + mark + "; kill -STOP $$; exit 5' & p=$!; until [ -e " + mark +
                   " ] && grep -q '^State:.[Tt]' /proc/$p/status; do :; done; "
                   "kill -CONT $p; wait $p");
  ::unlink(mark.c_str());
  SKIP_WITHOUT_PERMISSION(run);
  EXPECT_EQ(run->exit_status, 5);
}

// Many at once, so that some are born in the moment in which the program ends.
TEST(TracedCounting, WhatOutlivesTheProgramGoesOn) {
  const std::string mark = ::testing::TempDir() + "loft-traced-" + std::to_string(::getpid());
  const auto run = count_script("for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1; echo >>" + mark +
                                ") & done; exit 0");
  SKIP_WITHOUT_PERMISSION(run);
  std::size_t lines = 0;
  for (int i = 0; i < 1000 && lines < 10; ++i) {
    ::usleep(10000);
    const std::string text = read_file(mark).value_or("");
    lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  ::unlink(mark.c_str());
  EXPECT_EQ(lines, 10u);
}

TEST(TracedCounting, ACommandThatDoesNotExistIsSaid) {
  const auto run = count(request_for("task-clock", {"/no/such/program"}));
  ASSERT_FALSE(run);
  if (run.error().kind == ErrorKind::permission) GTEST_SKIP() << to_string(run.error());
  EXPECT_EQ(run.error().kind, ErrorKind::no_such_command);
}

// Only one may trace a process. Once such a program waited for ever.
TEST(TracedCounting, AProgramMayTraceItsOwnChildren) {
  for (const char* how : {"asked", "seized"}) {
    const auto run = count(request_for("task-clock", {LOFT_TEST_THREADS, "trace", how}));
    SKIP_WITHOUT_PERMISSION(run);
    EXPECT_EQ(run->exit_status, 0) << how;
    EXPECT_EQ(run->threads.size(), 2u) << "the child is counted";
    EXPECT_FALSE(run->events[0].total.is_available()) << "who knows what it started";
    EXPECT_THAT(run->notes,
                testing::Contains(testing::HasSubstr("traces 1 of its processes itself")));
  }
}

TEST(TracedCounting, AProgramThatIsGivenUpIsEnded) {
  const CountRequest request = request_for("task-clock", {"sleep", "1000"});
  auto run = perf_events::prepare_traced(request);
  SKIP_WITHOUT_PERMISSION(run);
  ASSERT_TRUE((*run)->start());
  const pid_t pid = (*run)->program()->pid();
  run->reset();
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace loft::source
