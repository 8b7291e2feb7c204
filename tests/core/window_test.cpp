#include "core/window.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/models.hpp"
#include "core/window_builder.hpp"

namespace loft::core {
namespace {

Window example() {
  WindowBuilder builder;
  const auto fma = builder.add({.op = Op::fp_fma,
                                .vector_bits = 256,
                                .address_registers = general_reg(3),
                                .sources = vector_reg(1) | vector_reg(31),
                                .destinations = vector_reg(1)});
  const auto jump = builder.add({.block = 7,
                                 .op = Op::branch,
                                 .branch = BranchKind::conditional,
                                 .uops = 2,
                                 .sources = kFlags | kCarry});
  for (std::uint64_t i = 0; i < 5; ++i) {
    WindowAccess access = load_from(Level::l3, 0x7fff12345678 + i * 32, 32);
    access.cache.prefetched_from = Level::memory;
    access.cache.nearest = Level::l2;
    access.cache.is_late = true;
    access.cache.written_back = 3;
    access.translation = {Translation::walk, Translation::second};
    builder.run(fma, {access, store_to(i)});
    Execution& branch = builder.run(jump);
    branch.is_taken = branch.is_mispredicted = branch.is_mispredicted_anew = true;
    branch.fetched_from = Level::l2;
    branch.code = Translation::second;
  }
  return builder.window;
}

TEST(Window, ReadsBackWhatWasWritten) {
  const Window window = example();
  const auto same = parse_window(serialize(window));
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, window);
  EXPECT_EQ(*parse_window(serialize({})), Window{});
}

TEST(Window, RefusesWhatWasCutOrLengthened) {
  std::vector<std::byte> bytes = serialize(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(parse_window(std::span(bytes).first(size))) << size;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parse_window(bytes));
}

TEST(Window, RefusesCountsThatTheBytesCannotHold) {
  std::vector<std::byte> bytes = serialize(example());
  for (std::size_t at = 8; at < 24; ++at) {
    std::vector<std::byte> wrong = bytes;
    wrong[at] ^= std::byte{0xff};
    EXPECT_FALSE(parse_window(wrong)) << at;
  }
}

TEST(Window, AnyByteMayBeWrongWithoutHarm) {
  const std::vector<std::byte> bytes = serialize(example());
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::vector<std::byte> wrong = bytes;
    for (int change = 0; change < 3; ++change)
      wrong[8 + random() % (bytes.size() - 8)] = static_cast<std::byte>(random());
    const auto window = parse_window(wrong);
    if (!window) continue;
    ++accepted;
    ASSERT_TRUE(check(*window));
    ASSERT_EQ(serialize(*window), wrong);  // nothing was read as something else
  }
  EXPECT_GT(accepted, 200);
}

TEST(Window, RefusesNumbersThatReferToNothing) {
  Window window = example();
  window.executions[3].instruction = 2;
  EXPECT_FALSE(check(window));
  window = example();
  window.executions[0].first_access = 0xffffffff;
  EXPECT_FALSE(check(window));
  window = example();
  window.executions.back().accesses = 1;
  EXPECT_FALSE(check(window));
  window = example();
  window.instructions[1].block = 8;
  EXPECT_FALSE(check(window));
  window = example();
  window.instructions[0].sources = Registers{1} << 60;
  EXPECT_FALSE(check(window));
}

TEST(Models, RecordWhatOneThreadDoes) {
  Models models(*find_machine("cachegrind"));
  const Instruction load{.address = 0x1000, .block = 200'000, .length = 4};
  const Instruction back{
      .address = 0x1004, .block = 200'000, .length = 2, .branch = BranchKind::conditional};
  Window window;
  const auto round = [&](std::uint32_t thread, std::uint64_t i) {
    const Touched touched[] = {{.address = 0x100000 + i * 8, .size = 8}};
    models.execute(thread, load, touched);
    models.execute(thread, back, {}, true, 0x1000);
  };
  for (std::uint64_t i = 0; i < 8; ++i) round(0, i);
  models.record(&window, 0);
  for (std::uint64_t i = 8; i < 24; ++i) {
    round(0, i);
    round(1, i);
  }
  models.record(nullptr, 0);
  round(0, 24);
  ASSERT_TRUE(check(window));
  EXPECT_EQ(window.instructions.size(), 2u);
  EXPECT_EQ(window.executions.size(), 32u);
  EXPECT_EQ(window.accesses.size(), 16u);
  EXPECT_EQ(window.blocks, std::vector<std::uint64_t>{200'000});
  EXPECT_EQ(window.instructions[1].block, 0u);
  // One line of data in eight loads; code was fetched before.
  EXPECT_EQ(window.accesses[0].cache.level, Level::memory);
  EXPECT_EQ(window.accesses[1].cache.level, Level::l1);
  EXPECT_EQ(window.accesses[8].cache.level, Level::memory);
  EXPECT_EQ(window.executions[0].fetched_from, Level::l1);
  EXPECT_TRUE(window.executions[1].is_taken);
  const BranchCounts& branches = models.branches(0).counts();
  EXPECT_EQ(std::accumulate(branches.executed.begin(), branches.executed.end(), std::uint64_t{0}),
            25u);
}

// A pattern that is known by heart from before is learned anew by the second predictor.
TEST(Models, ASecondPredictorKnowsTheWarmUpAlone) {
  const MachineGeometry geometry = *find_machine("zen4");
  Models models(geometry, {.relearns = true});
  const Instruction jump{.address = 0x401000, .branch = BranchKind::conditional};
  constexpr std::uint64_t kPattern = 0x9d3c5a7e61f0b824;
  const auto run = [&](Models& on, int branches) {
    for (int i = 0; i < branches; ++i) on.execute(0, jump, {}, (kPattern >> i % 64 & 1) != 0);
  };
  run(models, 64 * 100);
  models.start_warm_up(Cache::Keep::as_guess);
  Window window;
  models.record(&window, 0);
  run(models, 64 * 8);
  Models fresh(geometry);
  Window expected;
  fresh.record(&expected, 0);
  run(fresh, 64 * 8);
  ASSERT_EQ(window.executions.size(), expected.executions.size());
  int kept = 0;
  int anew = 0;
  for (std::size_t i = 0; i < expected.executions.size(); ++i) {
    const Execution& each = window.executions[i];
    EXPECT_EQ(each.is_mispredicted_anew, expected.executions[i].is_mispredicted) << i;
    kept += each.is_mispredicted;
    anew += each.is_mispredicted_anew;
  }
  EXPECT_EQ(kept, 0);
  EXPECT_GT(anew, 20);
}

TEST(Models, FetchALineOnceEachTimeItIsEntered) {
  Models models(*find_machine("cachegrind"));
  for (std::uint64_t at = 0x1000; at < 0x1080; at += 4)
    models.execute(0, {.address = at, .length = 4}, {});
  EXPECT_EQ(models.caches().l1i(0).accesses(), 2u);
  const Step straddling = models.execute(0, {.address = 0x107e, .length = 4}, {});
  EXPECT_EQ(straddling.fetch.level, Level::memory);
  EXPECT_EQ(models.caches().l1i(0).misses, 3u);
}

// Plain hits one by one and in sums are the same.
struct Seen : BlockObserver {
  void data(std::uint32_t) { ++data_hits; }
  void fetched(std::uint32_t, std::uint32_t lines) { code_hits += lines; }
  void hits(std::uint64_t data, std::uint64_t code) {
    data_sum += data;
    code_sum += code;
  }
  void changed(std::uint32_t) { ++changes; }
  std::uint64_t data_hits = 0, code_hits = 0, data_sum = 0, code_sum = 0, changes = 0;
};

// Random blocks of some twenty instructions that read and write near and far.
struct RandomBlocks {
  explicit RandomBlocks(const MachineGeometry& geometry) {
    for (std::uint64_t number = 0; number < 300; ++number) {
      std::vector<Instruction> code;
      std::uint64_t at = 0x400000 + number * 171;
      const std::size_t count = 1 + random() % 20;
      while (code.size() < count) {
        code.push_back({.address = at, .length = static_cast<std::uint8_t>(1 + random() % 9)});
        at += code.back().length;
      }
      code.back().branch = static_cast<BranchKind>(random() % kBranchKinds);
      blocks.emplace_back(std::move(code), geometry);
    }
  }
  std::vector<BlockTouch> touches_of(const CodeBlock& block) {
    std::vector<BlockTouch> touches;
    for (std::uint32_t i = 0; i < block.instructions.size(); ++i)
      while (random() % 2 == 0) {
        const std::uint64_t span = random() % 8 == 0 ? 64u << 20 : 24u << 10;
        touches.push_back({0x10000000 + random() % span,
                           static_cast<std::uint32_t>(1 + random() % 70), i, random() % 3 == 0,
                           random() % 50 == 0});
      }
    return touches;
  }
  std::mt19937 random{7};
  std::vector<CodeBlock> blocks;
};

// Of blocks at once and of instructions one by one, on threads that share data, with windows.
TEST(Models, BlocksCountAsTheirInstructionsDo) {
  for (const char* machine : {"zen3", "icelake", "cachegrind"}) {
    const MachineGeometry geometry = *find_machine(machine);
    Models whole(geometry), single(geometry);
    RandomBlocks made(geometry);
    Seen seen;
    for (int i = 0; i < 20'000; ++i) {
      if (i == 9'000) {
        whole.start_warm_up(Cache::Keep::as_guess);
        single.start_warm_up(Cache::Keep::as_guess);
      }
      const auto thread = static_cast<std::uint32_t>(i < 5'000 ? 0 : made.random() % 3);
      const CodeBlock& block = made.blocks[made.random() % made.blocks.size()];
      const auto touches = made.touches_of(block);
      const BlockEnd end{made.random() % 20 != 0, made.random() % 4 == 0, made.random() % 4096};
      const auto give = [&](auto&& take) {
        for (const BlockTouch& touch : touches) take(touch);
      };
      whole.execute(thread, block, give, end, seen);
      for (std::uint32_t k = 0; k < block.instructions.size(); ++k) {
        std::vector<Touched> touched;
        for (const BlockTouch& one : touches)
          if (one.instruction == k)
            touched.push_back({one.address, one.size, one.is_store, one.is_past});
        Instruction instruction = block.instructions[k];
        if (!end.is_known) instruction.branch = BranchKind::none;
        single.execute(thread, instruction, touched, end.is_taken, end.target);
      }
    }
    EXPECT_GT(seen.data_hits, 10'000u);
    EXPECT_GT(seen.code_hits, 1'000u);
    EXPECT_EQ(seen.data_hits, seen.data_sum);
    EXPECT_EQ(seen.code_hits, seen.code_sum);
    EXPECT_GT(seen.changes, 10'000u);
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      for (const ModelledEvent& event : modelled_events())
        EXPECT_EQ(event.read(whole.view(thread)), event.read(single.view(thread)))
            << machine << ' ' << event.name;
  }
}

}  // namespace
}  // namespace loft::core
