#include "sample/caller_memo.hpp"

namespace loft::sample {

std::uint32_t CallerMemo::add(const Key& key, std::span<const std::uint32_t> functions) {
  const auto number = static_cast<std::uint32_t>(callers_.size());
  Callers callers;
  callers.first_address = static_cast<std::uint32_t>(addresses_.size());
  callers.addresses = static_cast<std::uint32_t>(key.size());
  callers.user = key.user;
  callers.kernel = key.kernel;
  callers.mode = key.mode;
  callers.first_function = static_cast<std::uint32_t>(functions_.size());
  callers.functions = static_cast<std::uint32_t>(functions.size());
  for (std::size_t i = key.first; i < key.chain.size(); ++i) addresses_.push_back(key.chain[i]);
  functions_.insert(functions_.end(), functions.begin(), functions.end());
  callers_.push_back(callers);
  hashes_.push_back(key.hash);
  if (callers_.size() * 2 > slots_.size()) {
    grow();
  } else {
    put(key.hash, number);
  }
  return number;
}

void CallerMemo::put(std::uint64_t hash, std::uint32_t number) {
  std::size_t at = slot_of(hash);
  while (slots_[at].callers != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, number, callers_[number].first_address};
}

void CallerMemo::grow() {
  std::vector<Slot>(slots_.size() * 2).swap(slots_);
  for (std::uint32_t number = 0; number < callers_.size(); ++number) put(hashes_[number], number);
}

void CallerMemo::clear() {
  slots_.assign(slots_.size(), {});
  callers_.clear();
  hashes_.clear();
  addresses_.clear();
  functions_.clear();
}

}  // namespace loft::sample
