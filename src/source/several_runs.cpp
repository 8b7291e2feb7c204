#include "source/several_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "sample/repeat.hpp"

namespace loft::source {
namespace {

using Groups = std::vector<std::size_t>;  // indices into CountRequest::groups

bool has_instructions(const CountRequest& request, const EventGroup& group) {
  return std::ranges::any_of(group.members, [&](std::size_t member) {
    return request.events[member].meaning == event::Meaning::instructions;
  });
}

bool shared_counters(const sample::RunCounts& run) {
  return std::ranges::any_of(
      run.events, [](const auto& event) { return event.total.origin == sample::Origin::scaled; });
}

// An event that never had its turn is missing in the first run, and has it in another.
bool needs_another_run(const sample::RunCounts& run, const EventGroup& group) {
  return std::ranges::any_of(group.members, [&](std::size_t member) {
    const sample::Count& count = run.events[member].total;
    return count.origin == sample::Origin::scaled || count.never_ran();
  });
}

CountRequest only(const CountRequest& request, const Groups& groups) {
  CountRequest part = request;
  part.events.clear();
  part.groups.clear();
  for (const std::size_t index : groups) {
    EventGroup group{{}, request.groups[index].keep_together};
    for (const std::size_t member : request.groups[index].members) {
      group.members.push_back(part.events.size());
      part.events.push_back(request.events[member]);
    }
    part.groups.push_back(std::move(group));
  }
  return part;
}

void push_halves(std::deque<Groups>& queue, const Groups& groups) {
  const auto middle = groups.begin() + static_cast<std::ptrdiff_t>((groups.size() + 1) / 2);
  queue.emplace_back(groups.begin(), middle);
  if (middle != groups.end()) queue.emplace_back(middle, groups.end());
}

}  // namespace

Result<sample::RunCounts> count_in_several_runs(const CountRequest& request,
                                                sample::RunCounts first, const CountOnce& count,
                                                unsigned most_runs) {
  Groups always;
  Groups in_turns;
  for (std::size_t i = 0; i < request.groups.size(); ++i) {
    const EventGroup& group = request.groups[i];
    const bool alone = has_instructions(request, group) || !needs_another_run(first, group);
    (alone ? always : in_turns).push_back(i);
  }
  if (in_turns.empty()) return first;
  std::deque<Groups> queue;
  push_halves(queue, in_turns);
  std::vector<sample::RunCounts> runs{std::move(first)};
  unsigned made = 1;
  while (!queue.empty()) {
    const Groups groups = std::move(queue.front());
    queue.pop_front();
    Groups counted = always;
    counted.insert(counted.end(), groups.begin(), groups.end());
    LOFT_TRY(auto run, count(only(request, counted)));
    ++made;
    const bool may_split = groups.size() > 1 && made + queue.size() + 2 <= most_runs;
    if (shared_counters(run) && may_split)
      push_halves(queue, groups);
    else
      runs.push_back(std::move(run));
  }
  LOFT_TRY(auto joined, sample::join_runs(std::move(runs)));
  joined.notes.push_back(fmt::format(
      "the program ran {} times, so that events need not share counters; runs are aligned by "
      "their instructions",
      made));
  return joined;
}

}  // namespace loft::source
