// A part of the calls of a run: of some threads, a stretch of time, some functions.
//
//   LOFT_TRY(const CallRun part, select(run, {.threads = {4711}}));
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sample/calls.hpp"

namespace loft::sample {

struct CallFilter {
  std::set<pid_t> processes;  // empty ones let all pass
  std::set<pid_t> threads;
  std::vector<std::string> binaries;      // patterns on paths or their last parts
  std::vector<std::string> functions;     // patterns on names
  Nanoseconds from = Nanoseconds::min();  // of the beginnings of calls
  Nanoseconds until = Nanoseconds::max();

  [[nodiscard]] bool lets_all() const;
};

// Statistics of some threads or some time come from single calls: where not all were kept, that is
// an error. The tree is of the whole run: a part has none.
[[nodiscard]] Result<CallRun> select(const CallRun& run, const CallFilter& filter);

}  // namespace loft::sample
