// Counts with so many runs of the program that no event has to share a counter.
//
//   LOFT_TRY(auto first, count(request));                 // everything at once
//   LOFT_TRY(auto whole, count_in_several_runs(request, std::move(first), count));
//
// What had to take turns in the first run is halved until each half has counters enough: nobody can
// be asked how many there are. Every run counts instructions, by which the runs are then aligned.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::source {

using CountOnce = std::function<Result<sample::RunCounts>(const CountRequest&)>;

inline constexpr unsigned kMostRuns = 64;

// `request` counts instructions; `first` is its outcome, which is given back as it is when nothing
// in it shared a counter. After `most_runs` what still shares one stays an estimate.
[[nodiscard]] Result<sample::RunCounts> count_in_several_runs(const CountRequest& request,
                                                              sample::RunCounts first,
                                                              const CountOnce& count,
                                                              unsigned most_runs = kMostRuns);

}  // namespace loft::source
