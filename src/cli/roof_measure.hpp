// From a program to what it did and how long it took: in one run with counters of the machine, or
// in two with the virtual PMU.
//
//   LOFT_TRY(auto run, measure_twice({.command = {"./app"}}));
//   run.native, run.counted                       // for join_passes()
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/roof_counters.hpp"
#include "cli/roof_passes.hpp"

namespace loft::cli {

struct RoofTarget {
  std::vector<std::string> command;
  std::vector<pid_t> pids;  // these instead, which run already; the command only says how long
  unsigned most_runs = 1;   // so many runs at most, so that events need not share counters
  bool keep_going = false;  // whatever the program's exit status is
  std::string file;         // where the recording of the native run stays; empty: nowhere
};

struct Measured {
  NativeRun first;
  NativePass native;
  sample::RunCounts counted;
};

[[nodiscard]] Result<Measured> measure_by_counters(const RoofTarget& target,
                                                   const WorkCounters& counters);
[[nodiscard]] Result<Measured> measure_twice(const RoofTarget& target);

// A status as a shell tells it, in words: "139 (killed by SIGSEGV)".
[[nodiscard]] std::string status_words(int status);

// A program that fails gives numbers of something else.
[[nodiscard]] Result<void> check_status(int exit_status, const RoofTarget& target);

}  // namespace loft::cli
