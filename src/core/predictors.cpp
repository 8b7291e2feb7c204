// Direction predictors: bimodal and gshare (McFarling 1993), perceptron (Jiménez and Lin 2001).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/branch.hpp"
#include "core/tage.hpp"

namespace loft::core {
namespace {

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
    const std::uint64_t index = branch_hash(address);
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
    const std::uint64_t index = branch_hash(address) ^ history_;
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
    Row& row = rows_[branch_hash(address) & (rows_.size() - 1)];
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
  return make_tage(bits);
}

}  // namespace loft::core
