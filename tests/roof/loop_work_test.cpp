#include "roof/loop_work.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "roof/work_events.hpp"

namespace loft::roof {
namespace {

using sample::Count;

// Called twice, 0x10 to 0x18; the loop 0x18 to 0x20 runs 5 times each; then it returns.
std::vector<RunBlock> simple_loop() {
  return {{{0x10, 0x18, 2}, 0, 0, {}, true},
          {{0x18, 0x20, 10}, 8, 8, 0x18, true},
          {{0x20, 0x21, 2}, 16, 2, {}, false}};
}

TEST(LoopWork, EdgesAreBranchesTakenAndWhatGoesOnBehindABlock) {
  const FlowGraph graph = graph_of(simple_loop());
  ASSERT_EQ(graph.edges.size(), 3u);
  EXPECT_EQ(graph.edges[0].to, 1u);
  EXPECT_EQ(graph.edges[0].count, 2u);
  EXPECT_EQ(graph.edges[1].to, 1u);
  EXPECT_EQ(graph.edges[1].count, 8u);
  EXPECT_EQ(graph.edges[2].to, 2u);
  EXPECT_EQ(graph.edges[2].count, 2u);
}

TEST(LoopWork, TripsAreIterationsPerEntry) {
  const auto blocks = simple_loop();
  const FlowGraph graph = graph_of(blocks);
  const auto loops = find_loops(graph);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_DOUBLE_EQ(trips_of(loops[0], graph, blocks).value(), 5);
}

// 4 of its 12 runs came from somewhere else: an indirect jump.
TEST(LoopWork, EntriesThatAreNotAllKnownGiveNoTrips) {
  auto blocks = simple_loop();
  blocks[1].flow.count = 12;
  blocks[1].taken = 6;
  const FlowGraph graph = graph_of(blocks);
  const auto loops = find_loops(graph);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].iterations, 12u);
  EXPECT_FALSE(trips_of(loops[0], graph, blocks));
}

TEST(LoopWork, ALoopAtTheStartOfAFunctionIsEnteredByItsCalls) {
  const std::vector<RunBlock> blocks{{{0x10, 0x18, 12}, 0, 9, 0x10, true},
                                     {{0x18, 0x19, 3}, 8, 3, {}, false}};
  const FlowGraph graph = graph_of(blocks);
  const auto loops = find_loops(graph);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_DOUBLE_EQ(trips_of(loops[0], graph, blocks).value(), 4);
}

sample::RunCounts counted_loop() {
  sample::RunCounts run;
  const std::string names = work_event_names() + "," + std::string(kTakenEvent);
  for (const auto name : split(names, ',')) {
    sample::CountedEvent event;
    event.name = name;
    run.events.push_back(event);
  }
  const auto block = [&](const RunBlock& at, std::uint64_t instructions, std::uint64_t bytes) {
    sample::BlockCounts counts;
    counts.function = "sum";
    counts.binary = "app";
    counts.address = at.flow.address;
    counts.end = at.flow.end;
    counts.offset = at.offset;
    counts.target = at.target;
    counts.goes_on = at.goes_on;
    counts.code.resize(instructions);
    for (const sample::CountedEvent& event : run.events)
      counts.counts.push_back(Count::exact(event.name == "instructions"
                                               ? instructions * at.flow.count
                                           : event.name == "load_bytes" ? bytes * at.flow.count
                                           : event.name == kTakenEvent  ? at.taken
                                                                        : 0));
    run.blocks.push_back(counts);
  };
  const auto blocks = simple_loop();
  block(blocks[0], 3, 0);
  block(blocks[1], 4, 16);
  block(blocks[2], 1, 8);
  return run;
}

TEST(LoopWork, IsTheSumOfItsBlocks) {
  const auto loops = loops_of(counted_loop());
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].function.name, "sum");
  EXPECT_EQ(loops[0].facts.offset, 8u);
  EXPECT_EQ(loops[0].facts.iterations, 10);
  EXPECT_DOUBLE_EQ(loops[0].facts.trips.value(), 5);
  EXPECT_EQ(loops[0].work.instructions, 40);
  EXPECT_EQ(loops[0].work.bytes, 160);
}

// Line 7 and 9 are of the loop; what was inlined from another file is not.
TEST(LoopWork, HasTheLinesOfItsHeadersFile) {
  const auto line_at = [](const std::string&, std::uint64_t address) {
    if (address >= 0x1c) return CodeLine{"/src/other.h", 100};
    return CodeLine{"/src/sum.c", address < 0x18 ? 1u : address < 0x1a ? 9u : 7u};
  };
  EXPECT_EQ(loops_of(counted_loop(), line_at)[0].facts.lines, "sum.c:7-9");
  EXPECT_EQ(loops_of(counted_loop())[0].facts.lines, "");
}

// Two of its three instructions that compute are 256 bits wide, one of these under a mask; loads do
// not decide.
TEST(LoopWork, HasTheWidthOfWhatComputesAndTheShareUnderAMask) {
  auto run = counted_loop();
  run.blocks[1].instructions = {
      {4, 256, true, false}, {4, 256, true, true}, {4, 64, true, false}, {4, 512, false, false}};
  const auto loops = loops_of(run);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].facts.vector_bits, 256);
  EXPECT_DOUBLE_EQ(loops[0].facts.masked_share.value(), 1.0 / 3);
  EXPECT_FALSE(loops_of(counted_loop())[0].facts.vector_bits);
}

// A loop of whole vectors at 0x18, and one that does what is left at 0x30, of the same line.
TEST(LoopWork, ANarrowLoopOfTheSameLinesIsTheRemainderOfAWideOne) {
  auto run = counted_loop();
  run.blocks[1].instructions = {{4, 256, true, false}};
  sample::BlockCounts rest = run.blocks[1];
  rest.address = 0x30;
  rest.end = 0x38;
  rest.offset = 0x20;
  rest.target = 0x30;
  rest.instructions = {{4, 64, true, false}};
  run.blocks[2].goes_on = true;
  run.blocks[2].end = 0x30;
  run.blocks.push_back(rest);
  const auto loops = loops_of(run, [](const std::string&, std::uint64_t) {
    return CodeLine{"/src/sum.c", 7};
  });
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_FALSE(loops[0].facts.is_remainder);
  EXPECT_TRUE(loops[1].facts.is_remainder);
}

TEST(LoopWork, WithoutCountsOfBranchesThereIsNone) {
  auto run = counted_loop();
  run.events.back().name = "branches";
  EXPECT_TRUE(loops_of(run).empty());
}

}  // namespace
}  // namespace loft::roof
