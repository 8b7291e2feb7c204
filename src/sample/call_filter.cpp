#include "sample/call_filter.hpp"

#include "sample/call_request.hpp"

namespace loft::sample {
namespace {

bool is_about_moments(const CallFilter& filter) {
  return !filter.processes.empty() || !filter.threads.empty() ||
         filter.from != Nanoseconds::min() || filter.until != Nanoseconds::max();
}

bool passes(const WatchedFunction& function, const CallFilter& filter) {
  const std::string last = function.dso.substr(function.dso.rfind('/') + 1);
  const bool is_of_binary = filter.binaries.empty() || matches_any(filter.binaries, function.dso) ||
                            matches_any(filter.binaries, last);
  return is_of_binary && (filter.functions.empty() || matches_any(filter.functions, function.name));
}

bool passes(const CallRun& run, const KeptCall& call, const CallFilter& filter) {
  const CallThread& thread = run.threads[call.thread];
  const Nanoseconds begin = run.clock.time_of(call.begin);
  return (filter.processes.empty() || filter.processes.contains(thread.process)) &&
         (filter.threads.empty() || filter.threads.contains(thread.thread)) &&
         begin >= filter.from && begin <= filter.until;
}

}  // namespace

bool CallFilter::lets_all() const {
  return !is_about_moments(*this) && binaries.empty() && functions.empty();
}

Result<CallRun> select(const CallRun& run, const CallFilter& filter) {
  if (filter.lets_all()) return run;
  if (is_about_moments(filter) && (!run.has_all_calls || run.lost != 0))
    return failure(
        ErrorKind::unsupported, "choose calls by thread or time",
        run.has_all_calls ? "some single calls found no room" : "single calls were not kept",
        "record with 'loft record --calls', or 'loft call --show list -o FILE.data'");
  CallRun part = run;
  part.calls.clear();
  part.values.clear();
  part.nodes.clear();
  part.node_values.clear();
  std::vector<bool> is_shown;
  for (const WatchedFunction& function : run.functions)
    is_shown.push_back(passes(function, filter));
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    if (!is_shown[run.calls[i].function] || !passes(run, run.calls[i], filter)) continue;
    part.calls.push_back(run.calls[i]);
    const auto values = run.values_of(i);
    part.values.insert(part.values.end(), values.begin(), values.end());
  }
  part.seen = part.calls.size() + part.lost;
  if (is_about_moments(filter)) part.statistics = recompute(part);
  for (std::size_t i = 0; i < is_shown.size(); ++i) {
    if (is_shown[i]) continue;
    part.statistics[i] = CallStatistics{};
    part.statistics[i].of.resize(run.quantities.size());
  }
  return part;
}

}  // namespace loft::sample
