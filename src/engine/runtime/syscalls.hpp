// System calls that the engine must see: those that change code, signals, threads or processes. All
// others run in place (entry.S) and never come here.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Decides which numbers run in place.
void open_syscalls();

// From now on that one comes here; all of them: there are filters to ask first.
void see_syscall(long number);
void see_all_syscalls();

// Performs the system call in the context's registers; returns where the program goes on, or 0 when
// it is to run in place all the same.
std::uint64_t run_syscall(Context* context);

// A call that ran in place gave EFAULT. The kernel does not tell which address; where it may be
// code that the engine has protected, the call runs again.
void after_fault(Context* context);

}  // namespace loft::engine::runtime
