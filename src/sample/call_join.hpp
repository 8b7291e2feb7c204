// Two runs of a program as one: times from the first, counts of events from the second.
//
//   const CallRun joined = join_counts(watched_natively, counted_by_the_engine);
//
// Functions are joined by binary, name and address; a function that only the second run could watch
// has its calls from there, and no time. Single calls are joined where a thread made the same calls
// in the same order in both; else their counts are not known.
#pragma once

#include "sample/calls.hpp"

namespace loft::sample {

[[nodiscard]] CallRun join_counts(CallRun timed, const CallRun& counted);

}  // namespace loft::sample
