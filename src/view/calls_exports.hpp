// Calls of functions for other tools.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sample/calls.hpp"

namespace loft::view {

// "main;solve;dot 4200" per line: what each path of watched functions did itself of the first
// quantity, for flame graph tools.
std::string calls_folded(const sample::CallRun& run);

// profile.proto, gzipped, with calls and all quantities of each path: for pprof.
[[nodiscard]] Result<std::string> calls_pprof(const sample::CallRun& run);

// Single calls as slices on the tracks of their threads, with their counts, for Perfetto. Written
// piece by piece; a sink that gives false ends it.
void calls_perfetto(const sample::CallRun& run, const std::function<bool(std::string_view)>& write);

}  // namespace loft::view
