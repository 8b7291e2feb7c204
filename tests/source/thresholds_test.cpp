// Thresholds of the virtual PMU: on programs whose counts are known, each is met exactly.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "source/virtual/counting.hpp"
#include "source/virtual/event_names.hpp"
#include "source/virtual/event_unit.hpp"
#include "source/virtual_request.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using sample::ThresholdAction;
using testing::HasSubstr;

const std::string kSamples = LOFT_SAMPLES;
constexpr std::uint64_t kRoots = 30000;

Result<CountRequest> request_of(const std::string& program, const std::string& mode,
                                const std::string& events) {
  std::vector<std::string> command{kSamples + "/" + program};
  if (!mode.empty()) command.push_back(mode);
  return virtual_request(events, std::move(command));
}

Result<sample::RunCounts> run(const CountRequest& request) {
  LOFT_TRY(const auto prepared, virtual_pmu::prepare(request));
  return watch(*prepared, request, {});
}

// The first event is the one that thresholds are on.
sample::RunCounts crossed(const std::string& program, const std::string& mode,
                          const std::string& events, std::vector<std::uint64_t> counts,
                          ThresholdAction action = ThresholdAction::snapshot,
                          const std::string& region = {}) {
  auto request = request_of(program, mode, events);
  EXPECT_TRUE(request);
  for (const std::uint64_t count : counts) request->thresholds.push_back({0, count, action, 0});
  request->region = region;
  auto counted = run(*request);
  EXPECT_TRUE(counted) << to_string(counted.error());
  if (!counted) std::abort();
  EXPECT_EQ(counted->exit_status, 0);
  EXPECT_EQ(counted->thresholds.size(), counts.size());
  return *std::move(counted);
}

TEST(Thresholds, AreMetAtTheEndOfTheBlockThatCrossesThem) {
  // Its first block has 5 instructions; the loop behind it 3.
  const auto counted = crossed("counted.S", "", "instructions", {5, 6, 1000, 5014005, 5014006});
  const std::vector<std::uint64_t> values{5, 8, 1001, 5014005};
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(counted.thresholds[i].is_reached);
    EXPECT_EQ(counted.thresholds[i].value, values[i]);
    EXPECT_EQ(counted.thresholds[i].counts[0].raw, values[i]);
  }
  EXPECT_FALSE(counted.thresholds[4].is_reached);
  EXPECT_EQ(counted.events[0].total.raw, 5014005u);
}

TEST(Thresholds, AreMetExactlyWhereFlagsAreLiveAndUnderSignals) {
  for (const char* mode : {"alone", "carry", "timer"}) {
    const auto counted =
        crossed("crossing.c", mode, "fp_sqrt_scalar_dp", {1, 777, kRoots - 1, kRoots, kRoots + 1});
    for (const auto& threshold : counted.thresholds) {
      EXPECT_EQ(threshold.is_reached, threshold.count <= kRoots) << mode;
      EXPECT_EQ(threshold.value, threshold.is_reached ? threshold.count : 0) << mode;
    }
    EXPECT_EQ(counted.events[0].total.raw, kRoots) << mode;
  }
}

// Threads of different length; the sum of all counts.
TEST(Thresholds, OfSeveralThreadsAndProcessesAreMetToTheLastEvent) {
  const std::pair<const char*, std::uint64_t> modes[] = {{"threads", 48000},
                                                         {"processes", 4 * kRoots}};
  for (const auto& [mode, total] : modes) {
    const auto counted = crossed("crossing.c", mode, "fp_sqrt_scalar_dp",
                                 {1, total / 2, total - 1, total, total + 1});
    for (const auto& threshold : counted.thresholds) {
      EXPECT_EQ(threshold.is_reached, threshold.count <= total) << mode;
      if (!threshold.is_reached) continue;
      EXPECT_GE(threshold.value, threshold.count) << mode;
      EXPECT_LT(threshold.value, threshold.count + 4) << mode;  // a block of each other thread
    }
    EXPECT_EQ(counted.events[0].total.raw, total) << mode;
  }
}

TEST(Thresholds, SeeWhatOnlyTheRunShows) {
  // 1000 + 1001 + 1002 + ... bytes.
  const auto counted = crossed("crossing.c", "copies", "string_iterations", {1000, 1001, 3004});
  EXPECT_GE(counted.thresholds[0].value, 1000u);
  EXPECT_GE(counted.thresholds[1].value, counted.thresholds[0].value);
  for (const auto& threshold : counted.thresholds) {
    EXPECT_TRUE(threshold.is_reached);
    EXPECT_LE(threshold.value, threshold.count + 1001);
  }
}

TEST(Thresholds, StopEndsTheCountsOfEverythingThere) {
  const auto counted = crossed("crossing.c", "alone", "fp_sqrt_scalar_dp,instructions", {20000},
                               ThresholdAction::stop);
  EXPECT_EQ(counted.events[0].total.raw, 20000u);
  const auto whole = crossed("crossing.c", "alone", "fp_sqrt_scalar_dp,instructions", {20000});
  EXPECT_EQ(whole.events[0].total.raw, kRoots);
  EXPECT_LT(counted.events[1].total.raw, whole.events[1].total.raw);
  EXPECT_THAT(counted.notes, testing::Contains(HasSubstr("counting stopped when")));
}

TEST(Thresholds, OfARegionCountInsideOfItAlone) {
  const auto inside = crossed("crossing.c", "threads", "fp_sqrt_scalar_dp", {40000},
                              ThresholdAction::snapshot, "roots");
  EXPECT_TRUE(inside.thresholds[0].is_reached);
  const auto outside = crossed("crossing.c", "threads", "fp_sqrt_scalar_dp", {1},
                               ThresholdAction::snapshot, "on_signal");
  EXPECT_FALSE(outside.thresholds[0].is_reached);
}

TEST(Thresholds, TellTheThreadAndCallBackWhileItWaits) {
  auto request = request_of("crossing.c", "threads", "fp_sqrt_scalar_dp");
  ASSERT_TRUE(request);
  request->thresholds = {{0, 500, ThresholdAction::print, 0}};
  std::vector<sample::ThresholdOutcome> told;
  request->on_threshold = [&](const auto& outcome) { told.push_back(outcome); };
  const auto counted = run(*request);
  ASSERT_TRUE(counted);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].tid, counted->thresholds[0].tid);
  EXPECT_NE(told[0].tid, told[0].pid);
  EXPECT_EQ(told[0].comm, "crossing.c");
  EXPECT_TRUE(told[0].counts.empty());
}

TEST(Thresholds, ThatCannotBeMetInABlockAreRefused) {
  const auto problem = [](const std::string& event, std::uint64_t count) {
    auto request = request_of("crossing.c", "alone", event);
    request->thresholds = {{0, count, ThresholdAction::snapshot, 0}};
    const auto prepared = virtual_pmu::prepare(*request);
    return prepared ? std::string() : prepared.error().why;
  };
  EXPECT_THAT(problem("branches_taken", 5), HasSubstr("known behind its block"));
  EXPECT_THAT(problem("l1d_misses", 5), HasSubstr("a model computes it"));
  EXPECT_THAT(problem("instructions", 0), HasSubstr("every count begins there"));
  EXPECT_THAT(problem("instructions", ~0ull), "");
  auto many = request_of("crossing.c", "alone", "instructions");
  for (std::uint64_t i = 1; i <= 17; ++i)
    many->thresholds.push_back({0, i, ThresholdAction::snapshot, 0});
  EXPECT_FALSE(virtual_pmu::prepare(*many));
}

TEST(EventUnit, CountsMoreThanAThousandEventsAtOnce) {
  std::string all;
  for (const auto& name : virtual_pmu::event_names())
    if (name.kind == event::VirtualKind::exact) all += (all.empty() ? "" : ",") + name.name;
  const auto request = request_of("counted.S", "", all);
  ASSERT_TRUE(request);
  ASSERT_GT(request->events.size(), 1000u);
  const auto counted = run(*request);
  ASSERT_TRUE(counted);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& event : counted->events) {
    EXPECT_TRUE(event.total.is_available()) << event.name;
    counts[event.name] = event.total.raw;
  }
  EXPECT_EQ(counts["instructions"], 5014005u);
  EXPECT_EQ(counts["branches_conditional"] + counts["branches_loop"], 3001000u);
}

TEST(EventUnit, WhatSinksIsHeldBackUntilTheEnd) {
  const auto unit = virtual_pmu::EventUnit::create(2).value();
  ASSERT_TRUE(unit->start());
  const auto take = [&](std::uint64_t a, std::uint64_t b) {
    EXPECT_TRUE(unit->take(std::vector{a, b}));
    return unit->read().value();
  };
  EXPECT_EQ(take(10, 1ull << 40), (std::vector<std::uint64_t>{10, 1ull << 40}));
  EXPECT_EQ(take(8, (1ull << 40) + 1), (std::vector<std::uint64_t>{10, (1ull << 40) + 1}));
  ASSERT_TRUE(unit->finish(std::vector<std::uint64_t>{9, (1ull << 40) + 1}));
  EXPECT_EQ(unit->read().value(), (std::vector<std::uint64_t>{9, (1ull << 40) + 1}));
  ASSERT_TRUE(unit->stop());
  EXPECT_EQ(take(99, 1ull << 50), (std::vector<std::uint64_t>{9, (1ull << 40) + 1}));
}

}  // namespace
}  // namespace loft::source
#endif
