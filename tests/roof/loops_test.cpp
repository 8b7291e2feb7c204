#include "roof/loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::roof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Blocks of 16 bytes, one behind the other, that ran as often as given.
FlowGraph graph_of(const std::vector<std::uint64_t>& counts, std::vector<FlowEdge> edges) {
  FlowGraph graph;
  for (std::size_t i = 0; i < counts.size(); ++i)
    graph.blocks.push_back({0x1000 + 16 * i, 0x1010 + 16 * i, counts[i]});
  graph.edges = std::move(edges);
  return graph;
}

TEST(Loops, StraightCodeHasNone) {
  EXPECT_THAT(find_loops(graph_of({1, 1, 1}, {{0, 1, 1}, {1, 2, 1}})), IsEmpty());
}

TEST(Loops, BlockThatJumpsToItselfIsOne) {
  const auto loops = find_loops(graph_of({1, 100, 1}, {{0, 1, 1}, {1, 1, 99}, {1, 2, 1}}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].header, 1u);
  EXPECT_EQ(loops[0].iterations, 100u);
  EXPECT_EQ(loops[0].entries, 1u);
  EXPECT_EQ(loops[0].trips(), 100.0);
  EXPECT_THAT(loops[0].blocks, ElementsAre(1));
  EXPECT_EQ(loops[0].parent, std::nullopt);
}

// for i in 10: { head; for j in 20: body; tail }
TEST(Loops, InnerOnesKnowTheirParentAndTheirTrips) {
  const auto loops = find_loops(graph_of(
      {1, 10, 200, 10, 1}, {{0, 1, 1}, {1, 2, 10}, {2, 2, 190}, {2, 3, 10}, {3, 1, 9}, {3, 4, 1}}));
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].header, 1u);
  EXPECT_THAT(loops[0].blocks, ElementsAre(1, 2, 3));
  EXPECT_EQ(loops[0].trips(), 10.0);
  EXPECT_EQ(loops[0].depth, 1);
  EXPECT_EQ(loops[1].header, 2u);
  EXPECT_EQ(loops[1].parent, 0u);
  EXPECT_EQ(loops[1].depth, 2);
  EXPECT_EQ(loops[1].iterations, 200u);
  EXPECT_EQ(loops[1].entries, 10u);
  EXPECT_EQ(loops[1].trips(), 20.0);
}

TEST(Loops, BranchesInsideAreNotLoops) {
  // head → left or right → latch → head
  const auto loops =
      find_loops(graph_of({1, 50, 30, 20, 50},
                          {{0, 1, 1}, {1, 2, 30}, {1, 3, 20}, {2, 4, 30}, {3, 4, 20}, {4, 1, 49}}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_THAT(loops[0].blocks, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(loops[0].iterations, 50u);
}

TEST(Loops, LoopEnteredInTwoPlacesCountsBothEntries) {
  const auto loops =
      find_loops(graph_of({5, 103, 102}, {{0, 1, 3}, {0, 2, 2}, {1, 2, 100}, {2, 1, 100}}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].header, 1u);  // entered three times of five
  EXPECT_EQ(loops[0].entries, 5u);
}

TEST(Loops, ContinueMakesNoSecondLoop) {
  // Two edges back to one header are one loop.
  const auto loops = find_loops(
      graph_of({1, 90, 60, 1}, {{0, 1, 1}, {1, 2, 60}, {1, 1, 30}, {2, 1, 59}, {2, 3, 1}}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_THAT(loops[0].blocks, ElementsAre(1, 2));
  EXPECT_EQ(loops[0].entries, 1u);
}

TEST(Loops, WithoutASeenEntryThereAreNoTrips) {
  const auto loops = find_loops(graph_of({40, 40}, {{0, 1, 40}, {1, 0, 40}}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].header, 0u);
  EXPECT_EQ(loops[0].trips(), std::nullopt);
}

TEST(Loops, EdgesToNowhereAreIgnored) {
  EXPECT_EQ(find_loops(graph_of({1, 2}, {{0, 7, 1}, {9, 1, 1}, {1, 1, 1}})).size(), 1u);
}

TEST(Loops, ALongChainOfBlocksNeedsNoStack) {
  constexpr std::size_t kMany = 200000;
  FlowGraph graph = graph_of(std::vector<std::uint64_t>(kMany, 1), {});
  for (std::size_t i = 0; i + 1 < kMany; ++i) graph.edges.push_back({i, i + 1, 1});
  graph.edges.push_back({kMany - 1, 0, 1});
  const auto loops = find_loops(graph);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].blocks.size(), kMany);
}

}  // namespace
}  // namespace loft::roof
