// Programs that write to the pages that they run from.
#include "under_engine.hpp"

namespace loft::engine {
namespace {

TEST(ChangingCode, RunsBesideDataThatChanges) {
  const auto ran = under_engine({sample("beside.S")});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome.status, 0);
  EXPECT_EQ(count_of(*ran.run, "instructions"), 1u + 100000u * 3u + 4u);
}

TEST(ChangingCode, IsTranslatedAgainOnlyWhereItDiffers) {
  const std::vector<std::string> command{sample("own_page.c")};
  const auto ran = under_engine(command);
  EXPECT_EQ(ran.outcome, natively(command));
  ASSERT_TRUE(ran.run);
  // Each of 6000 trampolines and 6000 rounds would have made blocks of its own.
  std::uint32_t bodies = 0;
  for (std::uint32_t number = 0; number < ran.run->shared().blocks(); ++number) {
    const BlockEntry block = ran.run->shared().block(number);
    if (block.instructions != 0 && block.kind == static_cast<std::uint16_t>(BlockKind::body))
      ++bodies;
  }
  EXPECT_LT(bodies, 6000u);
}

TEST(ChangingCode, IsStreamedAsItRan) {
  const std::vector<std::string> command{sample("own_page.c")};
  EXPECT_EQ(under_engine(command, StreamMode::thrown_away).outcome, natively(command));
}

}  // namespace
}  // namespace loft::engine
