// Counts that the program reads of itself: sums over the thread's block counters, each times what
// the block counts of an event. Nothing is added to the code for it.
//
// A thread that reads has a Reader. It keeps the sums, and beside each counter what that was at the
// last read; a read compares all counters and adds what is new. For a thread that reads often, all
// code is made anew: then its blocks have new numbers, and counters of the old ones stay as they
// are. What is compared is what the program has come to since.
//
//   counters   │ start-up, what was done before │ the loop that reads │
//   seen       │ the same for ever              │ compared            │
//              kFirstBlock                      Reader::floor         learnt
#pragma once

#include <cstdint>

#include "engine/door.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/mark.hpp"

namespace loft::engine::runtime {

// What each block counts of one event.
struct BlockWeights {
  EventRule rule;
  std::int32_t* of_block;  // by number
  std::uint32_t end;       // numbers from here on weigh nothing yet
  std::uint32_t users;     // sets that have it
  std::uint32_t epoch;     // another one when sums that were made with it hold no longer
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
  std::uint32_t learnt;            // blocks below this number are weighed
  std::uint32_t pending;           // of them, how many others were still writing down then
  std::uint32_t generation;        // of the code
  std::uint32_t floor;             // the first block of this generation
  std::uint32_t reads_until_next;  // of a thread in this generation, until there is another one
  bool has_others;                 // blocks of other programs are weighed, too
};
EventSets& event_sets();

// A number that an event of the thread is to come to (alarms.hpp).
struct Alarm {
  std::uint64_t target;
  std::uint64_t value;  // for the program, with the signal
  std::uint32_t signal;
  bool is_armed;
};

// What a thread that reads knows of its own counts.
struct Reader {
  std::uint64_t slot;        // 1 + that of its first context; another: nothing of it holds
  std::uint32_t generation;  // of the code that the thread runs
  std::uint32_t floor;       // it comes to no block below
  std::uint32_t end;         // blocks below were compared
  std::uint32_t reads;       // in this generation
  std::uint64_t sums[door::kMaxRules];
  std::uint32_t epochs[door::kMaxRules];  // of the rules when they were summed
  Alarm alarms[kMaxThresholds];
  std::uint32_t steps;  // since the thread has come near to one
};

// The first of a thread's contexts.
Context* first_of_thread(Context* context);

// Calls visit(context) for all contexts that count for the thread: it may have several, for marked
// regions, or inside and outside of a function.
template <class Visit>
void for_each_counting(Context* context, Visit&& visit) {
  for_each_of_thread(context, [&](Context& own) {
    if (!own.mark.is_closed) visit(own);
  });
  if (context->region_other != nullptr) visit(*context->region_other);
}

// The answers, by the long way.
std::uint64_t open_events(std::uint64_t rules, std::uint64_t count);
std::uint64_t read_events(Context* context, std::uint64_t set, std::uint64_t to);
void close_events(std::uint64_t set);
std::uint64_t read_others(std::uint64_t request);

// For all below cache_lock() is held.
// Blocks that were met by now are weighed; those of other programs of the run once somebody has
// asked for their counts.
void learn_blocks();
void learn_others();
bool is_valid(const EventRule& rule);
bool is_same(const EventRule& a, const EventRule& b);
// A rule that is summed until it is released: its number, or kMaxRules when there is no room.
std::uint32_t take_rule(const EventRule& rule);
void release_rule(std::uint32_t rule);
// The thread's reader, with exact sums. The thread is in the dispatcher.
Reader& update_reader(Context* context);
// All code is made anew; threads come to it one by one.
void renew_code();
// The thread goes on in code of the present generation.
void follow_generation(Reader& reader);

// All below uses general registers alone (read_fast.cpp).

// Brings the thread's sums up to date. All blocks must be known, and all contexts have `seen`.
void sum_counters(Context* context, Reader& reader);
// Whether that can be done, and nothing else is to be done by the long way.
bool can_sum(Context* context);
// Writes the set's counts to the program's memory; false when it cannot be written.
bool tell_events(Context* context, const EventSet& set, std::uint64_t to);

}  // namespace loft::engine::runtime
