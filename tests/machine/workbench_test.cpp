// Threads, memory and windows, on the machine that is there. No assertion depends on its speed.
#include "machine/workbench.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <set>

#include "machine/latency.hpp"
#include "machine/ticks.hpp"

namespace loft::machine {
namespace {

TEST(Team, RunsEachMemberOnItsCpu) {
  const auto allowed = allowed_cpus();
  ASSERT_TRUE(allowed);
  Team team(*allowed);
  std::vector<int> members;
  for (int i = 0; i < team.size(); ++i) members.push_back(i);
  std::vector<int> seen(allowed->size(), -1);
  team.run(members, [&](int member) {
    team.meet(team.size());
    seen[static_cast<std::size_t>(member)] = ::sched_getcpu();
  });
  if (!team.is_pinned()) GTEST_SKIP() << "threads cannot be bound to CPUs here";
  EXPECT_EQ(seen, *allowed);
}

TEST(Team, CallsOnlyWhoIsAskedFor) {
  Team team({0, 0, 0});
  std::atomic<int> mask = 0;
  team.run({0, 2}, [&](int member) { mask |= 1 << member; });
  EXPECT_EQ(mask.load(), 0b101);
  team.run({1}, [&](int member) { mask |= 1 << member; });
  EXPECT_EQ(mask.load(), 0b111);
}

TEST(Team, SaysWhenItCannotPin) {
  Team team({4000});
  EXPECT_FALSE(team.is_pinned());
  bool ran = false;
  team.run({0}, [&](int) { ran = true; });
  EXPECT_TRUE(ran) << "it works nevertheless";
}

TEST(Buffer, RingVisitsEveryLineOnce) {
  auto buffer = Buffer::allocate(64 * 1024, Pages::small);
  ASSERT_TRUE(buffer);
  buffer->touch();
  for (const auto& [stride, spread] : {std::pair<std::size_t, bool>{64, false}, {4096, true}}) {
    const std::size_t nodes = 64 * 1024 / stride;
    buffer->link_ring(nodes, stride, spread);
    std::set<const std::byte*> seen;
    const std::byte* at = buffer->data();
    for (std::size_t i = 0; i < nodes; ++i) {
      EXPECT_TRUE(seen.insert(at).second);
      std::memcpy(&at, at, sizeof at);
      ASSERT_GE(at, buffer->data());
      ASSERT_LT(at, buffer->data() + buffer->size());
    }
    EXPECT_EQ(at, buffer->data()) << "back at the start after all of them";
  }
}

TEST(Buffer, ALargeRingIsOneCycleToo) {
  constexpr std::size_t kNodes = 100000;
  constexpr std::size_t kRounded = 98304;  // three times a power of two
  auto buffer = Buffer::allocate(kNodes * 64, Pages::small);
  ASSERT_TRUE(buffer);
  buffer->link_ring(kNodes, 64);
  std::vector<bool> seen(kNodes);
  const std::byte* at = buffer->data();
  for (std::size_t i = 0; i < kRounded; ++i) {
    const auto node = static_cast<std::size_t>(at - buffer->data()) / 64;
    ASSERT_LT(node, kRounded);
    EXPECT_FALSE(seen[node]);
    seen[node] = true;
    std::memcpy(&at, at, sizeof at);
  }
  EXPECT_EQ(at, buffer->data());
}

TEST(Buffer, ThatIsTooLargeIsAnError) {
  EXPECT_FALSE(Buffer::allocate(std::size_t{1} << 60, Pages::huge));
}

TEST(Workbench, MeasuresAKernelAndKeepsItsWindows) {
  const auto allowed = allowed_cpus();
  ASSERT_TRUE(allowed);
  auto bench = Workbench::make({allowed->front()}, 1 << 20);
  ASSERT_TRUE(bench);
  TrialSetup setup;
  setup.kernel = memory_kernel(Isa::scalar, MemoryOp::copy);
  setup.work = setup.kernel.bytes();
  setup.bytes = 16384;
  auto trial = (*bench)->prepare(std::move(setup));
  ASSERT_TRUE(trial);
  (*bench)->run_round(*trial, 5, 0.0002);
  (*bench)->run_round(*trial, 5, 0.0002);
  EXPECT_EQ(trial->rounds, 2);
  EXPECT_GE(trial->estimate.windows(), 10);
  EXPECT_LE(trial->estimate.windows(), 30) << "at most three tries";
  EXPECT_GT(trial->estimate.best(), 0);
  EXPECT_GT(trial->cycles_per_tick, 0);
  EXPECT_LE(trial->span * 2, 16384u);
  EXPECT_GT((*bench)->ticks_per_second(), 1e5);
}

TEST(Workbench, HandsACacheLineOver) {
  auto bench = Workbench::make({0, 0}, 1 << 20);
  ASSERT_TRUE(bench);
  const Transfer transfer = measure_transfer(**bench, 0, 1, 3);
  EXPECT_GT(transfer.estimate.best(), 0);
}

TEST(Workbench, BelievesInASlowerClockWhenManyCalibrationsAgree) {
  const auto allowed = allowed_cpus();
  ASSERT_TRUE(allowed);
  const auto bench = Workbench::make({allowed->front()}, 1u << 20);
  ASSERT_TRUE(bench);
  TrialSetup setup;
  setup.kernel = chain_kernel(Op::int_add, 64);
  setup.work = 64;
  auto trial = (*bench)->prepare(std::move(setup));
  ASSERT_TRUE(trial);
  (*bench)->run_round(*trial, 2, 0.0001);
  EXPECT_EQ((*bench)->clock_of(*trial), (*bench)->cycles_per_tick());
  const double slow = (*bench)->cycles_per_tick() / 2;
  trial->cycles_per_tick = slow;
  trial->clocks = {slow, slow * 0.9, slow * 0.8, slow * 0.7, slow * 0.6};
  EXPECT_EQ((*bench)->clock_of(*trial), (*bench)->cycles_per_tick()) << "that was noise";
  trial->clocks.assign(5, slow);
  EXPECT_EQ((*bench)->clock_of(*trial), slow);
}

}  // namespace
}  // namespace loft::machine
