// The program's seccomp filters. In the kernel they would also meet the engine's own system calls,
// so none is put there: the engine asks them itself before each call of the program. The kernel's
// rules hold: all filters of a thread are asked, the strictest answer counts, children inherit.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// seccomp(2), and prctl(2) with PR_SET_SECCOMP. `pc` is where the program called it.
long install_filter(Context* context, std::uint64_t operation, std::uint64_t flags,
                    std::uint64_t argument, std::uint64_t pc);

enum class Verdict : std::uint8_t { allow, fail, trap, kill_thread, kill_process };

struct Judgement {
  Verdict verdict;
  std::uint16_t
      data;  // of `fail`: the error; of `trap`: for the signal's si_errno; else the signal
};

// Through an exec: a descriptor that holds the thread's filters, or an error; and there, its
// filters out of it, which is closed.
long save_filters(const Context* context);
void restore_filters(Context* context, int descriptor);

// What the thread's filters say about a call. `pc` is behind it.
Judgement judge_call(const Context* context, long number, const std::uint64_t* arguments,
                     std::uint64_t pc);

}  // namespace loft::engine::runtime
