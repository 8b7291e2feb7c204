// What loft makes of the memory that it shares with the engine, written here as the engine does.
#ifdef LOFT_HAS_ENGINE
#include "engine/tally.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>

namespace loft::engine {
namespace {

template <class T>
void write(const Shared& shared, std::uint64_t offset, const T& value) {
  ASSERT_EQ(::pwrite(shared.descriptor(), &value, sizeof value, static_cast<off_t>(offset)),
            static_cast<ssize_t>(sizeof value));
}

// The engine learns where a branch falls after it has written down the branch's block, and before
// either runs. A reader may look in between.
TEST(Tally, ABlockThatWasSeenHalfWrittenIsReadAgain) {
  const auto shared = Shared::create();
  ASSERT_TRUE(shared);
  const std::uint16_t jne = 0x0075;  // jne to the next instruction
  write(*shared, kCodeOffset, jne);
  BlockEntry branch{.address = 0x1000, .code_offset = 0, .size = 2, .instructions = 1};
  branch.kind = static_cast<std::uint16_t>(BlockKind::body);
  BlockEntry fall{.address = 0x1002};
  fall.kind = static_cast<std::uint16_t>(BlockKind::fall_through);
  write(*shared, kBlocksOffset + kFirstBlock * sizeof branch, branch);
  write(*shared, kBlocksOffset + (kFirstBlock + 1) * sizeof fall, fall);
  write(*shared, offsetof(SharedHeader, blocks), kFirstBlock + 2);
  write(*shared, offsetof(SharedHeader, slots), std::uint32_t{1});

  Tally tally(*shared);
  ASSERT_TRUE(tally.of_slot(0));

  branch.next_fall = kFirstBlock + 1;
  write(*shared, kBlocksOffset + kFirstBlock * sizeof branch, branch);
  write(*shared, kCountersOffset + kFirstBlock * sizeof(std::uint64_t), std::uint64_t{10});
  write(*shared, kCountersOffset + (kFirstBlock + 1) * sizeof(std::uint64_t), std::uint64_t{3});
  const auto counts = tally.of_slot(0);
  ASSERT_TRUE(counts);
  EXPECT_EQ((*counts)[find_event("instructions").value()], 10u);
  EXPECT_EQ((*counts)[find_event("branches_taken").value()], 7u);
}

}  // namespace
}  // namespace loft::engine
#endif
