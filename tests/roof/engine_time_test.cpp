// Answers are computed by hand: a branch costs 0.15 ns, a search 2.8 ns.
#include <gmock/gmock.h>

#include <algorithm>

#include "roof/virtual_recording.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;

Done done(double flops, double branches, double searches = 0) {
  Done done;
  done.work = {.flops_dp = flops, .bytes = flops, .instructions = flops};
  done.engine = {branches, searches};
  return done;
}

const Subject& find(const std::vector<Subject>& subjects, Scope scope, std::size_t nth = 0) {
  for (const Subject& subject : subjects)
    if (subject.scope == scope && nth-- == 0) return subject;
  static const Subject kNone;
  ADD_FAILURE() << "no such subject";
  return kNone;
}

// 2 s, of which 1e9 branches and 1e8 searches took 0.43 s.
VirtualRun run() {
  VirtualRun run;
  run.name = "app";
  run.wall_seconds = 2;
  run.threads = {{7, "app", 2, done(1e9, 1e9, 1e8)}};
  run.functions = {{{"dot", "/bin/app"}, done(1e9, 4e8), 1.2},
                   {{"main", "/bin/app"}, done(0, 6e8, 1e8), 0.8}};
  run.slices = {{0, 1'000'000'000, 1, 5e8, done(5e8, 1e9)},
                {0, 2'000'000'000, 1, 5e8, done(5e8, 0, 1e8)}};
  return run;
}

TEST(EngineTime, ARunIsWithoutIt) {
  const auto subjects = subjects_of(run());
  EXPECT_DOUBLE_EQ(find(subjects, Scope::run).seconds, 2 - 0.43);
  EXPECT_DOUBLE_EQ(find(subjects, Scope::thread).seconds, 2 - 0.43);
  EXPECT_EQ(find(subjects, Scope::run).origin, sample::Origin::modelled);
}

TEST(EngineTime, AFunctionIsWithoutItsOwnPart) {
  const auto subjects = subjects_of(run());
  EXPECT_DOUBLE_EQ(find(subjects, Scope::function, 0).seconds, 1.2 - 0.06);
  EXPECT_DOUBLE_EQ(find(subjects, Scope::function, 1).seconds, 0.8 - 0.37);
}

// A loop with nearly all instructions of its function has its time; one with a fifth of them shares
// it, which says nothing about its rate.
TEST(EngineTime, ALoopSharesTheTimeOfItsFunctionByInstructions) {
  VirtualRun with_loops = run();
  for (const double share : {0.95, 0.2}) {
    LoopWork loop;
    loop.function = {"dot", "/bin/app"};
    loop.facts.iterations = 10;
    loop.work = done(1e9 * share, 0).work;
    with_loops.loops.push_back(loop);
  }
  with_loops.loops.push_back(with_loops.loops.front());
  with_loops.loops.back().function.name = "gone";
  const auto subjects = subjects_of(with_loops);
  EXPECT_DOUBLE_EQ(find(subjects, Scope::loop, 0).seconds, (1.2 - 0.06) * 0.95);
  EXPECT_FALSE(find(subjects, Scope::loop, 0).time_is_shared);
  EXPECT_DOUBLE_EQ(find(subjects, Scope::loop, 1).seconds, (1.2 - 0.06) * 0.2);
  EXPECT_TRUE(find(subjects, Scope::loop, 1).time_is_shared);
  EXPECT_EQ(std::ranges::count(subjects, Scope::loop, &Subject::scope), 2);
}

TEST(EngineTime, SharesAddUpToTheWhole) {
  VirtualRun part = run();
  part.functions.front().run_seconds = 0.6;  // the rest of the time belongs to nobody
  const auto subjects = subjects_of(part);
  double shares = 0;
  for (const Subject& subject : subjects)
    if (subject.scope == Scope::function) shares += subject.share_of_time;
  EXPECT_DOUBLE_EQ(shares, 1);
}

// Whose slices are its own for the most part has a rate; others took turns in them.
TEST(EngineTime, AFunctionThatSharesItsSlicesHasNoRate) {
  VirtualRun mixed = run();
  mixed.functions[0].own_share = 0.95;
  mixed.functions[1].own_share = 0.5;
  const auto subjects = subjects_of(mixed);
  EXPECT_FALSE(find(subjects, Scope::function, 0).time_is_shared);
  EXPECT_TRUE(find(subjects, Scope::function, 1).time_is_shared);
  EXPECT_GT(find(subjects, Scope::function, 1).share_of_time, 0);
}

TEST(EngineTime, ItIsSharedByThreadsThatRunAtOnce) {
  VirtualRun two = run();
  two.threads.push_back({8, "worker", 2, done(1e9, 1e9, 1e8)});
  const Subject whole = find(subjects_of(two), Scope::run);
  EXPECT_DOUBLE_EQ(whole.concurrency, 2);
  EXPECT_DOUBLE_EQ(whole.seconds, 2 - 0.43);
  EXPECT_EQ(whole.work.value().flops_dp, 2e9);
}

// Others had the CPU for 6 of 8 s.
TEST(EngineTime, WaitingIsNotItsOwnTime) {
  VirtualRun waiting = run();
  waiting.wall_seconds = 8;
  EXPECT_DOUBLE_EQ(find(subjects_of(waiting), Scope::run).seconds, 2 - 0.43);
}

TEST(EngineTime, SlicesFollowEachOtherWithoutIt) {
  const auto subjects = subjects_of(run());
  const Subject& first = find(subjects, Scope::slice, 0);
  const Subject& second = find(subjects, Scope::slice, 1);
  EXPECT_DOUBLE_EQ(first.seconds, 1 - 0.15);
  EXPECT_DOUBLE_EQ(second.start, 0.85);
  EXPECT_DOUBLE_EQ(second.seconds, 1 - 0.28);
  EXPECT_EQ(first.work.value().flops_dp + second.work.value().flops_dp, 1e9);
}

}  // namespace
}  // namespace loft::roof
