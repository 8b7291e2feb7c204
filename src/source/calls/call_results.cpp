#ifdef LOFT_HAS_ENGINE

#include "source/calls/call_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "source/tick_clock.hpp"

namespace loft::source::calls {

std::uint32_t CallResults::add_thread(pid_t pid, pid_t tid) {
  const auto name = read_line(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  run_.threads.push_back({pid, tid, name.value_or("")});
  kept_.push_back(0);
  return static_cast<std::uint32_t>(run_.threads.size() - 1);
}

void CallResults::read_kept(Arena& arena, std::uint32_t context, std::uint32_t thread,
                            const std::vector<std::uint32_t>& functions) {
  arena.read_kept(context, [&](const ReadCall& call) {
    if (call.function >= functions.size()) return;
    ++run_.seen;
    if (kept_[thread] >= most_kept_) {
      ++run_.lost;
      return;
    }
    ++kept_[thread];
    keep(call, thread, functions);
  });
}

void CallResults::keep(const ReadCall& call, std::uint32_t thread,
                       const std::vector<std::uint32_t>& functions) {
  const std::uint32_t caller =
      call.caller < functions.size() ? functions[call.caller] : sample::kNoFunction;
  run_.calls.push_back({functions[call.function], thread, call.begin, call.ticks, call.depth,
                        caller, static_cast<std::uint16_t>(call.flags)});
  run_.values.push_back({call.ticks, call.own});
  for (std::uint32_t i = 0; i < counters_; ++i)
    run_.values.push_back({call.counts.value[i], call.counts.own[i]});
}

void CallResults::drop_counts(std::string why) {
  if (!why_no_counts_) why_no_counts_ = std::move(why);
}

void CallResults::close(Arena& arena, std::uint32_t context, std::uint32_t thread,
                        const std::vector<std::uint32_t>& functions) {
  if (context != Arena::kCommon) read_kept(arena, context, thread, functions);
  const std::uint64_t lost = arena.lost(context);
  run_.seen += lost;
  run_.lost += lost;
  if (run_.statistics.size() < run_.functions.size()) run_.statistics.resize(run_.functions.size());
  if (arena.uncounted(context) != 0)
    drop_counts("the kernel took counters away from the program for a while");
  const std::uint64_t end = read_ticks();
  std::uint64_t without_node = 0;
  add_nodes(arena.nodes(context, end, without_node), functions);
  if (without_node != 0) note("the tree of calls is not complete: it had no room for all of them");
  arena.close_context(context, static_cast<std::uint32_t>(functions.size()), end,
                      [&](std::uint32_t function, const sample::CallStatistics& more) {
                        run_.statistics[functions[function]] += more;
                        if (arena.keeps_calls() || context == Arena::kCommon) return;
                        for (const ReadCall& call : arena.largest(context, function))
                          keep(call, thread, functions);
                      });
}

void CallResults::add_nodes(const std::vector<ReadNode>& nodes,
                            const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint32_t> index_of;  // in the run, of those here
  for (const ReadNode& node : nodes) {
    const std::uint32_t function =
        node.function < functions.size() ? functions[node.function] : sample::kNoFunction;
    const std::uint32_t parent =
        node.parent < index_of.size() ? index_of[node.parent] : sample::kNoCallNode;
    const auto next = static_cast<std::uint32_t>(run_.nodes.size());
    const auto [known, is_new] = nodes_.try_emplace({parent, function}, next);
    if (is_new) {
      run_.nodes.push_back({parent, function, 0});
      run_.node_values.resize(run_.nodes.size() * (1 + counters_));
    }
    index_of.push_back(known->second);
    run_.nodes[known->second].calls += node.sums.calls;
    sample::CallValue* values = run_.node_values.data() + known->second * (1 + counters_);
    values[0].value += node.sums.sum;
    values[0].self += node.sums.own;
    for (std::uint32_t i = 0; i < counters_; ++i) {
      values[1 + i].value += node.counts.value[i];
      values[1 + i].self += node.counts.own[i];
    }
  }
}

void CallResults::note(std::string text) {
  if (std::find(run_.notes.begin(), run_.notes.end(), text) == run_.notes.end())
    run_.notes.push_back(std::move(text));
}

}  // namespace loft::source::calls

#endif
