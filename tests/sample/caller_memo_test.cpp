// Chains of callers that were seen before.
#include "sample/caller_memo.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

perf_data::U64View view_of(const std::vector<std::uint64_t>& chain) {
  return {reinterpret_cast<const std::byte*>(chain.data()), chain.size(), false};
}

CallerMemo::Key key_of(const std::vector<std::uint64_t>& chain, TaskHistory::Root user = 1,
                       CpuMode mode = CpuMode::user) {
  return CallerMemo::key_of(view_of(chain), 1, mode, user, 2);
}

TEST(CallerMemo, TheInnermostAddressIsNoCaller) {
  CallerMemo memo;
  const std::vector<std::uint64_t> one = {0x10, 0x20, 0x30};
  const std::vector<std::uint64_t> other = {0x99, 0x20, 0x30};
  const std::vector<std::uint32_t> functions = {7, 8};
  const auto number = memo.add(key_of(one), functions);
  EXPECT_EQ(memo.find(key_of(other)), number);
  EXPECT_TRUE(std::ranges::equal(memo.functions_of(number), functions));
}

TEST(CallerMemo, ProcessesModesAndLengthsAreToldApart) {
  CallerMemo memo;
  const std::vector<std::uint64_t> chain = {0x10, 0x20, 0x30};
  const std::vector<std::uint64_t> shorter = {0x10, 0x20};
  memo.add(key_of(chain), {});
  EXPECT_EQ(memo.find(key_of(chain, 3)), CallerMemo::kNone);
  EXPECT_EQ(memo.find(key_of(chain, 1, CpuMode::kernel)), CallerMemo::kNone);
  EXPECT_EQ(memo.find(key_of(shorter)), CallerMemo::kNone);
}

TEST(CallerMemo, AnEqualHashAloneProvesNothing) {
  CallerMemo memo;
  const std::vector<std::uint64_t> chain = {0x10, 0x20, 0x30};
  const std::vector<std::uint64_t> other = {0x10, 0x20, 0x31};
  memo.add(key_of(chain), {});
  auto forged = key_of(other);
  forged.hash = key_of(chain).hash;
  EXPECT_EQ(memo.find(forged), CallerMemo::kNone);
}

TEST(CallerMemo, ManyAreFoundAgainUntilItIsEmptied) {
  CallerMemo memo;
  std::vector<std::vector<std::uint64_t>> chains;
  for (std::uint64_t i = 0; i < 20'000; ++i) chains.push_back({1, i * 64, i});
  for (const auto& chain : chains) memo.add(key_of(chain), {});
  for (std::uint32_t i = 0; i < chains.size(); ++i) ASSERT_EQ(memo.find(key_of(chains[i])), i);
  memo.clear();
  EXPECT_EQ(memo.find(key_of(chains[5])), CallerMemo::kNone);
}

}  // namespace
}  // namespace loft::sample
