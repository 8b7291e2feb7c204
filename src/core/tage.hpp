// A small TAGE (Seznec and Michaud 2006): a base table, and four tables by ever longer histories,
// of which the longest that knows the branch decides.
//
//   const auto tage = make_tage(14);      // 2^14 entries of the base table
//   if (tage->predict_and_learn(address, is_taken) != is_taken) ++mispredicted;
//
// Branches whose outcomes are known in advance are quicker together, since the places of a
// prediction depend on outcomes, not on predictions:
//
//   std::vector<Tage::Outcome> outcomes{Tage::outcome(address, is_taken)};
//   tage->predict_all(outcomes, wrong);   // std::vector<std::uint32_t>: which of them
//
// Directions of a program come in an order that no processor foresees, so that nothing here jumps
// by them but for a misprediction.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/branch.hpp"

namespace loft::core {

inline std::uint64_t branch_hash(std::uint64_t address) { return address ^ address >> 15; }

class Tage : public DirectionPredictor {
 public:
  // A value for each of the tables with a history.
  using Lanes [[gnu::vector_size(16)]] = std::uint32_t;

  struct Outcome {
    std::uint32_t hash = 0;
    std::uint32_t is_taken = 0;  // 0 or 1
  };

  explicit Tage(int bits);

  [[nodiscard]] static Outcome outcome(std::uint64_t address, bool is_taken) {
    return {static_cast<std::uint32_t>(branch_hash(address)), is_taken};
  }
  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    Places places;
    find(outcome(address, is_taken), places);
    return predict(places, outcome(address, is_taken));
  }
  // Adds the numbers of those that are mispredicted.
  virtual void predict_all(std::span<const Outcome> outcomes, std::vector<std::uint32_t>& wrong) {
    predict_each(outcomes, wrong);
  }

 protected:
  [[gnu::always_inline]] void predict_each(std::span<const Outcome> outcomes,
                                           std::vector<std::uint32_t>& wrong);

 private:
  static constexpr int kTables = 4;
  static constexpr std::array<int, kTables> kLengths = {5, 15, 44, 130};
  static constexpr Lanes kSalts = {0x2545f491u, 0x5bd1e995u, 0x27d4eb2fu, 0x165667b1u};
  // Histories are folded to a prime number of bits: outcomes that come at a fixed distance, such as
  // every second one beside a loop's own branch, still reach all of them. To as many as a table's
  // index has, they would meet in a few, and most of the table would stay unused.
  static constexpr int kFoldedBits = 31;
  static constexpr Lanes kOldestBit = {
      1u << kLengths[0] % kFoldedBits, 1u << kLengths[1] % kFoldedBits,
      1u << kLengths[2] % kFoldedBits, 1u << kLengths[3] % kFoldedBits};
  // Tags lie apart from states: they change at mispredictions alone, so that which table decides is
  // known before the last branch has moved a counter. A state is how useful an entry was, and above
  // that a counter whose upper half is taken; in the base table one from 2 to 5.
  static constexpr std::uint32_t kTag = (1u << 9) - 1;
  static constexpr std::uint32_t kUseful = 3;
  static constexpr int kCounterShift = 2;
  static constexpr int kTakenBit = 4;
  static constexpr std::uint32_t kTaken = 1u << kTakenBit;         // weakly
  static constexpr std::uint32_t kNotTaken = 3u << kCounterShift;  // weakly
  static constexpr std::size_t kKept = 1024;  // outcomes, before the newest are moved

  // What becomes of an entry that decides, by its state, what happened, what the next longest
  // history would have said, and whether it is of the base table.
  struct Step {
    std::uint8_t state = 0;
    std::array<std::uint8_t, 2> guess{};  // where new entries are trusted, and where they are not
    std::int8_t preference = 0;           // whether the next longest history was the better one
  };
  static constexpr std::uint32_t kIsTaken = 1u << 5, kOther = 1u << 6, kIsBase = 1u << 7;
  using Steps = std::array<Step, 2 * kIsBase>;
  static const Steps kSteps;
  // Which tables decide, by those that know a branch: the longest history, and the next longest.
  struct Deciding {
    std::uint8_t provider = 0, alternate = 0;
  };
  static const std::array<Deciding, 1 << kTables> kDeciding;
  static Step step_of(std::uint32_t index);
  static Steps all_steps();
  static std::array<Deciding, 1 << kTables> all_deciding();

  // Bit i: lane i is all ones.
  [[gnu::always_inline]] static std::uint32_t bits_of(Lanes lanes) {
#if defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(lanes)));
#else
    return (lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8);
#endif
  }
  // Where the tables have a branch, and with what tag; the base table comes last.
  static constexpr std::uint32_t kBase = kTables;
  struct Places {
    Lanes tags;
    alignas(16) std::array<std::uint32_t, kTables + 1> entries;
  };
  // Adds the outcome to the history.
  [[gnu::always_inline]] void find(const Outcome& outcome, Places& places);
  [[gnu::always_inline]] bool predict(const Places& places, const Outcome& outcome);
  void allocate(std::uint32_t provider, const Places& places, bool is_taken);
  [[gnu::always_inline]] void push(std::uint32_t is_taken);
  void move_history();

  int index_bits_;
  std::uint32_t base_mask_;
  std::uint32_t base_start_;
  Lanes starts_;                      // where each table begins
  std::vector<std::uint16_t> tags_;   // of the tables with a history, one after the other
  std::vector<std::uint8_t> states_;  // of the same, and of the base table
  Lanes folded_{};                    // the history of each table
  std::vector<std::uint32_t> history_;
  std::uint32_t* newest_;  // in it, the oldest last: all ones where a branch was taken
  std::int32_t prefers_alternate_ = 0;
};

inline void Tage::find(const Outcome& outcome, Places& places) {
  // Fibonacci hashing: the upper bits of the product depend on all of both.
  Lanes mixed = (folded_ ^ outcome.hash * kSalts) * 0x9e3779b1u;
  mixed ^= mixed >> 15;
  places.tags = mixed & kTag;
  const Lanes entries = (mixed * 0x85ebca6bu >> (32 - index_bits_)) + starts_;
  std::memcpy(places.entries.data(), &entries, sizeof entries);
  places.entries[kBase] = base_start_ + (outcome.hash & base_mask_);
  push(outcome.is_taken);
}

inline bool Tage::predict(const Places& places, const Outcome& outcome) {
  const auto& at = places.entries;
  const std::uint16_t* const tags = tags_.data();
  std::uint8_t* const states = states_.data();
  const Lanes found = {tags[at[0]], tags[at[1]], tags[at[2]], tags[at[3]]};
  const Deciding deciding = kDeciding[bits_of(reinterpret_cast<Lanes>(found == places.tags))];
  const std::uint32_t other = std::uint32_t{states[at[deciding.alternate]]} >> kTakenBit;
  std::uint8_t& state = states[at[deciding.provider]];
  const Step& step = kSteps[state | outcome.is_taken * kIsTaken | other * kOther |
                            std::uint32_t{deciding.provider == kBase} * kIsBase];
  const std::uint32_t guess = step.guess[prefers_alternate_ >= 0];
  state = step.state;
  prefers_alternate_ = std::clamp(prefers_alternate_ + step.preference, -8, 7);
  if (guess != outcome.is_taken) [[unlikely]]
    allocate(deciding.provider, places, outcome.is_taken != 0);
  return guess != 0;
}

inline void Tage::predict_each(std::span<const Outcome> outcomes,
                               std::vector<std::uint32_t>& wrong) {
  constexpr std::size_t kAtOnce = 128;
  std::array<Places, kAtOnce> places;
  for (std::size_t start = 0; start < outcomes.size(); start += kAtOnce) {
    const auto some = outcomes.subspan(start, std::min(kAtOnce, outcomes.size() - start));
    for (std::size_t i = 0; i < some.size(); ++i) find(some[i], places[i]);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (predict(places[i], some[i]) != (some[i].is_taken != 0)) [[unlikely]]
        wrong.push_back(static_cast<std::uint32_t>(start + i));
  }
}

inline void Tage::push(std::uint32_t is_taken) {
  const Lanes oldest = {newest_[kLengths[0] - 1], newest_[kLengths[1] - 1],
                        newest_[kLengths[2] - 1], newest_[kLengths[3] - 1]};
  Lanes folded = (folded_ << 1 | is_taken) ^ (oldest & kOldestBit);
  folded ^= folded >> kFoldedBits;
  folded_ = folded & ((1u << kFoldedBits) - 1);
  if (newest_ == history_.data()) [[unlikely]]
    move_history();
  *--newest_ = 0 - is_taken;
}

// The quickest one that this processor can run. All predict the same.
[[nodiscard]] std::unique_ptr<Tage> make_tage(int bits);

}  // namespace loft::core
