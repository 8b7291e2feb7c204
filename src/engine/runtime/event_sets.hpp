// Counts that the program reads of itself: sums over the thread's block counters, each times what
// the block counts of an event. Nothing is added to the code for it; a read costs a product for
// each block of the program and event.
#pragma once

#include <cstdint>

#include "engine/door.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// What each block counts of one event.
struct BlockWeights {
  EventRule rule;
  std::int32_t* of_block;  // by number
  std::uint32_t end;       // numbers from here on weigh nothing yet
  std::uint32_t users;     // sets that have it
};

struct EventSet {
  std::uint32_t count;  // 0: free
  std::uint16_t rules[door::kMaxRulesOfSet];
};

// All rules and sets of the process. Written under cache_lock(); read without it, for what is read
// is never changed but added to.
struct EventSets {
  BlockWeights rules[door::kMaxRules];
  std::uint32_t rule_count;
  EventSet sets[door::kMaxSets];
  std::uint32_t learnt;   // blocks below this number are weighed
  std::uint32_t pending;  // of them, how many others were still writing down then
};
EventSets& event_sets();

// The answers, by the long way.
std::uint64_t open_events(std::uint64_t rules, std::uint64_t count);
std::uint64_t read_events(Context* context, std::uint64_t set, std::uint64_t to);
void close_events(std::uint64_t set);

// Writes the set's counts to the program's memory; false when it cannot be written. All blocks must
// be known. Uses general registers alone.
bool tell_events(Context* context, const EventSet& set, std::uint64_t to);

}  // namespace loft::engine::runtime
