#include "sample/active_time.hpp"

#include <gmock/gmock.h>

namespace loft::sample {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A thread that runs `function` from `start` to `end` (ms), with a sample for each millisecond.
void run(std::vector<TimelineEntry>& timeline, std::uint32_t tid, std::uint32_t function,
         std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t at = start; at < end; ++at)
    timeline.push_back({.time = at * kMs, .period = kMs, .tid = tid, .node = function});
}

std::uint32_t node_is_function(Trie::NodeId node) { return node; }

double seconds_of(const ActiveTime& active, std::uint32_t function) {
  double sum = 0;
  for (const Spent& spent : active.spent())
    if (spent.function == function) sum += spent.seconds;
  return sum;
}

TEST(ActiveTime, OneThreadOwnsAllOfItsTime) {
  std::vector<TimelineEntry> timeline;
  run(timeline, 1, 10, 0, 300);
  run(timeline, 1, 11, 300, 400);
  const ActiveTime active(timeline, 0.4, node_is_function);
  EXPECT_NEAR(seconds_of(active, 10), 0.3, 1e-9);
  EXPECT_NEAR(seconds_of(active, 11), 0.1, 1e-9);
}

TEST(ActiveTime, ThreadsAtWorkTogetherShareTheElapsedTime) {
  std::vector<TimelineEntry> timeline;
  run(timeline, 1, 10, 0, 400);  // alone for 200 ms, then beside another
  run(timeline, 2, 11, 200, 400);
  const ActiveTime active(timeline, 0.6, node_is_function);
  EXPECT_NEAR(seconds_of(active, 10), 0.3, 1e-9);
  EXPECT_NEAR(seconds_of(active, 11), 0.1, 1e-9);
}

TEST(ActiveTime, LostSamplesAreMadeUpForByTheCountedRunTime) {
  std::vector<TimelineEntry> timeline;
  run(timeline, 1, 10, 0, 100);
  const ActiveTime active(timeline, 0.2, node_is_function);
  ASSERT_EQ(active.spent().size(), 1u);
  EXPECT_NEAR(active.spent().front().cpu_seconds, 0.2, 1e-9);
  EXPECT_EQ(active.spent().front().samples, 100u);
}

TEST(ActiveTime, SlicesAddUpToTheWhole) {
  std::vector<TimelineEntry> timeline;
  run(timeline, 1, 10, 0, 700);
  run(timeline, 2, 11, 100, 500);
  const ActiveTime active(timeline, 1.1, node_is_function);
  const auto slices = active.slices(7);
  ASSERT_EQ(slices.size(), 7u);
  double seconds = 0;
  double cpu = 0;
  for (const auto& slice : slices)
    for (const Spent& spent : slice.spent) {
      seconds += spent.seconds;
      cpu += spent.cpu_seconds;
    }
  EXPECT_NEAR(cpu, 1.1, 1e-9);
  EXPECT_NEAR(seconds, seconds_of(active, 10) + seconds_of(active, 11), 1e-9);
  EXPECT_EQ(slices.front().spent.size(), 1u);  // the second thread came later
}

TEST(ActiveTime, SlicesCoverARunThatWaitedAtItsStartAndEnd) {
  std::vector<TimelineEntry> timeline;
  run(timeline, 1, 10, 1510, 1690);
  const ActiveTime active(timeline, 0.18, node_is_function,
                          ActiveTime::Lifetime{1000 * kMs, 2000 * kMs});
  const auto slices = active.slices(10);
  ASSERT_EQ(slices.size(), 10u);
  EXPECT_NEAR(slices.back().end, 1.0, 1e-6);
  for (std::size_t i = 0; i < slices.size(); ++i)
    EXPECT_EQ(slices[i].spent.empty(), i != 5 && i != 6) << i;
}

TEST(ActiveTime, NothingSampledIsNothingSpent) {
  const ActiveTime active({}, 1.0, node_is_function);
  EXPECT_TRUE(active.spent().empty());
  EXPECT_TRUE(active.slices(10).empty());
}

}  // namespace
}  // namespace loft::sample
