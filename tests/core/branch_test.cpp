#include "core/branch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "core/tage.hpp"

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

// TAGE as its authors tell it, with the sizes and hashes of core/tage.hpp.
class PlainTage {
 public:
  explicit PlainTage(int bits) : base_(1u << bits, 2), index_bits_(std::max(4, bits - 3)) {
    for (auto& table : tables_) table.resize(1u << index_bits_);
  }

  bool predict_and_learn(std::uint64_t address, bool is_taken) {
    const auto hash = static_cast<std::uint32_t>(address ^ address >> 15);
    std::array<Entry*, 4> entries{};
    std::array<std::uint32_t, 4> tags{};
    int provider = -1, alternate = -1;
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint32_t mixed = (folded(kLengths[i]) ^ hash * kSalts[i]) * 0x9e3779b1u;
      mixed ^= mixed >> 15;
      tags[i] = mixed & 511;
      entries[i] = &tables_[i][mixed * 0x85ebca6bu >> (32 - index_bits_)];
      if (entries[i]->tag != tags[i]) continue;
      alternate = provider;
      provider = static_cast<int>(i);
    }
    int& base = base_[hash & (base_.size() - 1)];
    bool guess = base >= 2;
    if (provider < 0) {
      base = std::clamp(base + (is_taken ? 1 : -1), 0, 3);
    } else {
      Entry& from = *entries[static_cast<std::size_t>(provider)];
      const bool own = from.counter >= 0;
      const bool other =
          alternate < 0 ? guess : entries[static_cast<std::size_t>(alternate)]->counter >= 0;
      const bool is_new = from.useful == 0 && (from.counter == 0 || from.counter == -1);
      guess = is_new && preference_ >= 0 ? other : own;
      if (own != other) {
        if (is_new) preference_ = std::clamp(preference_ + (other == is_taken ? 1 : -1), -8, 7);
        from.useful = std::clamp(from.useful + (own == is_taken ? 1 : -1), 0, 3);
      }
      from.counter = std::clamp(from.counter + (is_taken ? 1 : -1), -4, 3);
    }
    if (guess != is_taken)
      allocate(entries, tags, static_cast<std::size_t>(provider + 1), is_taken);
    history_.push_front(is_taken);
    history_.resize(kLengths.back());
    return guess;
  }

 private:
  static constexpr std::array<std::size_t, 4> kLengths = {5, 15, 44, 130};
  static constexpr std::array<std::uint32_t, 4> kSalts = {0x2545f491u, 0x5bd1e995u, 0x27d4eb2fu,
                                                          0x165667b1u};
  struct Entry {
    std::uint32_t tag = 0;
    int counter = 0, useful = 0;
  };

  [[nodiscard]] std::uint32_t folded(std::size_t length) const {
    std::uint32_t bits = 0;
    for (std::size_t age = 0; age < length; ++age)
      bits ^= std::uint32_t{history_[age]} << (age % 31);
    return bits;
  }
  static void allocate(std::array<Entry*, 4>& entries, const std::array<std::uint32_t, 4>& tags,
                       std::size_t longer, bool is_taken) {
    for (std::size_t i = longer; i < 4; ++i)
      if (entries[i]->useful == 0) {
        *entries[i] = {tags[i], is_taken ? 0 : -1, 0};
        return;
      }
    for (std::size_t i = longer; i < 4; ++i) --entries[i]->useful;
  }

  std::vector<int> base_;
  int index_bits_;
  std::array<std::vector<Entry>, 4> tables_;
  std::deque<bool> history_ = std::deque<bool>(kLengths.back());
  int preference_ = 0;
};

// One by one, many at once, and in turns, whatever the processor can do.
TEST(Branch, TageDoesWhatItsPlainFormDoes) {
  for (const int bits : {4, 9, 14}) {
    std::mt19937 random(5);
    PlainTage plain(bits);
    Tage single(bits), many(bits);
    const auto best = make_tage(bits);
    std::vector<Tage::Outcome> outcomes;
    std::vector<std::uint32_t> expected, by_many, by_best;
    std::uint64_t place = 0;
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      const std::uint64_t address = 0x7f0000401000 + place * 37;
      const bool is_taken = place % 3 == 0   ? random() % 8 != 0
                            : place % 3 == 1 ? i % 5 != 0
                                             : random() % 2 == 0;
      const bool is_wrong = plain.predict_and_learn(address, is_taken) != is_taken;
      ASSERT_EQ(single.predict_and_learn(address, is_taken) != is_taken, is_wrong) << i;
      if (is_wrong) expected.push_back(static_cast<std::uint32_t>(outcomes.size()));
      outcomes.push_back(Tage::outcome(address, is_taken));
      place = (place + (is_taken ? 1 : 11)) % 90;
      if (random() % 1000 != 0) continue;
      many.predict_all(outcomes, by_many);
      best->predict_all(outcomes, by_best);
      ASSERT_EQ(by_many, expected);
      ASSERT_EQ(by_best, expected);
      for (auto* each : {&expected, &by_many, &by_best}) each->clear();
      outcomes.clear();
    }
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
