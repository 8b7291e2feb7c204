// Every call of functions, natively: their first instructions and returns are patched in the memory
// of the program, which runs at full speed. x86-64 alone; elsewhere it says so.
//
//   NativeCalls calls;
//   calls.request.patterns = {"solve*"};
//   calls.command = {"./app"};
//   LOFT_TRY(const sample::CallRun run, watch_calls(calls));
//
// The program is followed to its end; one that ran already, until a signal ends loft or `most` has
// passed. Then it is left as it was.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "source/calls/call_watch.hpp"

namespace loft::source::calls {

struct NativeCalls {
  sample::CallRequest request;
  std::vector<std::string> command;  // what to run, or
  std::vector<pid_t> processes;      // what runs already
  StandardStreams streams;           // of what is run
  std::optional<Nanoseconds> most;   // to watch what runs already
  CallMeters meters;                 // beside the time
  int life = -1;                     // ends the watching when its other side is gone
};

[[nodiscard]] Result<sample::CallRun> watch_calls(const NativeCalls& calls);

}  // namespace loft::source::calls
