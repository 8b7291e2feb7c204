// A program that counts itself through libloft, under the engine.
#ifdef LOFT_OWN_COUNTS
#include <gtest/gtest.h>

#include "engine/run.hpp"

namespace loft {
namespace {

TEST(OwnCounts, AreExactInsideTheEngine) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = engine::Run::prepare({LOFT_OWN_COUNTS});
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(end->shell_status(), 0) << "the program has printed what failed";
}

}  // namespace
}  // namespace loft
#endif
