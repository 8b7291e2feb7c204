// What the engine knows of one thread of the program. It stands at gs:0 of that thread, so emitted
// code reaches it without a register; the thread's counters follow at gs:kCountersFromContext.
//
//   gs ─► ┌─────────┬──────────────┬──────────────┬───────────────┐┌──────────────────────┐
//         │ Context │ xsave, poll  │ engine stack │ signal stack  ││ counters (shared)    │
//         └─────────┴──────────────┴──────────────┴───────────────┘└──────────────────────┘
//         private to the process, 1 MiB                             a slot of the memfd
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "engine/runtime/offsets.h"

namespace loft::engine::runtime {

inline constexpr std::uint64_t kContextBytes = 1u << 20;
inline constexpr std::uint64_t kCountersFromContext = kContextBytes;
inline constexpr std::uint64_t kXsaveOffset = 4096;
inline constexpr std::uint64_t kXsaveBytes = 64u << 10;  // AMX tiles need 11 KiB; main() checks
// A page that is written at every loop, call and return while windows of the stream are possible.
inline constexpr std::uint64_t kPollOffset = kXsaveOffset + kXsaveBytes;
inline constexpr std::uint64_t kEngineStackBase = kPollOffset + 4096;
inline constexpr std::uint64_t kEngineStackTop = 512u << 10;
inline constexpr std::uint64_t kSignalStackBase = 512u << 10;

// Numbers of general registers as the hardware encodes them.
enum Register : std::uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11
};

// Which code a thread runs: each has traces, links and a branch table of its own.
enum class Version : std::uint8_t {
  counting,
  streaming,  // also writes the address stream
  stepping    // one instruction a trace, then the dispatcher (alarms.hpp)
};

enum ContextState : std::uint32_t { kFree, kRunning, kEnding };

// Where the thread is among marked regions (mark.hpp). Each region that it has been in, by call
// path, has a context of its own; they are linked to a tree, and to a list of all that the thread
// has.
struct Mark {
  struct Context* home;         // outside of all regions; null: this one is
  struct Context* parent;       // the region around it
  struct Context* first_child;  // those inside, through `sibling`
  struct Context* sibling;
  struct Context* last;  // the child that was entered last
  struct Context* next;  // of the thread
  const char* name;
  std::uint64_t* visits;
  std::uint32_t length;  // of the name
  std::uint32_t path;    // 1 + its number in the shared table
  std::uint32_t depth;   // times it was begun again inside itself
  std::uint32_t hidden;  // regions begun inside that are not told apart
  bool is_closed;        // its counters are those of the process that was forked
};

struct Context {
  Context* self;
  std::uint64_t next_pc;    // where the program goes on, as the program sees it
  std::uint64_t exit_link;  // number of the Link through which a block was left
  std::uint64_t resume;     // where in the code cache to go on
  std::uint64_t spill0;     // rax, while an indirect branch looks up its target
  std::uint64_t spill1;     // rcx, likewise
  std::uint64_t spill2;     // a register lent to a counter or a far operand; rsp in a system call
  std::uint64_t pending;    // not 0: a signal is held; deliver it before running on
  std::uint64_t dispatch;
  std::uint64_t engine_stack;
  std::uint64_t engine_fs;
  std::uint64_t program_fs;
  std::uint64_t flags;
  std::uint64_t xsave_area;
  std::uint64_t syscall;
  std::uint64_t syscall_return;
  std::uint64_t regs[16];
  std::uint64_t reason;
  std::uint64_t program_gs;
  std::uint64_t xsave_compact;

  // The region, see region.hpp.
  std::uint64_t region_check;    // plus rsp: the highest byte is 0 when the region is left
  std::uint64_t region_outside;  // 1 outside
  std::uint64_t region_enter;
  std::uint64_t region_leave;

  // The address stream, see stream.hpp.
  std::uint64_t stream_register;  // the program's value of the register that holds the buffer
  std::uint8_t tiles[64];         // their configuration, while a tile instruction is counted
  std::uint64_t call;  // that runs in place: its number, and above it how often it ran again
  std::uint64_t changed;
  std::uint64_t threshold;
  std::uint64_t iterations;  // that a repeated instruction may still make, before it runs
  std::uint64_t door;
  std::uint64_t door_return;  // where in the code cache to go on
  std::uint64_t leave;        // engine_leave_for_signal
  std::uint64_t stream_base;
  std::uint64_t window_bytes;  // that it may still write
  std::uint32_t window;        // the last one that it joined
  Version version;

  std::uint64_t region_suspended;  // outside, in a signal handler: the limit to go back to, or 0
  Context* region_other;           // the same thread's context on the other side, or null

  // Signals.
  struct Actions* actions;
  siginfo_t held;              // the one that `pending` announces
  std::uint64_t held_mask;     // the program's mask when it arrived
  std::uint64_t blocked_sync;  // faults that the program believes to have blocked
  std::uint64_t forced;        // the held signal is a fault of the program itself
  std::uint64_t stepping;      // single-stepping out of a sequence of ours
  std::uint64_t calling;  // on the way to a system call in place: it is counted, but did not run
  std::uint64_t at_threshold;  // stopped in the middle of a block, which goes on at `resume`
  stack_t program_stack;       // the program's alternate stack, as it set it

  const struct Filter* filters;  // of its system calls, see seccomp.hpp; null when there are none

  // Bookkeeping.
  std::uint32_t slot;
  std::uint32_t thread;
  std::uint32_t state;    // ContextState
  std::uint32_t creator;  // the thread that made this one
  void* exec_memory;      // arguments of an exec that has not failed yet
  std::uint64_t exec_bytes;
  Context* next;  // all contexts of this process
  // Kept as long as the memory is: for a program that reads its counts, see event_sets.hpp.
  struct Reader* reader;    // of a thread's first context
  std::uint64_t* seen;      // the counters as they were last looked at
  std::uint64_t seen_slot;  // 1 + the slot that they are of; 0: none

  Mark mark;  // the last: it stays when the thread changes to another context

  std::uint64_t* counters() {
    return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uint8_t*>(this) +
                                            kCountersFromContext);
  }
};

static_assert(sizeof(Context) <= kXsaveOffset);
static_assert(offsetof(Context, next_pc) == CTX_NEXT_PC);
static_assert(offsetof(Context, exit_link) == CTX_EXIT_LINK);
static_assert(offsetof(Context, resume) == CTX_RESUME);
static_assert(offsetof(Context, spill0) == CTX_SPILL0);
static_assert(offsetof(Context, spill1) == CTX_SPILL1);
static_assert(offsetof(Context, spill2) == CTX_SPILL2);
static_assert(offsetof(Context, pending) == CTX_PENDING);
static_assert(offsetof(Context, dispatch) == CTX_DISPATCH);
static_assert(offsetof(Context, engine_stack) == CTX_ENGINE_STACK);
static_assert(offsetof(Context, engine_fs) == CTX_ENGINE_FS);
static_assert(offsetof(Context, program_fs) == CTX_PROGRAM_FS);
static_assert(offsetof(Context, flags) == CTX_FLAGS);
static_assert(offsetof(Context, xsave_area) == CTX_XSAVE);
static_assert(offsetof(Context, syscall) == CTX_SYSCALL);
static_assert(offsetof(Context, syscall_return) == CTX_SYSCALL_RETURN);
static_assert(offsetof(Context, regs) == CTX_REGS);
static_assert(offsetof(Context, reason) == CTX_REASON);
static_assert(offsetof(Context, program_gs) == CTX_PROGRAM_GS);
static_assert(offsetof(Context, xsave_compact) == CTX_XSAVE_COMPACT);
static_assert(offsetof(Context, region_check) == CTX_REGION_CHECK);
static_assert(offsetof(Context, region_outside) == CTX_REGION_OUTSIDE);
static_assert(offsetof(Context, region_enter) == CTX_REGION_ENTER);
static_assert(offsetof(Context, region_leave) == CTX_REGION_LEAVE);
static_assert(offsetof(Context, stream_register) == CTX_STREAM_REGISTER);
static_assert(offsetof(Context, tiles) == CTX_TILES);
static_assert(offsetof(Context, call) == CTX_CALL);
static_assert(offsetof(Context, changed) == CTX_CHANGED);
static_assert(offsetof(Context, threshold) == CTX_THRESHOLD);
static_assert(offsetof(Context, iterations) == CTX_ITERATIONS);
static_assert(offsetof(Context, door) == CTX_DOOR);
static_assert(offsetof(Context, door_return) == CTX_DOOR_RETURN);
static_assert(offsetof(Context, leave) == CTX_LEAVE);

}  // namespace loft::engine::runtime
