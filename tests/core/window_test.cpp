#include "core/window.hpp"

#include <gtest/gtest.h>

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
    branch.is_taken = branch.is_mispredicted = true;
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
  EXPECT_EQ(models.branches(0).counts().all_executed(), 25u);
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

}  // namespace
}  // namespace loft::core
