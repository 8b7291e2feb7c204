// Branch prediction of one thread: the direction of conditional branches by a named predictor, the
// targets of indirect ones by their history, of returns by a stack.
//
//   BranchUnit branches({.predictor = Predictor::tage});
//   if (branches.execute({BranchKind::conditional, address, target, taken, next})) ++mispredicted;
//
// Direct jumps and calls are never mispredicted here: their targets are in the code, and a missing
// entry of the target buffer costs a few cycles of the front end, no misprediction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft::core {

enum class BranchKind : std::uint8_t {
  none,
  conditional,
  jump,
  call,
  indirect_jump,
  indirect_call,
  ret,
  count_
};
inline constexpr std::size_t kBranchKinds = static_cast<std::size_t>(BranchKind::count_);

enum class Predictor : std::uint8_t { bimodal, gshare, tage, perceptron };

struct BranchGeometry {
  Predictor predictor = Predictor::tage;
  std::uint8_t table_bits = 13;     // entries of its base table, as a power of two
  std::uint8_t indirect_bits = 10;  // of the table of indirect targets
  std::uint16_t return_entries = 32;
  bool operator==(const BranchGeometry&) const = default;
};

[[nodiscard]] Result<void> check(const BranchGeometry& geometry);

struct Branch {
  BranchKind kind = BranchKind::none;
  std::uint64_t address = 0;
  std::uint64_t target = 0;  // where it went
  bool is_taken = true;
  std::uint64_t next = 0;  // the address after it: where a call returns to
};

struct BranchCounts {
  std::array<std::uint64_t, kBranchKinds> executed{};
  std::array<std::uint64_t, kBranchKinds> mispredicted{};

  [[nodiscard]] std::uint64_t all_mispredicted() const;
};

// The direction of conditional branches.
class DirectionPredictor {
 public:
  DirectionPredictor() = default;
  virtual ~DirectionPredictor() = default;
  DirectionPredictor(const DirectionPredictor&) = delete;
  DirectionPredictor& operator=(const DirectionPredictor&) = delete;

  // What was predicted for the branch at `address`; learns that it was `is_taken`.
  virtual bool predict_and_learn(std::uint64_t address, bool is_taken) = 0;
};
[[nodiscard]] std::unique_ptr<DirectionPredictor> make_predictor(const BranchGeometry& geometry);

class Tage;

class BranchUnit {
 public:
  explicit BranchUnit(const BranchGeometry& geometry);  // check() has passed

  // Whether it was mispredicted.
  bool execute(const Branch& branch);
  // A conditional branch, the commonest kind: whether it was mispredicted.
  bool execute_conditional(std::uint64_t address, bool is_taken) {
    const bool is_wrong = direction_->predict_and_learn(address, is_taken) != is_taken;
    count_conditional(1, is_wrong);
    return is_wrong;
  }
  // The predictor of directions, if it is TAGE, for many branches at once (core/tage.hpp): whoever
  // gives it some counts them.
  [[nodiscard]] Tage* tage() { return tage_; }
  void count_conditional(std::uint64_t executed, std::uint64_t mispredicted) {
    constexpr auto kKind = static_cast<std::size_t>(BranchKind::conditional);
    counts_.executed[kKind] += executed;
    counts_.mispredicted[kKind] += mispredicted;
  }
  [[nodiscard]] const BranchCounts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  struct Target {
    std::uint64_t tag = 0, target = 0;
    bool is_trusted = false;
  };

  bool is_mispredicted(const Branch& branch);
  bool predict_indirect(const Branch& branch);
  void push_return(std::uint64_t address);
  std::uint64_t pop_return();

  std::unique_ptr<DirectionPredictor> direction_;
  Tage* tage_;                      // the same one, or none
  std::vector<Target> by_path_;     // by address and the last targets
  std::vector<Target> by_address_;  // by address alone
  std::uint64_t path_ = 0;          // hash of the last indirect targets
  std::vector<std::uint64_t> returns_;
  std::size_t top_ = 0;
  BranchCounts counts_;
};

[[nodiscard]] std::string_view to_string(BranchKind kind);
[[nodiscard]] std::string_view to_string(Predictor predictor);

}  // namespace loft::core
