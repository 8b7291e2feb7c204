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

class Folded {
 public:
  Folded(const std::array<int, 4>& lengths, int bits) : bits_(bits) {
    for (int i = 0; i < 4; ++i) back_[i] = 1u << (lengths[static_cast<std::size_t>(i)] % bits);
  }
  // `newest` is 0 or 1, `oldest` all zeros or all ones.
  void push(Lanes newest, Lanes oldest) {
    Lanes value = (value_ << 1 | newest) ^ (oldest & back_);
    value ^= value >> bits_;
    value_ = value & ((1u << bits_) - 1);
  }
  std::uint32_t value(int lane) const { return value_[lane]; }

 private:
  int bits_;
  Lanes back_{};
  Lanes value_{};
};

class Tage final : public DirectionPredictor {
 public:
  explicit Tage(int bits)
      : base_(bits),
        index_bits_(std::max(4, bits - 3)),
        index_(kLengths, index_bits_),
        tag_(kLengths, kTagBits),
        tag2_(kLengths, kTagBits - 1) {
    for (Table& table : tables_) table.entries.resize(std::size_t{1} << index_bits_);
  }

  bool predict_and_learn(std::uint64_t address, bool is_taken) override {
    find(address);
    const bool base = base_.predict(hash_of(address));
    const bool other = alternate_ < 0 ? base : entry(alternate_).counter >= 0;
    bool guess = base;
    if (provider_ >= 0) {
      const Entry& from = entry(provider_);
      const bool is_new = from.useful == 0 && (from.counter == 0 || from.counter == -1);
      guess = is_new && prefers_alternate_ >= 0 ? other : from.counter >= 0;
      if (is_new && (from.counter >= 0) != other) settle_preference(other == is_taken);
    }
    learn(address, is_taken, guess, other);
    push(is_taken);
    return guess;
  }

 private:
  static constexpr int kTagBits = 9;
  static constexpr std::array<int, 4> kLengths = {5, 15, 44, 130};
  struct Entry {
    std::uint16_t tag = 0;
    std::int8_t counter = 0;  // -4 to 3; taken from 0 on
    std::uint8_t useful = 0;
  };
  struct Table {
    std::vector<Entry> entries;
    std::size_t slot = 0;      // of the branch at hand
    std::uint16_t wanted = 0;  // its tag
  };

  Entry& entry(int table) {
    Table& t = tables_[static_cast<std::size_t>(table)];
    return t.entries[t.slot];
  }

  // The longest history that knows the branch, and the next longest.
  void find(std::uint64_t address) {
    std::uint32_t knowing = 0;  // a bit for each table
    for (int i = 0; i < 4; ++i) {
      Table& t = tables_[static_cast<std::size_t>(i)];
      const std::uint64_t hash = address ^ address >> (index_bits_ - i);
      t.slot = (hash ^ index_.value(i)) & (t.entries.size() - 1);
      t.wanted = static_cast<std::uint16_t>(
          (hash_of(address) ^ tag_.value(i) ^ tag2_.value(i) << 1) & ((1u << kTagBits) - 1));
      knowing |= std::uint32_t{t.entries[t.slot].tag == t.wanted} << i;
    }
    provider_ = std::bit_width(knowing) - 1;
    alternate_ = std::bit_width(knowing & ~std::bit_floor(knowing)) - 1;
  }

  void settle_preference(bool was_alternate_right) {
    prefers_alternate_ = std::clamp(prefers_alternate_ + (was_alternate_right ? 1 : -1), -8, 7);
  }

  void learn(std::uint64_t address, bool is_taken, bool guess, bool other) {
    if (provider_ >= 0) {
      Entry& from = entry(provider_);
      const bool own = from.counter >= 0;
      if (own != other)
        from.useful =
            static_cast<std::uint8_t>(std::clamp(from.useful + (own == is_taken ? 1 : -1), 0, 3));
      from.counter =
          static_cast<std::int8_t>(std::clamp(from.counter + (is_taken ? 1 : -1), -4, 3));
    } else {
      base_.learn(hash_of(address), is_taken);
    }
    if (guess != is_taken) allocate(is_taken);
  }

  // A misprediction asks for a longer history: the first entry there that nobody needs.
  void allocate(bool is_taken) {
    const int first = provider_ + 1;
    for (int i = first; i < static_cast<int>(tables_.size()); ++i) {
      if (entry(i).useful != 0) continue;
      entry(i) = {tables_[static_cast<std::size_t>(i)].wanted,
                  static_cast<std::int8_t>(is_taken ? 0 : -1), 0};
      return;
    }
    for (int i = first; i < static_cast<int>(tables_.size()); ++i) --entry(i).useful;
  }

  void push(bool is_taken) {
    Lanes oldest{};
    for (int i = 0; i < 4; ++i) {
      const auto age = static_cast<std::size_t>(kLengths[static_cast<std::size_t>(i)] - 1);
      oldest[i] = 0 - static_cast<std::uint32_t>(history_[age / 64] >> age % 64 & 1);
    }
    const Lanes newest = Lanes{} + std::uint32_t{is_taken};
    index_.push(newest, oldest);
    tag_.push(newest, oldest);
    tag2_.push(newest, oldest);
    for (std::size_t i = history_.size() - 1; i > 0; --i)
      history_[i] = history_[i] << 1 | history_[i - 1] >> 63;
    history_[0] = history_[0] << 1 | std::uint64_t{is_taken};
  }

  Counters base_;
  int index_bits_;
  std::array<Table, 4> tables_;
  Folded index_, tag_, tag2_;
  std::array<std::uint64_t, 3> history_{};  // the last branch in bit 0
  int provider_ = -1, alternate_ = -1;
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
