#include "core/branch.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/tage.hpp"

namespace loft::core {

Result<void> check(const BranchGeometry& geometry) {
  const auto in_range = [](int bits) { return bits >= 4 && bits <= 24; };
  if (in_range(geometry.table_bits) && in_range(geometry.indirect_bits) &&
      geometry.return_entries >= 1 && geometry.return_entries <= 1024)
    return {};
  return failure(ErrorKind::invalid_input, "model the branch predictor",
                 fmt::format("tables of 2^{} and 2^{} entries, {} returns", geometry.table_bits,
                             geometry.indirect_bits, geometry.return_entries),
                 "tables take 4 to 24 bits, the return stack 1 to 1024 entries");
}

std::uint64_t BranchCounts::all_mispredicted() const {
  return std::accumulate(mispredicted.begin(), mispredicted.end(), std::uint64_t{0});
}

BranchUnit::BranchUnit(const BranchGeometry& geometry)
    : direction_(make_predictor(geometry)),
      tage_(dynamic_cast<Tage*>(direction_.get())),
      by_path_(std::size_t{1} << geometry.indirect_bits),
      by_address_(std::size_t{1} << geometry.indirect_bits),
      returns_(geometry.return_entries) {}

bool BranchUnit::execute(const Branch& branch) {
  if (branch.kind == BranchKind::conditional)
    return execute_conditional(branch.address, branch.is_taken);
  const bool is_wrong = is_mispredicted(branch);
  const auto kind = static_cast<std::size_t>(branch.kind);
  ++counts_.executed[kind];
  counts_.mispredicted[kind] += is_wrong;
  return is_wrong;
}

bool BranchUnit::is_mispredicted(const Branch& branch) {
  switch (branch.kind) {
    case BranchKind::call:
      push_return(branch.next);
      return false;
    case BranchKind::indirect_call:
      push_return(branch.next);
      return !predict_indirect(branch);
    case BranchKind::indirect_jump:
      return !predict_indirect(branch);
    case BranchKind::ret:
      return pop_return() != branch.target;
    case BranchKind::none:
    case BranchKind::conditional:  // execute_conditional() has done it
    case BranchKind::jump:
    case BranchKind::count_:
      break;
  }
  return false;
}

// The entry by path decides once it has been right; until then the last target of the address does.
bool BranchUnit::predict_indirect(const Branch& branch) {
  const std::uint64_t hash = branch.address ^ branch.address >> 12;
  const std::uint64_t key = hash ^ path_ * 0x9e3779b97f4a7c15u >> 40;
  Target& path = by_path_[key % by_path_.size()];
  Target& last = by_address_[hash % by_address_.size()];
  const bool knows_path = path.tag == (branch.address ^ path_);
  const bool knows_last = last.tag == branch.address;
  const std::uint64_t guess = knows_path && (path.is_trusted || !knows_last) ? path.target
                              : knows_last                                   ? last.target
                                                                             : 0;
  const bool was_path_right = knows_path && path.target == branch.target;
  path = {branch.address ^ path_, branch.target, was_path_right};
  last = {branch.address, branch.target, true};
  path_ = (path_ << 7) ^ branch.target ^ branch.target >> 9;
  return guess == branch.target;
}

void BranchUnit::push_return(std::uint64_t address) {
  top_ = (top_ + 1) % returns_.size();
  returns_[top_] = address;
}

std::uint64_t BranchUnit::pop_return() {
  const std::uint64_t address = returns_[top_];
  returns_[top_] = 0;  // one that was pushed over is not found again
  top_ = (top_ + returns_.size() - 1) % returns_.size();
  return address;
}

std::string_view to_string(BranchKind kind) {
  constexpr std::string_view kNames[] = {"none",          "conditional",   "jump",  "call",
                                         "indirect jump", "indirect call", "return"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Predictor predictor) {
  constexpr std::string_view kNames[] = {"bimodal", "gshare", "tage", "perceptron"};
  return kNames[static_cast<std::size_t>(predictor)];
}

}  // namespace loft::core
