#include "roof/alternating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace loft::roof {
namespace {

using source::virtual_pmu::KeptWindow;

// Two functions belong together if at least this share of what one of them does before or after its
// pieces is done by the other.
constexpr double kLeastShare = 0.1;
// Of the measured time of a group, that of functions which windows met.
constexpr double kLeastMet = 0.9;
// Of the modelled time of a group, that of functions with the group's cause.
constexpr double kMostOfTime = 0.5;

// Latency and bandwidth of a level are two sides of one cause.
bool is_same_cause(core::Cause a, core::Cause b) {
  return a == b || std::ranges::any_of(core::kLevelCauses, [&](const core::LevelCauses& level) {
           return level.has(a) && level.has(b);
         });
}

bool has_cause(const model::TimedPart& part, core::Cause cause) {
  const auto gains = model::judge(part, {}).what_if;
  return !gains.empty() && is_same_cause(gains.front().first, cause);
}

struct Switches {
  std::vector<double> instructions, switches;  // by function
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> between;
};

Switches switches_of(const std::vector<KeptWindow>& windows, std::size_t functions) {
  Switches found{std::vector<double>(functions), std::vector<double>(functions), {}};
  for (const KeptWindow& kept : windows) {
    std::uint32_t before = ~std::uint32_t{0};
    for (const core::Execution& execution : kept.window.executions) {
      const std::uint32_t now =
          kept.functions[kept.window.instructions[execution.instruction].block];
      found.instructions[now] += 1;
      if (before != ~std::uint32_t{0} && now != before) {
        found.switches[now] += 1;
        found.switches[before] += 1;
        found.between[std::minmax(now, before)] += 1;
      }
      before = now;
    }
  }
  return found;
}

// The number that stands for the group of each function.
class Groups {
 public:
  explicit Groups(std::size_t count) : of_(count) { std::iota(of_.begin(), of_.end(), 0u); }
  std::uint32_t find(std::uint32_t number) {
    while (of_[number] != number) number = of_[number] = of_[of_[number]];
    return number;
  }
  void join(std::uint32_t a, std::uint32_t b) { of_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> of_;
};

}  // namespace

Alternating::Alternating(const std::vector<KeptWindow>& windows,
                         const std::vector<source::virtual_pmu::WindowedFunction>& functions,
                         double reorder_window) {
  const Switches found = switches_of(windows, functions.size());
  // A piece has a switch at each end.
  const auto alternates = [&](std::uint32_t function) {
    return 2 * found.instructions[function] < reorder_window * found.switches[function];
  };
  Groups groups(functions.size());
  for (const auto& [pair, count] : found.between) {
    const auto [a, b] = pair;
    const double fewer = std::min(found.switches[a], found.switches[b]);
    if (alternates(a) && alternates(b) && count >= kLeastShare * fewer) groups.join(a, b);
  }
  std::map<std::uint32_t, std::vector<FunctionKey>> members;
  for (std::uint32_t i = 0; i < functions.size(); ++i)
    members[groups.find(i)].push_back({functions[i].name, functions[i].binary});
  for (auto& [number, keys] : members) {
    if (keys.size() < 2) continue;
    for (const FunctionKey& key : keys) group_of_[key] = groups_.size();
    groups_.push_back(std::move(keys));
  }
}

const std::vector<FunctionKey>* Alternating::of(const FunctionKey& function) const {
  const auto found = group_of_.find(function);
  return found == group_of_.end() ? nullptr : &groups_[found->second];
}

std::optional<model::Why> judge_together(const std::vector<FunctionKey>& group,
                                         const std::map<FunctionKey, model::TimedPart>& parts,
                                         const std::map<FunctionKey, MeasuredFunction>& measured) {
  model::TimedPart sum;
  std::vector<model::TimedPart> members;
  const model::TimedPart* largest = nullptr;
  double most = 0, all_cycles = 0, cycles = 0, instructions = 0;
  for (const FunctionKey& key : group) {
    const auto times = measured.find(key);
    if (times == measured.end()) continue;
    all_cycles += times->second.cycles;
    const auto part = parts.find(key);
    if (part == parts.end() || !(part->second.instructions > 0)) continue;
    const auto scaled =
        part->second.scaled_by(times->second.instructions / part->second.instructions);
    sum += scaled;
    cycles += times->second.cycles;
    instructions += times->second.instructions;
    members.push_back(scaled);
    if (scaled.cycles <= most) continue;
    most = scaled.cycles;
    largest = &part->second;
  }
  if (largest == nullptr || cycles < kLeastMet * all_cycles || !(instructions > 0))
    return std::nullopt;
  // What was tried with single functions is tried with the one that takes most of the time.
  sum.changed = largest->changed;
  model::Why why = model::judge(sum, {.cycles_per_instruction = cycles / instructions});
  const std::string group_words = fmt::format("with {} function{} that it alternates with",
                                              group.size() - 1, group.size() == 2 ? "" : "s");
  if (why.outcome == model::Outcome::limited) {
    double agreeing = 0;
    for (const model::TimedPart& part : members)
      if (has_cause(part, *why.limit)) agreeing += part.cycles;
    if (agreeing < kMostOfTime * sum.cycles) {
      why.evidence =
          fmt::format("{}: a group, of whose time only {:.0f} % has one cause ({})", group_words,
                      100 * agreeing / sum.cycles, model::words_of(*why.limit));
      why.outcome = model::Outcome::unclear;
      why.limit = why.second = std::nullopt;
      why.gain = std::nullopt;
      return why;
    }
  }
  why.evidence = group_words + ": " + why.evidence;
  return why;
}

}  // namespace loft::roof
