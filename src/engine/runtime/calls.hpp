// Calls of watched functions, each with what was counted while it was open.
//
// A call begins at a function's first instruction and ends when rsp rises above where it was then
// (its slot). A trace that starts where a watched function does opens a frame; a return or an
// indirect jump with rsp above the innermost slot closes frames. Both go through calls_entry.S into
// calls.cpp, which uses general registers alone, so that no other state has to be saved.
//
//   mov gs:[spill1], rcx            a watched function        mov rcx, gs:[region_check]     a return
//   mov rcx, CallEntry                                        lea rcx, [rsp + rcx]
//   jmp gs:[enter]                                            bswap rcx; movzx ecx, cl
//                                                             jrcxz leave
//
// What is counted per call runs along in totals of the thread (call_totals.cpp).
//
// Stacks: where an instruction loads rsp, it makes the next check say that the call was left; then
// it is found out whether this is another stack. Frames of a stack that is not in use are parked,
// and its clock stands.
#pragma once

#include <cstdint>

#include "engine/call_layout.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// At gs:CALLS_STATE, apart from the Context.
struct CallState {
  std::uint64_t enter;
  std::uint64_t leave;
  std::uint64_t saved[8];  // rdx rsi rdi r8 r9 r10 r11 rsp
  std::uint64_t rax;
  std::uint64_t flags;
  std::uint64_t back;        // where in the code cache to go on
  std::uint64_t moved_from;  // rsp before an instruction loaded it
  CallThreadArea* area;      // null: calls are not watched
  std::uint64_t entry_pc;    // of the function that was entered last
};

inline constexpr std::uint64_t kCallStateOffset = CALLS_STATE;
static_assert(sizeof(Context) <= kCallStateOffset);
static_assert(kCallStateOffset + sizeof(CallState) <= kXsaveOffset);
static_assert(offsetof(CallState, enter) == CALLS_ENTER - CALLS_STATE);
static_assert(offsetof(CallState, leave) == CALLS_LEAVE - CALLS_STATE);
static_assert(offsetof(CallState, saved) == CALLS_SAVED - CALLS_STATE);
static_assert(offsetof(CallState, rax) == CALLS_RAX - CALLS_STATE);
static_assert(offsetof(CallState, flags) == CALLS_FLAGS - CALLS_STATE);
static_assert(offsetof(CallState, back) == CALLS_BACK - CALLS_STATE);
static_assert(offsetof(CallState, moved_from) == CALLS_MOVED_FROM - CALLS_STATE);

// region_check where rsp was loaded and nobody has looked since: everything leaves.
inline constexpr std::uint64_t kAlwaysLeaves = 0;

inline CallState& call_state(Context* context) {
  return *reinterpret_cast<CallState*>(reinterpret_cast<std::uint8_t*>(context) + kCallStateOffset);
}

// What the code of a watched function knows of it.
struct CallEntry {
  std::uint64_t pc;
  std::uint64_t back;
  std::uint32_t function;
};

bool has_calls();

// loft's order, as it was when the program started.
extern CallOrder g_call_order;

// Gives the thread an area of its own, without open calls. Its slot is known, and its rsp.
void open_calls(Context* context);

// The function that was entered last is interrupted before its first instruction: when that comes
// again, it is no new call.
void interrupt_entry(Context* context);

// A handler is about to start with this rsp, interrupting the program with that one; a handler
// returns to the program with this rsp.
void start_handler_in_calls(Context* context, std::uint64_t rsp, std::uint64_t interrupted);
void end_handler_in_calls(Context* context, std::uint64_t rsp);

// Whether an instruction may bring another stack into use: it loads rsp with something that its
// block did not make of rsp itself.
bool loads_stack(const Block& block, std::uint32_t index);

// Where to go on when a signal came inside of calls_entry.S, behind the C++; 0 elsewhere.
std::uint64_t restart_of_calls(std::uint64_t rip);
// Where it reads the return address, which may fault, and where it goes on then.
bool is_call_peek(std::uint64_t rip);
std::uint64_t behind_call_peek();

}  // namespace loft::engine::runtime
