// Calls of functions under the engine: exact counts of each call, of any binary, unchanged.
//
//   LOFT_TRY(const sample::CallRun run, count_calls(request, {"./app", "input"}));
//
// The program's own clock runs slower under the engine, so the first event leads, not the time.
#pragma once

#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"

namespace loft::source::virtual_pmu {

// Runs the program to its end. Without events, instructions are counted.
[[nodiscard]] Result<sample::CallRun> count_calls(const sample::CallRequest& request,
                                                  const std::vector<std::string>& command,
                                                  StandardStreams streams = {});

}  // namespace loft::source::virtual_pmu
