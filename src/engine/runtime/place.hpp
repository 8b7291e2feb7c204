// Where a thread was when a signal came, in terms of the program.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

enum class Where : std::uint8_t {
  program,   // exactly at `pc`
  between,   // in a sequence of ours that soon ends at an exact place
  resuming,  // on the way back into the program; can be started again
  engine,    // inside the engine
};

struct Place {
  Where where;
  std::uint64_t pc;
};

// Finds the place. Where the program is, its registers and flags in `user` are made the program's,
// and what its block had counted too much is taken back. With `fault` the instruction itself
// failed.
Place locate(Context* context, ucontext_t* user, bool fault);

// The thread stopped at a threshold, in the middle of a block that goes on at `resume`. What of it
// is still to run is taken back, and next_pc is set to where it starts. Gives what the whole block
// adds to the threshold. Not for threads that write the stream.
std::uint64_t leave_block(Context* context, std::uint32_t threshold);

// A signal comes before the system call that the context was about to make: it is not counted yet.
void take_back_call(Context* context, ucontext_t* user);

}  // namespace loft::engine::runtime
