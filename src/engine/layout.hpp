// The memory that loft and the programs it runs under the engine share: one sparse memfd per run.
//
// The engine inside the program writes; loft reads, also while it runs and after it died. Nothing
// is ever moved or taken back, so a reader needs no lock: a count of entries is published after
// them.
//
//   block table    what was translated: where it stood, its bytes, its size
//   code bytes     the bytes of each block as they were when it was translated
//   counters       one array per thread (a "slot"), indexed by the block's number
//   mappings       which file stood where, per process image
//   streams        one buffer per thread for the address stream (classify/stream_plan.hpp); its
//                  counter of block 0, which is no block, says how far it is filled
//                  A second memfd, of one page per thread, stops the threads when a window of the
//                  stream opens or closes: loft truncates it, and whoever writes there faults.
//   thresholds     which events are watched; in each thread's counters, the first numbers are no
//                  blocks but how far the thread is from where it has to ask loft
//   paths          marked regions (include/loft/region.h) by what encloses them; each thread has a
//                  slot of counters for each that it was in
//   entries        where a function starts that alone is to be counted (a "region"), or whose calls
//                  are watched; loft's answer to each new mapping, for which the program waits
//   calls          what is known of calls, per thread (call_layout.hpp); in its counters, behind the
//                  distances, are the running totals of the events that are counted per call
//
// A block executed N times by a thread contributes N times what its instructions are. A conditional
// branch falls through as often as the block that follows it in `next_fall` was counted, or counts
// when it is taken: most forward branches are not, and then blocks in a row need one counter.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/classify/event_rule.hpp"

namespace loft::engine {

inline constexpr std::uint64_t kSharedMagic = 0x3730'4E45'5446'4F4CULL;  // "LOFTEN07"

inline constexpr std::uint32_t kMaxBlocks = 32u << 20;  // of all processes of a run together
inline constexpr std::uint32_t kMaxSlots = 65536;       // threads of a run, ended ones included
inline constexpr std::uint32_t kMaxImages = 65536;      // program images: each exec starts one
inline constexpr std::uint32_t kMaxMappings = 262144;
inline constexpr std::uint32_t kMaxEntries = 1u << 20;
inline constexpr std::uint32_t kMaxPaths = 65536;
inline constexpr std::uint32_t kMaxMarkName = 248;
inline constexpr std::uint32_t kMaxPath = 480;
inline constexpr std::uint32_t kMessageBytes = 16384;
inline constexpr std::uint32_t kNoBlock = 0;  // block 0 is never used
// Counters of these numbers are the distances to thresholds: below 0 while a thread may go on. It
// adds what its blocks count, and asks loft when it comes to 0.
inline constexpr std::uint32_t kMaxThresholds = 16;
inline constexpr std::uint32_t kFirstDistance = kNoBlock + 1;
// Behind them are running totals of the events that are counted per call.
inline constexpr std::uint32_t kMaxCallEvents = 4;
inline constexpr std::uint32_t kTotalLanes = 4;
inline constexpr std::uint32_t kFirstTotal = kFirstDistance + kMaxThresholds;
inline constexpr std::uint32_t kFirstBlock = kFirstTotal + kMaxCallEvents * kTotalLanes;
inline constexpr std::int64_t kFarthest = std::int64_t{1} << 54;  // its highest byte is the sign

enum class BlockKind : std::uint32_t {
  body,          // instructions that ran whole, so many times
  fall_through,  // no instructions: how often another block's conditional branch was not taken
  units,  // no instructions: a sum seen at run time, of the block `next_fall`'s instruction number
          // `instructions`: iterations, lanes, bytes. `size` is the Unit (classify/kind.hpp)
  extra_fall,  // no instructions: more times that the branch of the block `next_fall` was not taken
  taken,       // no instructions: how often the branch of the block number `size` was taken, whose
               // `next_fall` this is. The block `next_fall` of this one ran as often as that one,
               // less this.
               // Its own counter holds corrections alone
  begun  // of the address stream alone: its last instruction was interrupted, and starts again
};

struct BlockEntry {
  std::uint64_t address;      // where the program has it
  std::uint64_t code_offset;  // its bytes, from kCodeOffset
  std::uint32_t mapping;      // what stood there when it was translated: index of a MappingEntry
  std::uint32_t next_fall;  // the block counted when this block's last branch was not taken, or 0;
                            // of units, the block they belong to
  std::uint32_t size;       // bytes
  std::uint16_t instructions;
  std::uint16_t kind;  // BlockKind
};
static_assert(sizeof(BlockEntry) == 32);

struct SlotEntry {
  std::uint32_t process;  // pid
  std::uint32_t thread;   // tid; 0 while the slot is being set up
  std::uint32_t image;
  std::uint32_t ended;
  char name[16];
  std::uint64_t started_ns;     // CLOCK_MONOTONIC
  std::uint32_t in_region;      // 1: what the thread did inside the region; it has another slot
  std::uint32_t stream_full;    // bytes that wait for loft, and the thread with them
  std::uint64_t stream_base;    // where the thread has its buffer
  std::uint64_t ended_ns;       // CLOCK_MONOTONIC; 0 while it runs, and when it was ended by others
  std::uint64_t cpu_ns;         // what it ran until then, earlier programs of the thread included
  std::uint32_t parent;         // pid of the process that started this one
  std::uint32_t stream_window;  // the window that `stream_full` is of
  std::uint32_t threshold_call;    // 1 + the threshold that it came to; it waits until this is 0
  std::uint32_t threshold_signal;  // loft's answer: send yourself this signal, 0 for none
  std::uint64_t visits;            // how often the marked region was begun
  std::uint32_t path;              // 1 + the number of its PathEntry; 0 outside of all
  std::uint32_t creator;           // the thread that made this one; 0 of the first. And kHasLeft
};
// With exec the thread has become a program that the engine does not run.
inline constexpr std::uint32_t kHasLeft = std::uint32_t{1} << 31;
static_assert(sizeof(SlotEntry) == 104);

enum class StreamMode : std::uint32_t {
  none,
  thrown_away,  // written and never read: what the writing costs
  handed_over,  // each full buffer waits until loft has read it
  windows,      // the same, but only while a window is open; else the program is counted alone
};

enum class ReaderState : std::uint32_t {
  none,
  there,
  locked,  // it holds a lock on the first byte of the memory, which ends with it
};

struct ImageEntry {
  std::uint32_t process;
  std::uint32_t parent;  // pid of the process that started it
  std::uint64_t unused[3];
  char path[kMaxPath];
};
static_assert(sizeof(ImageEntry) == 512);

struct MappingEntry {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t file_offset;
  std::uint32_t image;
  std::uint32_t process;
  char path[kMaxPath];  // empty for memory that is no file; "[vdso]" for the kernel's
};
static_assert(sizeof(MappingEntry) == 512);

struct FunctionEntry {
  std::uint64_t address;  // of the function's first instruction
  std::uint32_t mapping;
  std::uint32_t function;  // its number where calls are watched
};
static_assert(sizeof(FunctionEntry) == 16);

// Which calls are watched, and which of them are kept one by one.
struct CallOrder {
  std::uint32_t is_given;
  std::uint32_t events;
  EventRule event[kMaxCallEvents];
  std::uint32_t keeps_calls;
  std::uint32_t depth;         // of those, with fewer calls around them; 0 is no limit
  std::uint64_t least_ticks;   // and that took so long
  std::uint64_t most_kept;     // per thread
  std::uint64_t skips_blocks;  // not 0: executions of blocks are not counted beside
};

// A marked region inside another. Two threads may enter the same one twice.
struct PathEntry {
  std::uint32_t parent;  // 1 + the number of the one around it, or 0
  std::uint32_t length;  // of the name; 0 while the entry is being written
  char name[kMaxMarkName];
};
static_assert(sizeof(PathEntry) == 256);

struct SharedHeader {
  std::uint64_t magic;
  std::atomic<std::uint32_t> blocks;  // next free number; entries below it are complete or size 0
  std::atomic<std::uint32_t> slots;
  std::atomic<std::uint32_t> images;
  std::atomic<std::uint32_t> mappings;
  std::atomic<std::uint64_t> code_bytes;
  std::atomic<std::uint32_t> message_bytes;  // of `message`, lines that say what could not be done
  std::atomic<std::uint32_t> refused;        // how many processes stopped with such a line
  std::atomic<std::uint32_t> has_region;     // not 0: only a region is counted
  std::atomic<std::uint32_t> entries;
  std::atomic<std::uint32_t> stream_mode;      // StreamMode
  std::atomic<std::uint32_t> stream_calls;     // changes when a buffer is full
  std::atomic<std::uint32_t> answered;         // mappings whose entries are there
  std::atomic<std::uint32_t> has_reader;       // ReaderState
  std::atomic<std::uint32_t> window;           // counts up; a window is open while it is odd
  std::atomic<std::uint32_t> joined;           // threads that ever began to write in a window
  std::atomic<std::uint32_t> left;             // and that have ended it
  std::atomic<std::uint64_t> window_bytes;     // after how many bytes a thread leaves the window
  std::atomic<std::uint32_t> thresholds;       // that are watched, set before the program starts
  std::atomic<std::uint32_t> threshold_calls;  // changes when a thread came to one
  std::atomic<std::uint32_t> has_keeper;       // somebody answers; it locks the second byte
  std::atomic<std::uint32_t> has_marks;        // not 0: marked regions are counted apart
  std::atomic<std::uint32_t> paths;
  std::atomic<std::uint32_t> wrong_ends;  // of marked regions that were not the innermost
  EventRule threshold[kMaxThresholds];
  CallOrder calls;  // set before the program starts
  char message[kMessageBytes];
};
static_assert(sizeof(SharedHeader) <= 32768);

// Offsets in the memfd. Far apart, because nothing costs memory before it is written.
inline constexpr std::uint64_t kSlotsOffset = 1u << 20;
inline constexpr std::uint64_t kImagesOffset = 16u << 20;
inline constexpr std::uint64_t kMappingsOffset = 64u << 20;
inline constexpr std::uint64_t kPathsOffset = 192u << 20;
inline constexpr std::uint64_t kBlocksOffset = 256u << 20;
inline constexpr std::uint64_t kCodeOffset = 2ull << 30;
inline constexpr std::uint64_t kCodeLimit = 4ull << 30;
inline constexpr std::uint64_t kEntriesOffset = kCodeOffset + kCodeLimit;
inline constexpr std::uint64_t kTablesEnd = kEntriesOffset + (16u << 20);
inline constexpr std::uint64_t kCountersOffset = 8ull << 30;
inline constexpr std::uint64_t kCountersPerSlot = std::uint64_t{kMaxBlocks} * sizeof(std::uint64_t);
inline constexpr std::uint64_t kStreamsOffset = kCountersOffset + kMaxSlots * kCountersPerSlot;
inline constexpr std::uint64_t kStreamBytes = 1u << 20;
inline constexpr std::uint64_t kSharedBytesWithoutCalls = kStreamsOffset + kMaxSlots * kStreamBytes;

// The second memfd: a page per thread for each value of `window`, the last first. What belongs to
// the values up to the present one is cut off.
inline constexpr std::uint32_t kMaxWindow = 1u << 16;
inline constexpr std::uint64_t kPollBytes = 4096;
inline constexpr std::uint64_t kPollBytesPerWindow = kMaxSlots * kPollBytes;
inline constexpr std::uint64_t polls_after(std::uint32_t window) {
  return (kMaxWindow - window) * kPollBytesPerWindow;
}

static_assert(kMaxEntries * sizeof(FunctionEntry) <= kTablesEnd - kEntriesOffset);
static_assert(kSlotsOffset + kMaxSlots * sizeof(SlotEntry) <= kImagesOffset);
static_assert(kImagesOffset + kMaxImages * sizeof(ImageEntry) <= kMappingsOffset);
static_assert(kMappingsOffset + kMaxMappings * sizeof(MappingEntry) <= kPathsOffset);
static_assert(kPathsOffset + kMaxPaths * sizeof(PathEntry) <= kBlocksOffset);
static_assert(kBlocksOffset + std::uint64_t{kMaxBlocks} * sizeof(BlockEntry) <= kCodeOffset);
static_assert(kTablesEnd <= kCountersOffset);

// How the engine's executable is called: these words, then the program's own argv.
//   loft-engine MEMORY:POLLS[,FILTERS] PATH NAME argv[0] argv[1] ...
// MEMORY and POLLS are the descriptors of the two memfds; FILTERS is a descriptor with the seccomp
// filters that the program inherits, if any; PATH is the file to load, NAME what the program was
// started as (AT_EXECFN). Their number is even so that the program's stack stays aligned when they
// are dropped.
inline constexpr int kEngineArguments = 4;

// A PATH that starts so is a descriptor of the engine's, which it closes when the file is loaded.
// The kernel takes it for /proc/self/fd/NUMBER.
inline constexpr char kPassedFile[] = "/proc/self/fd//";

// Variables that the engine's own loader must not obey travel with this in front of their name.
inline constexpr char kHiddenVariable[] = "LOFT_KEEP_";

}  // namespace loft::engine
