// Signals of the program under the engine.
//
// The kernel calls our handler; the program's handler runs from the code cache with a frame that
// looks as if the kernel had made it natively. A signal is delivered where the program's state is
// exact:
//
//   at an instruction copied from the program   at once
//   in a system call                             at once: before it, or after it with its result
//   inside a sequence of ours                    single-stepped to its end, then
//   inside the engine                            held, and delivered before the program goes on
//
// Faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP) are never blocked in the kernel, because the
// engine uses them itself; whether the program believes them blocked is kept in the context.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// A sigaction as the kernel takes it.
struct Action {
  std::uint64_t handler;  // 0 default, 1 ignore
  std::uint64_t flags;
  std::uint64_t restorer;
  std::uint64_t mask;
};

// What the program wants done with each signal; shared by the threads that share it natively.
struct Actions {
  Action of[65];
};

inline constexpr std::uint64_t bit_of(int signal) { return 1ull << (signal - 1); }
inline constexpr std::uint64_t kFaults =
    bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) | bit_of(SIGTRAP);

// Reads what was inherited and takes over the faults.
Actions* open_signals();
Actions* copy_actions(const Actions& actions);
// The thread's own stack for our handler.
void open_signal_stack(Context* context);

// A fault of the program at `pc`, where it may not execute: delivered when it goes on.
void hold_fault(Context* context, std::uint64_t pc);
// Likewise a signal that the program cannot block or ignore; false when another one comes first.
bool hold_forced(Context* context, const siginfo_t& info);
// Ends the process by the signal's default action.
[[noreturn]] void die_by(Context* context, int signal);

// The system calls; the results are the kernel's.
long change_action(Context* context, int signal, std::uint64_t action, std::uint64_t old,
                   std::uint64_t size);
long change_mask(Context* context, int how, std::uint64_t set, std::uint64_t old,
                 std::uint64_t size);
long change_stack(Context* context, std::uint64_t stack, std::uint64_t old);
[[noreturn]] void return_from_handler(Context* context);

}  // namespace loft::engine::runtime
