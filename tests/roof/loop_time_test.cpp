// Samples at addresses become the time of loops; windows are grouped by them.
#include "roof/loop_time.hpp"

#include <gmock/gmock.h>

#include "roof/loop_why.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;

const FunctionKey kSum{"sum", "/bin/app"};

LoopWork loop_at(std::uint64_t start, std::uint64_t end, double iterations, int depth = 1) {
  LoopWork loop;
  loop.function = kSum;
  loop.facts.address = start;
  loop.facts.depth = depth;
  loop.facts.iterations = iterations;
  loop.work.instructions = 1000;
  loop.code = {{start, end}};
  return loop;
}

std::vector<Subject> run_and_function() {
  Subject run;
  run.work = model::Work{};
  run.work->instructions = 1e6;
  Subject function;
  function.scope = Scope::function;
  function.name = kSum.name;
  function.binary = kSum.binary;
  function.seconds = 2;
  function.share_of_time = 0.5;
  function.concurrency = 1;
  function.origin = sample::Origin::scaled;
  return {run, function};
}

TEST(LoopTime, IsTheShareOfTheFunctionsSamplesInTheLoopsCode) {
  const AddressTimes times{{kSum, {{0x10, {30, 30}}, {0x18, {60, 60}}, {0x20, {10, 10}}}}};
  auto subjects = run_and_function();
  add_loop_subjects({loop_at(0x18, 0x20, 1e9)}, times, 3e9, subjects);
  ASSERT_EQ(subjects.size(), 3u);
  const Subject& loop = subjects.back();
  EXPECT_EQ(loop.scope, Scope::loop);
  EXPECT_DOUBLE_EQ(loop.seconds, 1.2);
  EXPECT_DOUBLE_EQ(loop.share_of_time, 0.3);
  EXPECT_DOUBLE_EQ(loop.loop->cycles.value(), 1.2 * 3e9 / 1e9);
  EXPECT_EQ(loop.origin, sample::Origin::scaled);
  EXPECT_NEAR(loop.time_error, 1.96 * std::sqrt(0.7 / 60), 1e-9);
}

TEST(LoopTime, ALoopThatNoSampleMetHasNoTimeAndNoCycles) {
  const AddressTimes times{{kSum, {{0x10, {30, 30}}}}};
  auto subjects = run_and_function();
  add_loop_subjects({loop_at(0x18, 0x20, 1e9)}, times, 3e9, subjects);
  ASSERT_EQ(subjects.size(), 3u);
  EXPECT_EQ(subjects.back().seconds, 0);
  EXPECT_FALSE(subjects.back().loop->cycles);
}

TEST(LoopTime, LoopsOfHardlyAnyTimeOrWorkAreNoPoints) {
  auto subjects = run_and_function();
  LoopWork loop = loop_at(0x18, 0x20, 5);
  loop.work.instructions = 999;
  add_loop_subjects({loop}, {}, 3e9, subjects);
  EXPECT_EQ(subjects.size(), 2u);
}

// 2000 additions in a chain at 0x1000, 2000 independent moves at 0x1004, all of one function.
source::virtual_pmu::KeptWindow chain_and_moves() {
  source::virtual_pmu::KeptWindow kept;
  kept.window.blocks = {70};
  kept.window.instructions = {{.address = 0x7000'1000,
                               .op = core::Op::fp_add,
                               .sources = core::vector_reg(0),
                               .destinations = core::vector_reg(0)},
                              {.address = 0x7000'1004, .destinations = core::general_reg(0)}};
  for (std::uint32_t i = 0; i < 2; ++i)
    for (int k = 0; k < 2000; ++k) kept.window.executions.push_back({.instruction = i});
  kept.functions = {0};
  kept.addresses = {0x1000, 0x1004};
  return kept;
}

TEST(LoopWhy, AWindowsCyclesBelongToTheLoopOfTheInstruction) {
  const std::vector kept{chain_and_moves()};
  const std::vector<source::virtual_pmu::WindowKeeper::Function> functions{{"sum", "/bin/app"}};
  const std::vector loops{loop_at(0x1000, 0x1004, 2000), loop_at(0x1000, 0x1008, 1, 2)};
  const WindowsByLoop grouped = by_loop({kept, functions}, loops, 1);
  ASSERT_EQ(grouped.windows.size(), 1u);
  ASSERT_EQ(grouped.loops.size(), 2u);
  EXPECT_EQ(grouped.loops[1].name, loop_key(kSum, loops[0].facts).name);
  ASSERT_TRUE(core::check(grouped.windows[0].window));
  std::vector<model::TimedPart> parts(2);
  WindowTimer timer(core::core_parameters("zen3").value());
  add_window(grouped.windows[0], timer, {}, parts);
  EXPECT_EQ(parts[1].instructions, 2000);
  EXPECT_NEAR(parts[1].cycles, 3 * 2000, 200);
  EXPECT_EQ(parts[0].instructions, 2000);
}

TEST(LoopWhy, LoopsThatWindowsHardlyMetAreNotJudged) {
  const std::vector kept{chain_and_moves()};
  const std::vector<source::virtual_pmu::WindowKeeper::Function> functions{{"other", "/bin/app"}};
  const WindowsByLoop grouped = by_loop({kept, functions}, {loop_at(0x1000, 0x1004, 2000)}, 1);
  EXPECT_TRUE(grouped.windows.empty());
  EXPECT_EQ(grouped.loops.size(), 1u);
}

}  // namespace
}  // namespace loft::roof
