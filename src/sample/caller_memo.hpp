// The chains of callers that a worker has seen. Most samples were called the way one before them
// was, so that their callers need not be looked up frame by frame again. Chains are compared as
// they were recorded, address by address. Bounded: when it is full, it starts anew.
//
//   CallerMemo::Key key = CallerMemo::key_of(chain, first, mode, user, kernel);
//   auto callers = memo.find(key);
//   if (callers == CallerMemo::kNone) callers = memo.add(key, functions);
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sample/sample.hpp"
#include "sample/task_history.hpp"
#include "sample/trie.hpp"

namespace loft::sample {

class CallerMemo {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // What decides which functions the callers are.
  struct Key {
    perf_data::U64View chain;
    std::size_t first = 0;  // of the callers in the chain
    CpuMode mode = CpuMode::unknown;
    TaskHistory::Root user = 0;
    TaskHistory::Root kernel = 0;
    std::uint64_t hash = 0;

    [[nodiscard]] std::size_t size() const { return chain.size() - first; }
  };
  [[nodiscard]] static Key key_of(perf_data::U64View chain, std::size_t first, CpuMode mode,
                                  TaskHistory::Root user, TaskHistory::Root kernel) {
    std::uint64_t hash = mixed(std::uint64_t{user} << 32 | kernel, static_cast<unsigned>(mode),
                               chain.size() - first);
    // Two at a time: a step waits for the one before it.
    std::size_t i = first;
    for (; chain.size() - i >= 2; i += 2) hash = mixed(hash, chain[i], chain[i + 1]);
    if (i < chain.size()) hash = mixed(hash, chain[i], 0);
    return {chain, first, mode, user, kernel, hash};
  }

  struct Callers {
    std::uint32_t first_address = 0;
    std::uint32_t addresses = 0;
    TaskHistory::Root user = 0;
    TaskHistory::Root kernel = 0;
    CpuMode mode = CpuMode::unknown;
    std::uint32_t first_function = 0;
    std::uint32_t functions = 0;
    // Where their path ends in the tree of an event, once somebody has found out.
    std::uint32_t event = kNone;
    std::uint32_t process = 0;  // likewise, where processes have trees of their own
    Trie::NodeId node = 0;
    // The function that they called last, and its node of the same tree.
    std::uint32_t callee = kNone;
    Trie::NodeId callee_node = 0;
  };

  CallerMemo() : slots_(kFirstSlots) {}

  // Two steps ahead of find(): each asks for the memory that the next one needs.
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[slot_of(key.hash)]); }
  void prefetch_callers(const Key& key) const {
    const Slot& slot = slots_[slot_of(key.hash)];
    if (slot.hash != key.hash || slot.callers == kNone) return;
    __builtin_prefetch(&callers_[slot.callers]);
    __builtin_prefetch(&addresses_[slot.first_address]);
    __builtin_prefetch(&addresses_[slot.first_address] + 8);
  }

  // The number of the callers, or kNone.
  [[nodiscard]] std::uint32_t find(const Key& key) const {
    for (std::size_t at = slot_of(key.hash); slots_[at].callers != kNone;
         at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == key.hash && is_same(callers_[slots_[at].callers], key))
        return slots_[at].callers;
    return kNone;
  }
  std::uint32_t add(const Key& key, std::span<const std::uint32_t> functions);

  [[nodiscard]] Callers& operator[](std::uint32_t number) { return callers_[number]; }
  // Innermost first.
  [[nodiscard]] std::span<const std::uint32_t> functions_of(std::uint32_t number) const {
    const Callers& callers = callers_[number];
    return std::span(functions_).subspan(callers.first_function, callers.functions);
  }

  [[nodiscard]] bool is_full() const {
    return addresses_.size() >= kMostAddresses || callers_.size() >= kMostCallers;
  }
  void clear();

 private:
  static constexpr std::size_t kFirstSlots = 4096;
  static constexpr std::size_t kMostAddresses = 1u << 20;
  static constexpr std::size_t kMostCallers = 1u << 17;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t callers = kNone;
    std::uint32_t first_address = 0;
  };

  [[nodiscard]] static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word,
                                           std::uint64_t other) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{hash ^ word ^ 0x9E3779B97F4A7C15u} *
                         (std::rotl(hash, 32) ^ other ^ 0xD6E8FEB86659FD93u);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
  [[nodiscard]] bool is_same(const Callers& callers, const Key& key) const {
    if (callers.addresses != key.size() || callers.user != key.user ||
        callers.kernel != key.kernel || callers.mode != key.mode)
      return false;
    return key.chain.is_same(key.first,
                             {addresses_.data() + callers.first_address, callers.addresses});
  }
  void put(std::uint64_t hash, std::uint32_t number);
  void grow();

  std::vector<Slot> slots_;  // open addressing
  std::vector<Callers> callers_;
  std::vector<std::uint64_t> hashes_;     // by number
  std::vector<std::uint64_t> addresses_;  // of all
  std::vector<std::uint32_t> functions_;  // of all
};

}  // namespace loft::sample
