// Calls under the engine, of a program whose calls are known by number.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <numeric>

#include "source/virtual/calls.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual_request.hpp"
#include "source/watch.hpp"

namespace loft::source::virtual_pmu {
namespace {

using sample::CallRequest;
using sample::CallRun;
using sample::CallStatistics;
using testing::HasSubstr;

const std::string kProgram = LOFT_SAMPLES "/calls.cpp";

class VirtualCalls : public testing::Test {
 protected:
  void SetUp() override { ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1); }

  void run(CallRequest request, std::vector<std::string> command = {kProgram}) {
    auto counted = count_calls(request, command);
    ASSERT_TRUE(counted) << to_string(counted.error());
    run_ = std::move(*counted);
    EXPECT_EQ(run_.end.exit_code, 0) << "the program noticed";
  }

  const CallStatistics& of(const std::string& name) const {
    static const CallStatistics kNone;
    for (std::size_t i = 0; i < run_.functions.size(); ++i)
      if (run_.functions[i].name == name) return run_.statistics[i];
    ADD_FAILURE() << name << " was not watched";
    return kNone;
  }

  CallRun run_;
};

CallRequest of_functions(std::vector<std::string> patterns) {
  CallRequest request;
  request.patterns = std::move(patterns);
  request.dso = "calls.cpp";
  return request;
}

std::uint64_t instructions_in(const std::string& region) {
  auto request = virtual_request("instructions", {kProgram});
  if (!request) return 0;
  request->region = region;
  const auto counting = prepare(*request);
  if (!counting) return 0;
  const auto counts = watch(**counting, *request, {});
  return counts ? counts->events[0].total.raw : 0;
}

TEST_F(VirtualCalls, TheOutermostCallHasWhatTheRegionHasAndSelfsAddUp) {
  run(of_functions({"fib"}));
  const CallStatistics& fib = of("fib");
  EXPECT_EQ(fib.calls, 1973u) << "2 F(16) - 1";
  EXPECT_EQ(fib.of[0].total, instructions_in("fib"));
  EXPECT_EQ(fib.of[0].self, fib.of[0].total);
  EXPECT_EQ(fib.of[0].max, fib.of[0].total);
  EXPECT_EQ(fib.of[0].histogram.total(), 1973u);
}

TEST_F(VirtualCalls, EveryWayToEndACallIsCountedOnce) {
  run(of_functions({"*"}));
  struct Known {
    const char* name;
    std::uint64_t calls, early, open;
  };
  for (const Known& known : std::initializer_list<Known>{{"thrower", 500, 500, 0},
                                                         {"catcher", 100, 0, 0},
                                                         {"jumper", 100, 100, 0},
                                                         {"setter", 100, 0, 0},
                                                         {"jumped_over", 100, 100, 0},
                                                         {"turn", 30, 0, 0},
                                                         {"coroutine", 3, 0, 0},
                                                         {"resume", 33, 0, 0},
                                                         {"raiser", 20, 0, 0},
                                                         {"same_stack", 10, 0, 0},
                                                         {"other_stack", 10, 0, 0},
                                                         {"in_handler", 30, 0, 0},
                                                         {"escaping", 10, 10, 0},
                                                         {"escaped", 10, 0, 0},
                                                         {"tail_a", 100, 0, 0},
                                                         {"tail_b", 100, 0, 0},
                                                         {"tail_c", 100, 0, 0},
                                                         {"even", 501, 0, 0},
                                                         {"odd", 500, 0, 0},
                                                         {"in_thread", 4000, 0, 0},
                                                         {"in_child", 7, 0, 0},
                                                         {"leaver", 0, 0, 1},
                                                         {"main", 0, 0, 1}}) {
    const CallStatistics& counted = of(known.name);
    EXPECT_EQ(counted.calls, known.calls) << known.name;
    EXPECT_EQ(counted.ended_early, known.early) << known.name;
    EXPECT_EQ(counted.open, known.open) << known.name;
  }
}

TEST_F(VirtualCalls, ACallThatASignalInterruptsBeforeItsFirstInstructionIsOne) {
  run(of_functions({"interrupted"}), {kProgram, "often"});
  EXPECT_EQ(of("interrupted").calls, 1'000'000u);
  EXPECT_EQ(of("interrupted").ended_early, 0u);
  EXPECT_EQ(of("interrupted").of[0].min, of("interrupted").of[0].max);
}

TEST_F(VirtualCalls, WhatHappensOnOtherStacksIsNoPartOfACall) {
  run(of_functions({"turn", "coroutine", "coroutines", "resume", "other_stack", "raiser"}));
  EXPECT_EQ(of("turn").of[0].total, of("turn").of[0].sum) << "coroutines are no recursion";
  EXPECT_EQ(of("turn").of[0].min, of("turn").of[0].max);
  EXPECT_EQ(of("coroutine").of[0].self + of("turn").of[0].self, of("coroutine").of[0].total);
  EXPECT_EQ(of("coroutines").of[0].self + of("resume").of[0].self, of("coroutines").of[0].total);
}

TEST_F(VirtualCalls, StatisticsAreThoseOfAllCalls) {
  CallRequest request = of_functions({"*"});
  request.events = {"instructions", "loads", "store_bytes"};
  request.keeps_calls = true;
  run(request);
  EXPECT_TRUE(run_.has_all_calls);
  EXPECT_EQ(run_.seen, run_.calls.size() + run_.lost);
  EXPECT_EQ(run_.lost, 0u);
  const auto again = sample::recompute(run_);
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].calls, run_.statistics[i].calls) << run_.functions[i].name;
    EXPECT_EQ(again[i].open, run_.statistics[i].open) << run_.functions[i].name;
    EXPECT_EQ(again[i].ended_early, run_.statistics[i].ended_early) << run_.functions[i].name;
    for (std::size_t q = 0; q < run_.quantities.size(); ++q) {
      const auto& own = run_.statistics[i].of[q];
      EXPECT_EQ(again[i].of[q].total, own.total) << run_.functions[i].name << " " << q;
      EXPECT_EQ(again[i].of[q].self, own.self) << run_.functions[i].name << " " << q;
      EXPECT_EQ(again[i].of[q].sum, own.sum) << run_.functions[i].name << " " << q;
      EXPECT_EQ(again[i].of[q].min, own.min) << run_.functions[i].name << " " << q;
      EXPECT_EQ(again[i].of[q].max, own.max) << run_.functions[i].name << " " << q;
    }
    EXPECT_EQ(again[i].of[0].histogram, run_.statistics[i].of[0].histogram);
  }
}

TEST_F(VirtualCalls, OfCallsThatFindNoRoomOnlyStatisticsAreKept) {
  CallRequest request = of_functions({"fib"});
  request.keeps_calls = true;
  request.most_kept = 10;
  run(request);
  EXPECT_EQ(run_.calls.size(), 10u);
  EXPECT_EQ(run_.lost, 1963u);
  EXPECT_EQ(run_.seen, 1973u);
  EXPECT_EQ(of("fib").calls, 1973u);
}

TEST_F(VirtualCalls, SingleCallsAreKeptByDepth) {
  CallRequest request = of_functions({"fib"});
  request.keeps_calls = true;
  request.depth = 2;
  run(request);
  EXPECT_EQ(run_.calls.size(), 3u) << "fib(15), fib(14), fib(13)";
}

TEST_F(VirtualCalls, WithoutSingleCallsTheLargestAreKnown) {
  run(of_functions({"fib"}));
  ASSERT_EQ(run_.calls.size(), 4u);
  const auto order = slowest(run_, 0, 4);
  EXPECT_EQ(run_.values_of(order[0])[0].value, of("fib").of[0].max);
  EXPECT_EQ(run_.calls[order[1]].depth, 1u);
  EXPECT_EQ(run_.calls[order[1]].flags & sample::kRecursive, sample::kRecursive);
}

// The first instruction of all is the loader's: its call is the whole run.
TEST_F(VirtualCalls, TotalsMissNothingOfARun) {
  CallRequest request;
  request.patterns = {"_start"};
  request.dso = "ld-linux*";
  request.events = {"instructions", "load_bytes"};
  const std::vector<std::string> command{"/bin/sh", "-c", "for i in 1 2 3; do kill -0 $$; done"};
  run(request, command);
  auto counts = virtual_request("instructions,load_bytes", command);
  ASSERT_TRUE(counts);
  const auto counting = prepare(*counts);
  ASSERT_TRUE(counting);
  const auto whole = watch(**counting, *counts, {});
  ASSERT_TRUE(whole);
  ASSERT_EQ(run_.functions.size(), 1u);
  // Where the kernel puts the stack changes a few instructions of the loader.
  const auto near = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
  EXPECT_LE(near(run_.statistics[0].of[0].total, whole->events[0].total.raw), 2000u);
  EXPECT_EQ(run_.statistics[0].open, 1u);
}

TEST_F(VirtualCalls, RefusesWhatItCannotCountPerCall) {
  CallRequest request = of_functions({"fib"});
  request.events = {"branches_taken"};
  const auto taken = count_calls(request, {kProgram});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().why, HasSubstr("branches"));
  request.events = {"no_such_event"};
  EXPECT_FALSE(count_calls(request, {kProgram}));
  request.events.assign(5, "loads");
  EXPECT_FALSE(count_calls(request, {kProgram}));
}

}  // namespace
}  // namespace loft::source::virtual_pmu
#endif
