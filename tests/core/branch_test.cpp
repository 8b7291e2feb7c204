#include "core/branch.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace loft::core {
namespace {

constexpr Predictor kAll[] = {Predictor::bimodal, Predictor::gshare, Predictor::tage,
                              Predictor::perceptron};

// Mispredictions of the second half of 8000 branches at one address.
std::uint64_t wrong(Predictor predictor, const std::function<bool(int)>& is_taken) {
  BranchUnit unit({.predictor = predictor});
  std::uint64_t count = 0;
  for (int i = 0; i < 8000; ++i) {
    const bool is_wrong =
        unit.execute({BranchKind::conditional, 0x401234, 0x401200, is_taken(i), 0x401236});
    if (i >= 4000) count += is_wrong;
  }
  return count;
}

TEST(Branch, EveryPredictorLearnsABranchThatAlwaysGoesOneWay) {
  for (const Predictor predictor : kAll) {
    EXPECT_EQ(wrong(predictor, [](int) { return true; }), 0u) << to_string(predictor);
    EXPECT_EQ(wrong(predictor, [](int) { return false; }), 0u) << to_string(predictor);
  }
}

TEST(Branch, HistoryLearnsWhatCountersCannot) {
  const auto alternates = [](int i) { return i % 2 == 0; };
  EXPECT_GE(wrong(Predictor::bimodal, alternates), 1900u);
  for (const Predictor predictor : {Predictor::gshare, Predictor::tage, Predictor::perceptron})
    EXPECT_LE(wrong(predictor, alternates), 4u) << to_string(predictor);
}

TEST(Branch, BimodalMissesTheEndOfEachLoop) {
  EXPECT_EQ(wrong(Predictor::bimodal, [](int i) { return i % 10 != 9; }), 400u);
}

TEST(Branch, LongHistoriesLearnLoopsOfFortyRounds) {
  const auto loop = [](int i) { return i % 40 != 39; };
  EXPECT_EQ(wrong(Predictor::bimodal, loop), 100u);
  EXPECT_GE(wrong(Predictor::gshare, loop), 90u);  // 13 branches of history are too few
  EXPECT_LE(wrong(Predictor::tage, loop), 10u);
}

// 2,048 random outcomes again and again, beside the branch of the loop that they are in: whatever
// the size of its tables, a predictor that is large enough uses all of them.
TEST(Branch, TageLearnsARepeatedPatternBesideTheLoopsOwnBranch) {
  std::mt19937 random(7);
  std::vector<bool> pattern(2048);
  for (auto&& is_taken : pattern) is_taken = random() % 2 == 0;
  for (const int bits : {14, 15, 16, 17}) {
    BranchUnit unit({.predictor = Predictor::tage, .table_bits = static_cast<std::uint8_t>(bits)});
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < 40 * pattern.size(); ++i) {
      const bool is_wrong = unit.execute_conditional(0x401234, pattern[i % pattern.size()]);
      if (i >= 20 * pattern.size()) wrong += is_wrong;
      unit.execute_conditional(0x401242, i % pattern.size() != pattern.size() - 1);
    }
    EXPECT_LT(wrong, 20 * pattern.size() / 7) << bits << " bits";
  }
}

TEST(Branch, NobodyPredictsACoin) {
  for (const Predictor predictor : kAll) {
    std::mt19937 random(7);
    const std::uint64_t count = wrong(predictor, [&](int) { return random() % 2 == 0; });
    EXPECT_GE(count, 1800u) << to_string(predictor);
    EXPECT_LE(count, 2200u) << to_string(predictor);
  }
}

TEST(Branch, ReturnsComeFromTheStackUntilItOverflows) {
  BranchUnit unit({.return_entries = 8});
  const auto recurse = [&](std::uint64_t depth) {
    for (std::uint64_t i = 0; i < depth; ++i)
      unit.execute({BranchKind::call, 0x1000 + i * 16, 0x2000, true, 0x1005 + i * 16});
    for (std::uint64_t i = depth; i-- > 0;)
      unit.execute({BranchKind::ret, 0x2010, 0x1005 + i * 16, true, 0x2011});
  };
  const auto returns = [&] {
    return unit.counts().mispredicted[static_cast<std::size_t>(BranchKind::ret)];
  };
  recurse(8);
  EXPECT_EQ(returns(), 0u);
  recurse(11);
  EXPECT_EQ(returns(), 3u);
}

TEST(Branch, IndirectTargetsAreKnownByPath) {
  BranchUnit unit({});
  std::uint64_t late = 0;
  for (int i = 0; i < 3000; ++i) {  // an interpreter that runs four operations in turn
    const std::uint64_t target = 0x5000 + static_cast<std::uint64_t>(i % 4) * 0x40;
    const bool is_wrong = unit.execute({BranchKind::indirect_jump, 0x4000, target, true, 0x4002});
    if (i > 100) late += is_wrong;
  }
  EXPECT_EQ(late, 0u);
}

TEST(Branch, CountsByKind) {
  BranchUnit unit({});
  unit.execute({BranchKind::jump, 1, 2, true, 3});
  unit.execute({BranchKind::call, 1, 2, true, 3});
  unit.execute({BranchKind::indirect_call, 5, 9, true, 7});
  EXPECT_EQ(unit.counts().executed[static_cast<std::size_t>(BranchKind::call)], 1u);
  EXPECT_EQ(unit.counts().all_mispredicted(), 1u);
  EXPECT_EQ(unit.counts().mispredicted[static_cast<std::size_t>(BranchKind::indirect_call)], 1u);
}

TEST(BranchGeometry, RefusesWhatCannotBe) {
  EXPECT_FALSE(check(BranchGeometry{.table_bits = 30}));
  EXPECT_FALSE(check(BranchGeometry{.indirect_bits = 2}));
  EXPECT_FALSE(check(BranchGeometry{.return_entries = 0}));
}

}  // namespace
}  // namespace loft::core
