// Calls of functions in two runs of a program, as a roofline has them: the first, native, tells
// times; the second, under the virtual PMU, counts events exactly.
//
//   LOFT_TRY(const sample::CallRun run, count_calls_twice(request, {"./app", "input"}));
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "source/calls/call_watch.hpp"

namespace loft::roof {

// The program meets the same input twice, and is heard once, or not at all where others have heard
// it already. Where it is ended by a signal that asks it to, there is no second run, and a note
// says so. `beside` measures the first run, too.
enum class Heard { once, never };
[[nodiscard]] Result<sample::CallRun> count_calls_twice(const sample::CallRequest& request,
                                                        const std::vector<std::string>& command,
                                                        Heard heard = Heard::once,
                                                        source::calls::CallMeters beside = {});

}  // namespace loft::roof
