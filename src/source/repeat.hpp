// How often a program is run to be counted: once, so many times, or as often as it takes for events
// not to share counters.
//
//   LOFT_TRY(auto run, count_repeatedly(request, {.runs = 3}, count_once, {}));
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/several_runs.hpp"

namespace loft::source {

struct RepeatPolicy {
  unsigned runs = 1;             // the result is their mean
  bool until_unshared = false;   // run again while something is not known to within `target`
  std::optional<double> target;  // 0.05: half of the 95 % interval may be 5 % of the value

  // Whether anybody asks how certain the counts are.
  [[nodiscard]] bool has_target() const { return target || until_unshared; }
  [[nodiscard]] double target_or_default() const { return target.value_or(0.05); }
};

// The names of what is not known to within the target.
using FindUncertain = std::function<std::vector<std::string>(const sample::RunCounts&)>;

// `find_uncertain` is asked where the policy has a target, once.
[[nodiscard]] Result<sample::RunCounts> count_repeatedly(const CountRequest& request,
                                                         const RepeatPolicy& policy,
                                                         const CountOnce& count,
                                                         const FindUncertain& find_uncertain);

}  // namespace loft::source
