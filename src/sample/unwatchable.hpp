// Functions that were asked for and that nobody can watch: the compiler put them into all their
// callers, or a JIT made their code.
//
//   add_unwatchable(run, request, {"/usr/bin/app"});   // those of patterns that found nothing else
#pragma once

#include <string>
#include <vector>

#include "sample/call_request.hpp"
#include "sample/calls.hpp"

namespace loft::sample {

// Looked for in `binaries`, by their debug information, and in the maps that JITs of the run's
// processes have left. They become functions of the run, with the reason, and what helps.
void add_unwatchable(CallRun& run, const CallRequest& request,
                     const std::vector<std::string>& binaries);

}  // namespace loft::sample
