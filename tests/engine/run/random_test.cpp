// Random blocks of instructions leave the same registers, flags and memory as natively, after each
// block; with the address stream, too.
#include "under_engine.hpp"

namespace loft::engine {
namespace {

// LOFT_RANDOM_SEEDS=100000 makes a soak of it.
int seeds() {
  const char* text = std::getenv("LOFT_RANDOM_SEEDS");
  return text != nullptr ? std::atoi(text) : 40;
}

TEST(RandomCode, LeavesTheSameStateAfterEachBlock) {
  for (int seed = 1; seed <= seeds(); ++seed) {
    const std::vector<std::string> command{sample("random.c"), std::to_string(seed), "300"};
    const Outcome expected = natively(command);
    ASSERT_EQ(expected.status, 0) << "seed " << seed;
    ASSERT_EQ(under_engine(command).outcome, expected) << "seed " << seed;
  }
}

TEST(RandomCode, LeavesTheSameStateWithTheAddressStream) {
  for (int seed = 1; seed <= seeds() / 4; ++seed) {
    const std::vector<std::string> command{sample("random.c"), std::to_string(seed), "300"};
    const Outcome expected = natively(command);
    ASSERT_EQ(under_engine(command, StreamMode::thrown_away).outcome, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace loft::engine
