// The direction predictors: bimodal and gshare (McFarling 1993), perceptron (Jiménez and Lin 2001),
// and a small TAGE (Seznec and Michaud 2006).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/branch.hpp"

namespace loft::core {
namespace {

std::uint64_t hash_of(std::uint64_t address) { return address ^ address >> 15; }

// Two-bit counters, weakly taken at first.
class Counters {
 public:
  explicit Counters(int bits) : values_(std::size_t{1} << bits, 2) {}
  bool predict(std::uint64_t index) const { return values_[index & (values_.size() - 1)] >= 2; }
  void learn(std::uint64_t index, bool is_taken) {
    std::uint8_t& value = values_[index & (values_.size() - 1)];
    if (is_taken ? value < 3 : value > 0)
      value = static_cast<std::uint8_t>(value + (is_taken ? 1 : -1));
  }

 private:
  std::vector<std::uint8_t> values_;
};

class Bimodal final : public DirectionPredictor {
 public:
  explicit Bimodal(int bits) : counters_(bits) {}
  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    const std::uint64_t index = hash_of(address);
    const bool guess = counters_.predict(index);
    counters_.learn(index, is_taken);
    return guess;
  }

 private:
  Counters counters_;
};

class Gshare final : public DirectionPredictor {
 public:
  explicit Gshare(int bits) : counters_(bits), mask_((std::uint64_t{1} << bits) - 1) {}
  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    const std::uint64_t index = hash_of(address) ^ history_;
    const bool guess = counters_.predict(index);
    counters_.learn(index, is_taken);
    history_ = (history_ << 1 | std::uint64_t{is_taken}) & mask_;
    return guess;
  }

 private:
  Counters counters_;
  std::uint64_t mask_;
  std::uint64_t history_ = 0;
};

class Perceptron final : public DirectionPredictor {
 public:
  explicit Perceptron(int bits) : rows_(std::size_t{1} << std::max(0, bits - 5)) {}
  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    Row& row = rows_[hash_of(address) & (rows_.size() - 1)];
    int sum = row[kHistory];
    for (int i = 0; i < kHistory; ++i) sum += is_set(i) ? row[i] : -row[i];
    const bool guess = sum >= 0;
    if (guess != is_taken || std::abs(sum) <= kThreshold) {
      adjust(row[kHistory], is_taken);
      for (int i = 0; i < kHistory; ++i) adjust(row[i], is_set(i) == is_taken);
    }
    history_ = history_ << 1 | std::uint64_t{is_taken};
    return guess;
  }

 private:
  static constexpr int kHistory = 32;
  static constexpr int kThreshold = 75;  // 1.93 * history + 14, as its authors found best
  using Row = std::array<std::int16_t, kHistory + 1>;

  bool is_set(int i) const { return (history_ >> i & 1) != 0; }
  static void adjust(std::int16_t& weight, bool is_up) {
    weight = static_cast<std::int16_t>(std::clamp(weight + (is_up ? 1 : -1), -128, 127));
  }

  std::vector<Row> rows_;
  std::uint64_t history_ = 0;
};

// The history of Tage's tables, folded to few bits and kept up to date branch by branch: one lane
// for each table.
using Lanes [[gnu::vector_size(16)]] = std::uint32_t;

// Folded to a prime number of bits: outcomes that come at a fixed distance, such as every second
// one beside a loop's own branch, still reach all of them. To as many as a table's index has, they
// would meet in a few, and most of the table would stay unused.
class Folded {
 public:
  explicit Folded(const std::array<int, 4>& lengths) {
    for (int i = 0; i < 4; ++i) back_[i] = 1u << (lengths[static_cast<std::size_t>(i)] % kBits);
  }
  // `newest` is 0 or 1, `oldest` all zeros or all ones.
  void push(Lanes newest, Lanes oldest) {
    Lanes value = (value_ << 1 | newest) ^ (oldest & back_);
    value ^= value >> kBits;
    value_ = value & ((1u << kBits) - 1);
  }
  [[nodiscard]] Lanes values() const { return value_; }

 private:
  static constexpr int kBits = 31;
  Lanes back_{};
  Lanes value_{};
};

class Tage final : public DirectionPredictor {
 public:
  explicit Tage(int bits)
      : base_(bits),
        index_bits_(std::max(4, bits - 3)),
        entries_(kTables << index_bits_),
        history_bits_(kLengths) {}

  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    const Found found = find(address);
    const bool base = base_.predict(hash_of(address));
    bool guess = base;
    if (found.provider >= 0) {
      Entry& from = *found.entries[found.provider];
      const bool other = found.alternate < 0 ? base : found.entries[found.alternate]->counter >= 0;
      const bool own = from.counter >= 0;
      const bool is_new = from.useful == 0 && (from.counter == 0 || from.counter == -1);
      guess = is_new && prefers_alternate_ >= 0 ? other : own;
      if (is_new && own != other) settle_preference(other == is_taken);
      if (own != other) from.useful = moved(from.useful, own == is_taken, 0, 3);
      from.counter = moved(from.counter, is_taken, -4, 3);
    } else {
      base_.learn(hash_of(address), is_taken);
    }
    if (guess != is_taken) allocate(found, is_taken);
    push(is_taken);
    return guess;
  }

 private:
  static constexpr int kTables = 4;
  static constexpr int kTagBits = 9;
  static constexpr std::array<int, 4> kLengths = {5, 15, 44, 130};
  static constexpr Lanes kSalts = {0x2545f491u, 0x5bd1e995u, 0x27d4eb2fu, 0x165667b1u};
  struct Entry {
    std::uint16_t tag = 0;
    std::int8_t counter = 0;  // -4 to 3; taken from 0 on
    std::int8_t useful = 0;   // 0 to 3
  };
  // What the tables have for the branch at hand.
  struct Found {
    std::array<Entry*, kTables> entries;
    Lanes tags;          // that its entries would have
    int provider = -1;   // the longest history that knows the branch
    int alternate = -1;  // and the next longest
  };

  static std::int8_t moved(std::int8_t value, bool is_up, int low, int high) {
    return static_cast<std::int8_t>(std::clamp(value + (is_up ? 1 : -1), low, high));
  }

  Found find(std::uint64_t address) {
    Found found;
    const auto hash = static_cast<std::uint32_t>(hash_of(address));
    // Fibonacci hashing: the upper bits of the product depend on all of both.
    Lanes mixed = (history_bits_.values() ^ hash * kSalts) * 0x9e3779b1u;
    mixed ^= mixed >> 15;
    found.tags = mixed & ((1u << kTagBits) - 1);
    const Lanes slots = mixed * 0x85ebca6bu >> (32 - index_bits_);
    std::uint32_t knowing = 0;  // a bit for each table
#pragma GCC unroll 4
    for (int i = 0; i < kTables; ++i) {
      Entry& entry = entries_[(static_cast<std::uint64_t>(i) << index_bits_) + slots[i]];
      found.entries[static_cast<std::size_t>(i)] = &entry;
      knowing |= std::uint32_t{entry.tag == found.tags[i]} << i;
    }
    found.provider = std::bit_width(knowing) - 1;
    found.alternate = std::bit_width(knowing & ~std::bit_floor(knowing)) - 1;
    return found;
  }

  void settle_preference(bool was_alternate_right) {
    prefers_alternate_ = std::clamp(prefers_alternate_ + (was_alternate_right ? 1 : -1), -8, 7);
  }

  // A misprediction asks for a longer history: the first entry there that nobody needs.
  static void allocate(const Found& found, bool is_taken) {
    for (auto i = static_cast<std::size_t>(found.provider + 1); i < kTables; ++i) {
      if (found.entries[i]->useful != 0) continue;
      *found.entries[i] = {static_cast<std::uint16_t>(found.tags[i]),
                           static_cast<std::int8_t>(is_taken ? 0 : -1), 0};
      return;
    }
    for (auto i = static_cast<std::size_t>(found.provider + 1); i < kTables; ++i)
      --found.entries[i]->useful;
  }

  void push(bool is_taken) {
    const auto ago = [this](int branches) {
      return history_[(now_ - static_cast<std::size_t>(branches)) % history_.size()];
    };
    const Lanes oldest = {ago(kLengths[0]), ago(kLengths[1]), ago(kLengths[2]), ago(kLengths[3])};
    const Lanes newest = Lanes{} + std::uint32_t{is_taken};
    history_bits_.push(newest, oldest);
    history_[now_++ % history_.size()] = 0 - std::uint32_t{is_taken};
  }

  Counters base_;
  int index_bits_;
  std::vector<Entry> entries_;  // of all tables, one after the other
  Folded history_bits_;
  std::array<std::uint32_t, 256> history_{};  // all ones for each of the last that was taken
  std::size_t now_ = 0;                       // branches so far
  int prefers_alternate_ = 0;
};

}  // namespace

std::unique_ptr<DirectionPredictor> make_predictor(const BranchGeometry& geometry) {
  const int bits = geometry.table_bits;
  switch (geometry.predictor) {
    case Predictor::bimodal:
      return std::make_unique<Bimodal>(bits);
    case Predictor::gshare:
      return std::make_unique<Gshare>(bits);
    case Predictor::perceptron:
      return std::make_unique<Perceptron>(bits);
    case Predictor::tage:
      break;
  }
  return std::make_unique<Tage>(bits);
}

}  // namespace loft::core
