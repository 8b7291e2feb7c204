// Programs must not notice: the same output and status natively and under the engine.
#include <signal.h>

#include <map>
#include <thread>
#include <tuple>

#include "under_engine.hpp"

namespace loft::engine {
namespace {

using testing::HasSubstr;

constexpr int kNotHere = 77;

class Unnoticed : public testing::TestWithParam<const char*> {};

TEST_P(Unnoticed, SampleBehavesAsNatively) {
  const std::vector<std::string> command{sample(GetParam())};
  const auto expected = natively(command);
  if (expected.status == kNotHere) GTEST_SKIP() << "this processor has no tiles";
  EXPECT_EQ(under_engine(command).outcome, expected);
}

INSTANTIATE_TEST_SUITE_P(All, Unnoticed,
                         testing::Values("signals.c", "threads.cpp", "processes.c",
                                         "self_modifying.c", "storm.c", "filters.c", "gs.c",
                                         "waiting.c", "tiles.c", "executed.c", "unreadable.c",
                                         "unfetched.c", "own_numbers.c"),
                         [](const auto& which) {
                           std::string name = which.param;
                           return name.substr(0, name.find('.'));
                         });

// What it shares with loft is among the files that it cuts off.
TEST(Engine, KeepsItsMemoryWhenTheProgramTruncatesIt) {
  const auto ran = under_engine({sample("truncating.c")}, StreamMode::windows);
  EXPECT_EQ(ran.outcome, natively({sample("truncating.c")}));
  ASSERT_TRUE(ran.run);
  EXPECT_GT(count_of(*ran.run, "instructions"), 1000u);
}

TEST(Engine, KeepsWhatAKilledProgramCounted) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = Run::prepare(
      {"/bin/sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; kill -9 $$"});
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->shell_status(), 128 + SIGKILL);
  EXPECT_GT(count_of(*run, "instructions"), 100000u);
}

// A block is counted as a whole, and a loop in steps of four rounds: whoever is ended in the middle
// has at most that much counted too little or too much.
TEST(Engine, MissesAtMostThreeRoundsOfALoopThatIsEndedFromOutside) {
  for (const char* way : {"kill", "exit", "kill", "exit", "kill", "exit"}) {
    char path[] = "/tmp/loft-engine-rounds-XXXXXX";
    const Fd file(::mkstemp(path));
    ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
    const auto ran = under_engine({sample("killed.c"), path, way});
    std::uint64_t rounds = 0;
    EXPECT_EQ(::pread(file.get(), &rounds, sizeof rounds, 0), 8);
    ::unlink(path);
    ASSERT_TRUE(ran.run);
    EXPECT_EQ(ran.outcome.status, way == std::string("kill") ? 128 + SIGKILL : 5);
    const std::uint64_t counted = count_of(*ran.run, "op_cmc");
    EXPECT_GE(rounds, 100000u);
    EXPECT_GE(counted + 3, rounds);
    EXPECT_LE(counted, rounds + 1);
  }
}

TEST(Engine, LetsUsersOfRestartableSequencesFallBack) {
  const auto ran = under_engine({sample("rseq.c")});
  EXPECT_EQ(ran.outcome, (Outcome{"registered -1, errno 38\nlibc has 0 bytes, the kernel tells of "
                                  "0\ncounted 80000\n",
                                  0}));
}

TEST(Engine, CanBeReadWhileTheProgramRuns) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = Run::prepare({"/bin/sh", "-c", "while :; do :; done"});
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_TRUE(run->start());
  const auto until = [&](std::uint64_t least) {
    std::uint64_t seen = 0;
    while (seen < least) {
      seen = count_of(*run, "instructions");
      std::this_thread::yield();
    }
    return seen;
  };
  const std::uint64_t first = until(100000);
  EXPECT_GT(until(first + 1), first);
  run->signal(SIGTERM);
  const auto end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->shell_status(), 128 + SIGTERM);
}

TEST(Engine, SaysWhichProgramIsMissing) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  const auto run = Run::prepare({"no-such-program-anywhere"});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::no_such_command);
  EXPECT_THAT(to_string(run.error()), HasSubstr("no such program in PATH"));
}

// An engine that cannot start, for want of a library, counted nothing: that is no count of 0.
TEST(Engine, WhatNeverStartedIsNoCount) {
  ::setenv("LOFT_ENGINE", "/bin/false", 1);
  auto run = Run::prepare({"/bin/true"});
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_TRUE(run->start());
  EXPECT_TRUE(run->check()) << "it may still start";
  ASSERT_TRUE(run->child().wait());
  ASSERT_FALSE(run->check());
  EXPECT_THAT(to_string(run->check().error()), HasSubstr("before it ran the program"));
}

TEST(Engine, PassesLoaderVariablesToTheProgramAlone) {
  ::setenv("LD_BIND_NOW", "1", 1);
  const auto ran = under_engine({"/bin/sh", "-c", "echo $LD_BIND_NOW; env | grep -c LOFT_KEEP"});
  EXPECT_STREQ(std::getenv("LD_BIND_NOW"), "1");
  ::unsetenv("LD_BIND_NOW");
  EXPECT_EQ(ran.outcome.output, "1\n0\n");
}

TEST(Engine, CountsThreadsApartAndTheirSumIsTheTotal) {
  const auto ran = under_engine({sample("threads.cpp")});
  ASSERT_TRUE(ran.run);
  const auto slots = ran.run->shared().slots();
  EXPECT_EQ(slots.size(), 1u + 40 * 8);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    const auto counts = ran.run->shared().counts(i);
    ASSERT_TRUE(counts);
    std::uint64_t instructions = 0;
    for (const auto& [block, count] : *counts) {
      const BlockEntry entry = ran.run->shared().block(block);
      if (entry.kind == static_cast<std::uint16_t>(BlockKind::body))
        instructions += entry.instructions * count;
    }
    EXPECT_GT(instructions, 10000u) << "thread " << slots[i].thread;
    sum += instructions;
  }
  EXPECT_EQ(count_of(*ran.run, "instructions"), sum);
}

// Else a timer that interrupts a loop a thousand times a second would fill all tables in a day.
TEST(Engine, RecordsAPlaceThatSignalsInterruptOnce) {
  const auto ran = under_engine({sample("interrupted.c")});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome, (Outcome{"done\n", 0}));
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint16_t>, unsigned> seen;
  unsigned most = 0;
  for (std::uint32_t i = kFirstBlock; i < ran.run->shared().blocks(); ++i) {
    const BlockEntry entry = ran.run->shared().block(i);
    const bool is_fall = entry.kind == static_cast<std::uint16_t>(BlockKind::extra_fall);
    if (is_fall || entry.kind == static_cast<std::uint16_t>(BlockKind::body))
      most = std::max(most, ++seen[{entry.address, is_fall ? entry.next_fall : entry.mapping,
                                    entry.size, entry.kind}]);
  }
  constexpr unsigned kPlaces = 40;  // from each a trace goes on to the same block; signals: 2000
  EXPECT_LE(most, kPlaces);
}

TEST(Engine, HoldsFourThousandThreadsAtOnce) {
  const auto ran = under_engine({sample("many.c"), "threads", "4000"});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome, (Outcome{"4000 threads, sum 7998000\n", 0}));
  EXPECT_EQ(ran.run->shared().slots().size(), 4001u);
}

TEST(Engine, HoldsAMillionBlocks) {
  const auto ran = under_engine({sample("many.c"), "blocks", "1000000"});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome, (Outcome{"1000000 blocks\n", 0}));
  EXPECT_GT(ran.run->shared().blocks(), 1000000u);
  EXPECT_GE(count_of(*ran.run, "branches_conditional"), 1000000u);
}

}  // namespace
}  // namespace loft::engine
