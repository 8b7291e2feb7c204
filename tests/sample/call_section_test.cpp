#include "sample/call_section.hpp"

#include <gtest/gtest.h>

#include "sample/region_section.hpp"

namespace loft::sample {
namespace {

CallRun small_run() {
  CallRun run;
  run.route = "virtual";
  run.quantities = {{.name = "instructions", .unit = "instructions", .scale = 1},
                    {.name = "time", .unit = "ns", .scale = 0.5, .is_time = true}};
  for (const char* name : {"main", "f"}) {
    run.functions.emplace_back().name = name;
    run.statistics.emplace_back().of.resize(2);
  }
  run.functions[1].why_not = "too short";
  run.statistics[0].calls = 3;
  run.statistics[0].ended_early = 1;
  run.statistics[0].of[0].add(100, 30, true);
  run.statistics[0].of[0].add(~std::uint64_t{0}, 0, false);
  run.threads = {{12, 13, "worker"}};
  run.clock = {0.25, 1'000'000, Nanoseconds(77)};
  run.nodes = {{kNoCallNode, 0, 1}, {0, 1, 2}};
  run.node_values = {{100, 30}, {50, 15}, {70, 70}, {35, 35}};
  run.calls = {{0, 0, 999'000, 400, 0, kNoFunction, kOpen}, {1, 0, 999'500, 9, 1, 0, kEndedEarly}};
  run.values = {{100, 30}, {400, 391}, {70, 70}, {9, 9}};
  run.has_all_calls = true;
  run.lost = 5;
  run.seen = 7;
  run.notes = {"a note"};
  run.end.exit_code = 3;
  return run;
}

TEST(CallSection, ComesBackAsItWas) {
  const CallRun run = small_run();
  const auto read = read_call_section(call_section(run), "x");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->quantities[1].scale, 0.5);
  EXPECT_TRUE(read->quantities[1].is_time);
  EXPECT_EQ(read->statistics, run.statistics);
  EXPECT_EQ(read->functions[1].why_not, "too short");
  EXPECT_EQ(read->threads[0].name, "worker");
  EXPECT_EQ(read->clock.time_of(1'000'008), Nanoseconds(79));
  EXPECT_EQ(read->nodes[1].parent, 0u);
  EXPECT_EQ(read->node_values, run.node_values);
  EXPECT_EQ(read->values, run.values);
  EXPECT_EQ(read->calls[0].begin, 999'000u);
  EXPECT_EQ(read->calls[1].caller, 0u);
  EXPECT_EQ(read->calls[1].flags, kEndedEarly);
  EXPECT_EQ(read->seen, 7u);
  EXPECT_EQ(read->notes, run.notes);
  EXPECT_EQ(read->end.exit_code, 3);
}

TEST(CallSection, RefusesEveryPartOfItself) {
  const auto bytes = call_section(small_run());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_call_section(std::span(bytes).first(size), "x")) << size;
}

TEST(CallSection, IndicesAreInRangeWhateverTheBytesAre) {
  const auto bytes = call_section(small_run());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      auto changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      const auto read = read_call_section(changed, "x");
      if (!read) continue;
      ASSERT_EQ(read->statistics.size(), read->functions.size());
      ASSERT_EQ(read->values.size(), read->calls.size() * read->quantities.size());
      for (const KeptCall& call : read->calls) {
        ASSERT_LT(call.function, read->functions.size());
        ASSERT_LT(call.thread, read->threads.size());
        ASSERT_TRUE(call.caller == kNoFunction || call.caller < read->functions.size());
      }
      for (std::size_t i = 0; i < read->nodes.size(); ++i) {
        ASSERT_LT(read->nodes[i].function, read->functions.size());
        ASSERT_TRUE(read->nodes[i].parent == kNoCallNode || read->nodes[i].parent < i);
      }
    }
}

RunCounts run_with_regions() {
  RunCounts run;
  run.events.resize(2);
  run.events[0].name = "flops";
  run.events[1].scale = 0.5;
  run.threads = {{12, 13, "worker", {}}};
  const std::vector<Count> counts{Count::exact(~std::uint64_t{0}), Count::missing("no counter")};
  run.regions = {{{"outer"}, {}, 3, Nanoseconds(700), {}, counts, counts},
                 {{"outer", "inner"}, 0, 2, {}, Nanoseconds(0), counts, counts}};
  return run;
}

TEST(RegionSection, ComesBackAsItWas) {
  const auto read = read_region_section(region_section(run_with_regions()), "x");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->events[1].scale, 0.5);
  ASSERT_EQ(read->regions.size(), 2u);
  EXPECT_EQ(read->regions[0].time, Nanoseconds(700));
  EXPECT_FALSE(read->regions[0].elapsed);
  EXPECT_FALSE(read->regions[0].thread);
  const RegionCounts& inner = read->regions[1];
  EXPECT_EQ(inner.path, (std::vector<std::string>{"outer", "inner"}));
  EXPECT_EQ(inner.thread, 0u);
  EXPECT_EQ(inner.elapsed, Nanoseconds(0));
  EXPECT_EQ(inner.counts[0].raw, ~std::uint64_t{0});
  EXPECT_EQ(inner.self[1].why, "no counter");
}

TEST(RegionSection, SurvivesWhateverTheBytesAre) {
  const auto bytes = region_section(run_with_regions());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_region_section(std::span(bytes).first(size), "x")) << size;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      auto changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      const auto read = read_region_section(changed, "x");
      if (!read) continue;
      for (const RegionCounts& region : read->regions) {
        ASSERT_FALSE(region.path.empty());
        ASSERT_EQ(region.counts.size(), read->events.size());
        ASSERT_EQ(region.self.size(), read->events.size());
        ASSERT_LT(region.thread.value_or(0), read->threads.size());
      }
    }
}

}  // namespace
}  // namespace loft::sample
