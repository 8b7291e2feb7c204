// Regions that a program marks are counted as the function inside of them is: to the last count.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "source/virtual/counting.hpp"
#include "source/virtual/marked_regions.hpp"
#include "source/virtual_request.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEvents =
    "instructions,loads,stores,load_bytes,store_bytes,branches,branches_taken,flops,calls";
const std::string kProgram = std::string(LOFT_SAMPLES) + "/marks.cpp";
using Path = std::vector<std::string>;

sample::RunCounts count(Split split, std::vector<std::string> way, std::string region = {},
                        const std::string& program = kProgram) {
  way.insert(way.begin(), program);
  auto request = virtual_request(kEvents, std::move(way));
  EXPECT_TRUE(request);
  request->split = split;
  request->region = std::move(region);
  const auto run = virtual_pmu::prepare(*request);
  EXPECT_TRUE(run);
  auto counts = watch(**run, *request, {});
  EXPECT_TRUE(counts) << to_string(counts.error());
  return counts ? *std::move(counts) : sample::RunCounts();
}

std::vector<std::uint64_t> values(const std::vector<sample::Count>& counts) {
  std::vector<std::uint64_t> raw;
  for (const auto& count : counts) raw.push_back(count.raw);
  return raw;
}

const sample::RegionCounts& find(const sample::RunCounts& run, const Path& path,
                                 std::optional<std::size_t> thread = {}) {
  static const sample::RegionCounts none;
  for (const auto& region : run.regions)
    if (region.path == path && region.thread == thread) return region;
  ADD_FAILURE() << "no region " << testing::PrintToString(path);
  return none;
}

// What `body` counts alone, and what each visit adds to that: call, lea and mov.
std::vector<std::uint64_t> of_body(const std::vector<std::string>& way, std::uint64_t visits) {
  const auto run = count(Split::none, way, "body");
  std::vector<std::uint64_t> raw;
  for (const auto& event : run.events) raw.push_back(event.total.raw);
  return raw.empty() ? raw
                     : (raw[0] += 3 * visits, raw[2] += visits, raw[4] += 8 * visits,
                        raw[5] += visits, raw[6] += visits, raw[8] += visits, raw);
}

// visits() runs `body` as often outside of the region as inside.
std::vector<std::uint64_t> half(std::vector<std::uint64_t> counts) {
  for (auto& count : counts) count /= 2;
  return counts;
}

std::vector<std::uint64_t> of_half_the_bodies(const std::vector<std::string>& way,
                                              std::uint64_t visits) {
  return half(of_body(way, 2 * visits));
}

class MarkedThreads : public testing::TestWithParam<int> {};

TEST_P(MarkedThreads, CountWhatTheFunctionCounts) {
  const auto threads = static_cast<std::uint64_t>(GetParam());
  const std::vector<std::string> way{"threads", std::to_string(threads)};
  const auto run = count(Split::thread_regions, way);
  const auto& all = find(run, {"visit"});
  EXPECT_EQ(all.visits, 50 * threads);
  EXPECT_EQ(values(all.counts), of_half_the_bodies(way, 50 * threads));
  EXPECT_EQ(values(all.self), values(all.counts));
  ASSERT_EQ(run.threads.size(), threads);
  for (std::size_t i = 0; i < threads; ++i) {
    const auto& own = find(run, {"visit"}, i);
    EXPECT_EQ(own.visits, 50u);
    EXPECT_EQ(own.counts[0].raw * threads, all.counts[0].raw);
  }
  EXPECT_THAT(run.notes, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Threads, MarkedThreads, testing::Values(1, 2, 8));

TEST(MarkedRegion, CountsHandlersOfSignalsInside) {
  const auto run = count(Split::regions, {"raise"});
  EXPECT_EQ(values(find(run, {"visit"}).counts), of_half_the_bodies({"raise"}, 50));
  EXPECT_EQ(find(run, {"visit", "handler"}).visits, 50u);
  EXPECT_EQ(find(run, {"handler"}).visits, 51u);
}

// Each signal adds the same to the region around its handler, wherever it came.
TEST(MarkedRegion, IsExactWhenSignalsComeAtAnyMoment) {
  const auto quiet = count(Split::regions, {"threads", "1"});
  const auto& one = find(quiet, {"visit"});
  const auto raised = count(Split::regions, {"raise"});
  ASSERT_EQ(one.visits, 50u);
  const auto run = count(Split::regions, {"storm"});
  const auto& visit = find(run, {"visit"});
  std::uint64_t handled = 0;
  for (const auto& region : run.regions)
    if (region.path == Path{"visit", "handler"}) handled = region.visits;
  ASSERT_GT(handled, 0u);
  const std::uint64_t more = visit.self[0].raw - visit.visits * (one.counts[0].raw / 50);
  EXPECT_EQ(more % handled, 0u);
  EXPECT_LT(more / handled, 40u);  // the handler around its region, and its return
  EXPECT_EQ(visit.self[7].raw, visit.visits * (one.counts[7].raw / 50));
  EXPECT_THAT(run.notes, IsEmpty());
}

TEST(MarkedRegion, GoesOnInTheChildOfAFork) {
  const auto run = count(Split::thread_regions, {"fork"});
  EXPECT_EQ(find(run, {"around"}).visits, 1u);
  EXPECT_EQ(find(run, {"around", "visit"}).visits, 3u);
  EXPECT_EQ(find(run, {"visit"}).visits, 2u);
  EXPECT_EQ(find(run, {"around", "visit"}).counts[0].raw + find(run, {"visit"}).counts[0].raw,
            of_body({"fork"}, 5)[0]);
  ASSERT_EQ(run.threads.size(), 2u);
  EXPECT_EQ(find(run, {"around", "visit"}, 0).visits, 2u);
  EXPECT_EQ(find(run, {"around", "visit"}, 1).visits, 1u);
  EXPECT_THAT(run.notes, IsEmpty());
}

TEST(MarkedRegion, EndsWithTheProgramThatExecReplaces) {
  const auto run = count(Split::regions, {"exec"});
  EXPECT_EQ(find(run, {"left open", "visit"}).visits, 1u);
  EXPECT_EQ(find(run, {"visit"}).visits, 100u);
  EXPECT_EQ(find(run, {"visit"}).counts[0].raw,
            100 * find(run, {"left open", "visit"}).counts[0].raw);
}

TEST(MarkedRegion, ReportsAnEndOfAnotherRegionAndGoesOn) {
  const auto run = count(Split::regions, {"wrong"});
  EXPECT_EQ(find(run, {"a", "b", "visit"}).visits, 1u);
  EXPECT_THAT(run.notes, Contains(HasSubstr("an end of the region 'never begun' was ignored")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("the innermost open one is 'b'")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("2 ends of regions were ignored")));
}

TEST(MarkedRegion, CountsWhatIsTooDeepAsPartOfTheDeepest) {
  const auto run = count(Split::regions, {"nested"});
  std::size_t deepest = 0;
  for (const auto& region : run.regions) deepest = std::max(deepest, region.path.size());
  EXPECT_EQ(deepest, 64u);
  EXPECT_THAT(run.notes, ElementsAre(HasSubstr("nested more than 64 deep")));
}

TEST(MarkedRegion, IsTheSameInsideItself) {
  const auto run = count(Split::regions, {"recursive"});
  EXPECT_EQ(find(run, {"recursive"}).visits, 6u);
  EXPECT_EQ(find(run, {"recursive", "visit"}).visits, 1u);
}

TEST(MarkedRegion, AddsUpToTheWholeRun) {
  const auto run = count(Split::regions, {"threads", "2"});
  const auto plain = count(Split::none, {"threads", "2"});
  EXPECT_LT(find(run, {"visit"}).counts[7].raw, run.events[7].total.raw);
  EXPECT_EQ(run.events[7].total.raw, plain.events[7].total.raw);
}

TEST(MarkedRegion, MayBeLikwidsMarker) {
  const auto run = count(Split::regions, {}, {}, std::string(LOFT_SAMPLES) + "/likwid.c");
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(find(run, {"sum"}).visits, 2u);
  EXPECT_EQ(find(run, {"sum", "inner"}).visits, 2u);
  EXPECT_EQ(find(run, {"sum", "inner"}).counts[7].raw, 2u);
}

engine::PathEntry path(std::uint32_t parent, const char* name) {
  engine::PathEntry entry{};
  entry.parent = parent;
  entry.length = static_cast<std::uint32_t>(std::strlen(name));
  std::memcpy(entry.name, name, entry.length);
  return entry;
}

// Two threads may write the same region twice; a program that damages the table loses names alone.
TEST(MarkedRegions, JoinsWhatIsTheSameAndSurvivesAnyParent) {
  const virtual_pmu::MarkedRegions regions(
      {path(0, "a"), path(0, "a"), path(2, "b"), path(1, "b"), path(99, "c"), path(6, "d")});
  ASSERT_EQ(regions.nodes().size(), 4u);
  EXPECT_EQ(regions.find(1), regions.find(2));
  EXPECT_EQ(regions.find(3), regions.find(4));
  EXPECT_THAT(regions.names_of(*regions.find(3)), ElementsAre("a", "b"));
  EXPECT_THAT(regions.names_of(*regions.find(5)), ElementsAre("c"));
  EXPECT_FALSE(regions.find(0));
  EXPECT_FALSE(regions.find(7));
}

}  // namespace
}  // namespace loft::source
#endif
