#include "sample/call_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace loft::sample {
namespace {

class Join {
 public:
  Join(CallRun timed, const CallRun& counted) : run_(std::move(timed)), counted_(counted) {
    for (std::size_t q = 0; q < counted.quantities.size(); ++q)
      if (!counted.quantities[q].is_time) events_.push_back(q);
  }

  CallRun make() {
    const std::size_t before = run_.quantities.size();
    for (const std::size_t q : events_) run_.quantities.push_back(counted_.quantities[q]);
    join_functions();
    join_nodes(before);
    join_calls(before);
    add_notes();
    run_.route = kJoinedRoute;
    return std::move(run_);
  }

 private:
  void join_functions() {
    std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> known;
    for (std::uint32_t i = 0; i < run_.functions.size(); ++i)
      known.try_emplace({run_.functions[i].dso, run_.functions[i].name, run_.functions[i].address},
                        i);
    for (CallStatistics& statistics : run_.statistics) statistics.of.resize(run_.quantities.size());
    for (std::uint32_t i = 0; i < counted_.functions.size(); ++i) {
      const WatchedFunction& function = counted_.functions[i];
      const auto [found, is_new] =
          known.try_emplace({function.dso, function.name, function.address},
                            static_cast<std::uint32_t>(run_.functions.size()));
      if (is_new) {
        run_.functions.push_back(function);
        run_.statistics.emplace_back().of.resize(run_.quantities.size());
      }
      function_of_.push_back(found->second);
      join_statistics(run_.statistics[found->second], counted_.statistics[i]);
    }
  }

  void join_statistics(CallStatistics& to, const CallStatistics& from) {
    for (std::size_t i = 0; i < events_.size(); ++i)
      to.of[run_.quantities.size() - events_.size() + i] = from.of[events_[i]];
    if (to.calls + to.open + to.unmeasured == 0) {
      to.calls = from.calls;
      to.open = from.open;
      to.ended_early = from.ended_early;
      to.unmeasured = from.unmeasured;
    } else if (to.calls + to.open != from.calls + from.open) {
      ++different_;
    }
  }

  // Both trees become one. A path that one run did not take has nothing of that run.
  void join_nodes(std::size_t before) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::vector<CallValue> values;
    for (std::uint32_t i = 0; i < run_.nodes.size(); ++i) {
      known.try_emplace({run_.nodes[i].parent, run_.nodes[i].function}, i);
      for (std::size_t q = 0; q < before; ++q) values.push_back(run_.node_values[i * before + q]);
      values.resize(values.size() + events_.size());
    }
    std::vector<std::uint32_t> node_of;
    for (std::size_t i = 0; i < counted_.nodes.size(); ++i) {
      const CallNode& node = counted_.nodes[i];
      const std::uint32_t parent = node.parent == kNoCallNode ? kNoCallNode : node_of[node.parent];
      const std::uint32_t function = function_of_[node.function];
      const auto [found, is_new] =
          known.try_emplace({parent, function}, static_cast<std::uint32_t>(run_.nodes.size()));
      if (is_new) {
        run_.nodes.push_back({parent, function, node.calls});
        values.resize(values.size() + run_.quantities.size());
      }
      node_of.push_back(found->second);
      for (std::size_t e = 0; e < events_.size(); ++e)
        values[found->second * run_.quantities.size() + before + e] =
            counted_.values_of_node(i)[events_[e]];
    }
    run_.node_values = std::move(values);
  }

  // Of each thread: its calls, in the order in which they ended.
  using Sequences = std::vector<std::vector<std::size_t>>;
  static Sequences sequences(const CallRun& run) {
    Sequences all(run.threads.size());
    for (std::size_t i = 0; i < run.calls.size(); ++i)
      if ((run.calls[i].flags & kOpen) == 0) all[run.calls[i].thread].push_back(i);
    return all;
  }

  void join_calls(std::size_t before) {
    std::vector<CallValue> values;
    for (std::size_t i = 0; i < run_.calls.size(); ++i) {
      for (std::size_t q = 0; q < before; ++q) values.push_back(run_.values[i * before + q]);
      values.resize(values.size() + events_.size(), kUnknownValue);
    }
    run_.values = std::move(values);
    if (!run_.has_all_calls || !counted_.has_all_calls || run_.lost + counted_.lost != 0) return;
    const Sequences first = sequences(run_);
    Sequences second = sequences(counted_);
    for (std::size_t t = 0; t < std::min(first.size(), second.size()); ++t) {
      std::erase_if(second[t], [&](std::size_t call) { return !has_time(call); });
      if (!std::ranges::equal(
              first[t], second[t], {}, [&](std::size_t call) { return run_.calls[call].function; },
              [&](std::size_t call) { return function_of_[counted_.calls[call].function]; }))
        continue;
      for (std::size_t i = 0; i < first[t].size(); ++i)
        for (std::size_t e = 0; e < events_.size(); ++e)
          run_.values[first[t][i] * run_.quantities.size() + before + e] =
              counted_.values_of(second[t][i])[events_[e]];
      joined_calls_ += first[t].size();
    }
  }

  // Whether the first run could watch the function.
  bool has_time(std::size_t call) const {
    return run_.functions[function_of_[counted_.calls[call].function]].is_watched();
  }

  void add_notes() {
    for (const std::string& note : counted_.notes) run_.notes.push_back("second run: " + note);
    if (different_ != 0)
      run_.notes.push_back(fmt::format(
          "{} functions were called more or less often in the second run: what is counted per call "
          "is of that run",
          different_));
    if (run_.has_all_calls && joined_calls_ < run_.calls.size())
      run_.notes.push_back(fmt::format(
          "counts of {} of {} single calls are not known: their threads made other calls, or in "
          "another order, in the second run",
          run_.calls.size() - joined_calls_, run_.calls.size()));
    if (run_.end.shell_status() != counted_.end.shell_status())
      run_.notes.push_back(fmt::format(
          "the two runs differ: the program ended with status {} natively and {} under the virtual "
          "PMU",
          run_.end.shell_status(), counted_.end.shell_status()));
  }

  CallRun run_;
  const CallRun& counted_;
  std::vector<std::size_t> events_;         // quantities of the second run that are no time
  std::vector<std::uint32_t> function_of_;  // by function of the second run
  std::size_t different_ = 0;
  std::size_t joined_calls_ = 0;
};

}  // namespace

CallRun join_counts(CallRun timed, const CallRun& counted) {
  return Join(std::move(timed), counted).make();
}

}  // namespace loft::sample
