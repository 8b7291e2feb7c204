#include "source/repeat.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "sample/repeat.hpp"

namespace loft::source {

Result<sample::RunCounts> count_repeatedly(const CountRequest& request, const RepeatPolicy& policy,
                                           const CountOnce& count,
                                           const FindUncertain& find_uncertain) {
  std::vector<sample::RunCounts> runs;
  for (unsigned i = 0; i < policy.runs; ++i) {
    LOFT_TRY(runs.emplace_back(), count(request));
  }
  sample::RunCounts run = sample::merge_runs(std::move(runs));
  if (!policy.has_target()) return run;
  const auto uncertain = find_uncertain(run);
  if (uncertain.empty()) return run;
  if (policy.until_unshared) return count_in_several_runs(request, std::move(run), count);
  run.notes.push_back(
      fmt::format("not known to within {:g} %: {}; --runs auto runs the program again instead",
                  100 * policy.target_or_default(), join(uncertain, ", ")));
  return run;
}

}  // namespace loft::source
