// Real counting on the machine at hand, with events that every Linux has.
#include <gtest/gtest.h>

#include <algorithm>

#include "event/resolver.hpp"
#include "source/perf_events/counting.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

CountRequest request_for(const std::string& events, std::vector<std::string> command) {
  CountRequest request;
  event::Resolver resolver;
  request.events = resolver.resolve_list(events).value();
  for (std::size_t i = 0; i < request.events.size(); ++i) request.groups.push_back({{i}, false});
  request.command = std::move(command);
  return request;
}

Result<sample::RunCounts> count(const CountRequest& request, const WatchOptions& options = {}) {
  LOFT_TRY(const auto run, perf_events::prepare(request));
  return watch(*run, request, options);
}

// Counting may be forbidden altogether; then there is nothing to test here.
#define SKIP_WITHOUT_PERF(result)                                                        \
  if (!(result) && (result).error().kind == ErrorKind::permission)                       \
    GTEST_SKIP() << "perf_events are not allowed here: " << to_string((result).error()); \
  ASSERT_TRUE(result) << to_string((result).error())

std::uint64_t sum_over_threads(const sample::RunCounts& run, std::size_t event) {
  std::uint64_t sum = 0;
  for (const auto& thread : run.threads) sum += thread.counts[event].raw;
  return sum;
}

TEST(PerfCounting, CountsTheProgramAndPassesItsStatus) {
  const auto run = count(request_for("task-clock,page-faults", {"sh", "-c", "exit 5"}));
  SKIP_WITHOUT_PERF(run);
  EXPECT_EQ(run->exit_status, 5);
  EXPECT_GT(run->events[0].total.raw, 0u);
  EXPECT_GT(run->events[1].total.raw, 0u);
}

TEST(PerfCounting, IncludesChildrenOfTheProgram) {
  const std::string children = "for i in 1 2 3 4 5 6 7 8; do /bin/true; done";
  const auto one = count(request_for("page-faults", {"sh", "-c", ":"}));
  SKIP_WITHOUT_PERF(one);
  const auto many = count(request_for("page-faults", {"sh", "-c", children}));
  ASSERT_TRUE(many);
  EXPECT_GT(many->events[0].total.raw, 3 * one->events[0].total.raw);
}

// Without care the kernel swaps counts between events when threads hand the CPU to each other:
// context switches then read like nanoseconds.
TEST(PerfCounting, CountsOfThreadsBelongToTheirEventAndSumToTheTotal) {
  CountRequest request =
      request_for("task-clock,page-faults,context-switches", {LOFT_TEST_THREADS, "4"});
  request.split = Split::threads;
  const auto run = count(request);
  SKIP_WITHOUT_PERF(run);
  ASSERT_EQ(run->threads.size(), 6u);  // the first, four, and one of a thread's own
  for (std::size_t event = 0; event < 3; ++event) {
    if (!run->events[event].total.is_available()) continue;
    EXPECT_EQ(sum_over_threads(*run, event), run->events[event].total.raw)
        << run->events[event].name;
  }
  EXPECT_LT(run->events[1].total.raw, 10000u) << "page faults";
  if (run->events[2].total.is_available()) {
    EXPECT_LT(run->events[2].total.raw, 1000000u);
  }
}

TEST(PerfCounting, NamesThreadsAsTheyNamedThemselves) {
  CountRequest request = request_for("task-clock", {LOFT_TEST_THREADS, "3"});
  request.split = Split::threads;
  const auto run = count(request);
  SKIP_WITHOUT_PERF(run);
  for (const char* name : {"loft_test_threa", "work0", "work1", "work2"})
    EXPECT_TRUE(std::any_of(run->threads.begin(), run->threads.end(), [&](const auto& thread) {
      return thread.comm == name;
    })) << name;
}

TEST(PerfCounting, CpusSumToTheTotal) {
  CountRequest request = request_for("task-clock,page-faults", {LOFT_TEST_THREADS, "2"});
  request.split = Split::cpus;
  const auto run = count(request);
  SKIP_WITHOUT_PERF(run);
  for (std::size_t event = 0; event < 2; ++event) {
    std::uint64_t sum = 0;
    for (const auto& cpu : run->cpus) sum += cpu.counts[event].raw;
    EXPECT_EQ(sum, run->events[event].total.raw);
    EXPECT_EQ(run->events[event].total.origin, sample::Origin::counted);
  }
}

TEST(PerfCounting, IntervalsSumToTheTotal) {
  WatchOptions options;
  options.interval = std::chrono::milliseconds(5);
  const auto run = count(request_for("task-clock,page-faults", {LOFT_TEST_THREADS, "2"}), options);
  SKIP_WITHOUT_PERF(run);
  ASSERT_GT(run->intervals.size(), 1u);
  for (std::size_t event = 0; event < 2; ++event) {
    std::uint64_t sum = 0;
    for (const auto& interval : run->intervals) sum += interval.counts[event].raw;
    EXPECT_EQ(sum, run->events[event].total.raw);
  }
}

TEST(PerfCounting, RefusesBeforeStartingWhenNothingCanBeCounted) {
  CountRequest request = request_for("task-clock", {"touch", "/tmp/loft-must-not-exist"});
  request.events[0].encoding.type = 4711;  // a PMU that no machine has
  const auto run = count(request);
  ASSERT_FALSE(run);
  EXPECT_NE(::access("/tmp/loft-must-not-exist", F_OK), 0);
}

TEST(PerfCounting, AProcessThatIsGoneIsNotFound) {
  CountRequest request = request_for("task-clock", {});
  request.pids = {999999999};
  const auto run = count(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::not_found);
}

TEST(PerfCounting, ACpuThatIsNotOnlineIsRefused) {
  CountRequest request = request_for("task-clock", {"true"});
  request.split = Split::cpus;
  request.cpus = {60000};
  const auto run = count(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::invalid_input);
}

}  // namespace
}  // namespace loft::source
