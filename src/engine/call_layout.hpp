// What the engine writes of calls (docs/engine.md): one area per thread, behind everything else in
// the memory that loft shares with the programs of a run (layout.hpp). It is read at any time, also
// after the program was killed. All of it is zero at first, and means nothing then.
//
//   thread     the stacks on which it has open calls, and how much of the rest is in use
//   frames     open calls, linked from the innermost outwards, one list per stack
//   nodes      calls by what they were called from, found through a hash table behind them
//   records    single calls that have ended, in that order
//   statistics of each function, by its number
//
// Quantities of a call are the events that were asked for and, behind them, ticks of the time-stamp
// counter. The running totals of events are counters of the thread (layout.hpp): several lanes for
// each event, since one alone would be a chain of stores that wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/log_linear.hpp"
#include "engine/layout.hpp"

namespace loft::engine {

inline constexpr std::uint32_t kTicks = kMaxCallEvents;  // the quantity behind the events
inline constexpr std::uint32_t kCallQuantities = kMaxCallEvents + 1;
inline constexpr std::uint32_t kMaxCallFunctions = 1u << 18;
inline constexpr std::uint32_t kMaxCallFrames = 1u << 20;
inline constexpr std::uint32_t kMaxCallNodes = 1u << 18;
inline constexpr std::uint32_t kCallNodeSlots = 2 * kMaxCallNodes;
inline constexpr std::uint32_t kMaxCallRecords = 4u << 20;
inline constexpr std::uint32_t kMaxCallStacks = 1024;
inline constexpr std::uint32_t kSlowestCalls = 4;

enum CallFrameFlag : std::uint32_t {
  kFrameAtEntry = 1,  // interrupted before the function's first instruction, which comes again
  kFrameRecursive = 2,
  kFrameEndedEarly = 4,
};

struct CallFrame {
  std::uint64_t slot;  // rsp at the function's first instruction: where the return address is
  std::uint64_t return_address;
  std::uint64_t begin;  // time-stamp counter
  std::uint32_t function;
  std::uint32_t node;   // 0: there was no room for one
  std::uint32_t below;  // the frame around it on the same stack, 0 for none
  std::uint32_t flags;
  std::uint32_t depth;
  std::uint32_t unused;
  std::uint64_t start[kCallQuantities];  // by the stack's clock
  std::uint64_t child[kCallQuantities];
};
static_assert(sizeof(CallFrame) == 128);

// A stack of the program on which calls were watched. While another one is in use, its clock
// stands: what happens elsewhere is no part of its calls.
struct CallStack {
  std::uint32_t top;  // the innermost frame, 0 for none
  std::uint32_t depth;
  std::uint64_t is_handlers;  // a signal handler was started on it
  std::uint64_t base;         // the highest rsp that was seen on it when it was first used
  std::uint64_t rsp;          // when it was left
  std::uint64_t left_at[kCallQuantities];
  std::uint64_t away[kCallQuantities];  // what passed while it was not in use
};

struct CallThreadArea {
  CallStack now;
  std::uint32_t stacks;  // that are parked
  std::uint32_t free_frame;
  std::uint32_t frames;  // that were ever in use
  std::uint32_t nodes;
  std::uint64_t kept;        // records, in order
  std::uint64_t lost;        // calls that were to be kept and found no room
  std::uint64_t lost_nodes;  // calls that are in no node
  CallStack parked[kMaxCallStacks];
};

struct CallNodeEntry {
  std::uint32_t parent;  // 0: it was called from nothing that is watched
  std::uint32_t function;
  std::uint64_t calls;
  std::uint64_t value[kCallQuantities];
  std::uint64_t self[kCallQuantities];
};

struct CallRecord {
  std::uint64_t begin;
  std::uint32_t function;
  std::uint32_t caller;  // number of the function + 1, 0 for none
  std::uint32_t depth;
  std::uint32_t flags;  // CallFrameFlag
  std::uint64_t value[kCallQuantities];
  std::uint64_t self[kCallQuantities];
};

struct CallSums {
  std::uint64_t total;  // of calls that are in no other of the same function
  std::uint64_t self;
  std::uint64_t sum;
  std::uint64_t inverse_min;  // ~min, so that 0 is no call
  std::uint64_t max;
};

struct CallFunctionEntry {
  std::uint64_t calls;
  std::uint64_t ended_early;
  std::uint64_t unmeasured;  // calls for which there was no frame
  std::uint32_t active;      // open ones
  std::uint32_t slowest_count;
  std::uint64_t slow_above;  // what a call must exceed to be among them, when there are enough
  CallSums sums[kCallQuantities];
  CallRecord slowest[kSlowestCalls];         // by the first quantity, in no order
  std::uint64_t histogram[kLogLinearSteps];  // of the first quantity
};
// Entries side by side must not share the sets of a cache: their size is no multiple of a page.
static_assert(sizeof(CallFunctionEntry) % 4096 > 256 && sizeof(CallFunctionEntry) % 8 == 0);

inline constexpr std::uint64_t kCallFramesOffset = 1u << 20;
inline constexpr std::uint64_t kCallNodesOffset = kCallFramesOffset + (256u << 20);
inline constexpr std::uint64_t kCallNodeSlotsOffset = kCallNodesOffset + (32u << 20);
inline constexpr std::uint64_t kCallRecordsOffset = kCallNodeSlotsOffset + (4u << 20);
inline constexpr std::uint64_t kCallFunctionsOffset = kCallRecordsOffset + (512u << 20);
inline constexpr std::uint64_t kCallBytes = 4ull << 30;

static_assert(sizeof(CallThreadArea) <= kCallFramesOffset);
static_assert(kMaxCallFrames * sizeof(CallFrame) <= kCallNodesOffset - kCallFramesOffset);
static_assert(kMaxCallNodes * sizeof(CallNodeEntry) <= kCallNodeSlotsOffset - kCallNodesOffset);
static_assert(kCallNodeSlots * sizeof(std::uint32_t) <= kCallRecordsOffset - kCallNodeSlotsOffset);
static_assert(kMaxCallRecords * sizeof(CallRecord) <= kCallFunctionsOffset - kCallRecordsOffset);
static_assert(kMaxCallFunctions * sizeof(CallFunctionEntry) <= kCallBytes - kCallFunctionsOffset);

inline constexpr std::uint64_t kCallsOffset = kSharedBytesWithoutCalls;
inline constexpr std::uint64_t kSharedBytes = kCallsOffset + kMaxSlots * kCallBytes;

// The number of the counter of a running total's lane.
constexpr std::uint32_t total_counter(std::uint32_t event, std::uint32_t lane) {
  return kFirstTotal + event * kTotalLanes + lane;
}

}  // namespace loft::engine
