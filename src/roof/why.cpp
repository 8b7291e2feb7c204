#include "roof/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/geometry.hpp"
#include "machine/core_of.hpp"

namespace loft::roof {
namespace {

using core::Cause;
using model::TimedPart;
using source::virtual_pmu::KeptWindow;

// Parameters by which a verdict is tried: each is moved by so much, both ways.
constexpr double kMove = 0.3;
constexpr std::string_view kTried[] = {
    "issue_width",  "reorder_window", "l1_latency",      "l2_latency",        "l3_latency",
    "dram_latency", "l2_bandwidth",   "l3_bandwidth",    "dram_bandwidth",    "fill_buffers",
    "walk_latency", "forward_vector", "forward_general", "mispredict_penalty"};
// Windows of a function that are timed again for it, and causes that are tried in each.
constexpr std::size_t kTriedWindows = 3;
constexpr std::size_t kTriedCauses = 5;
constexpr std::size_t kPairedCauses = 5;

// By so much data that the warm-up did not see must matter, to be tried as near as they can be.
constexpr double kOpen = 1.05;

// A parameter that changes the time by less does not matter.
constexpr double kSame = 0.01;

// What a window's instructions take in one scenario, added up by function.
using ByFunction = std::vector<double>;

ByFunction by_function(const KeptWindow& kept, const std::vector<float>& cycles,
                       std::size_t functions) {
  ByFunction sums(functions);
  for (std::size_t i = 0; i < cycles.size(); ++i)
    sums[kept.functions[kept.window.instructions[i].block]] += static_cast<double>(cycles[i]);
  return sums;
}

// The same without a cause. Instructions leave in bursts behind one that was waited for: without
// the wait they may be charged with what another function was charged with. What only moved from
// one function to another is no gain: savings are scaled to those of the whole window.
ByFunction without_moves(const ByFunction& all, ByFunction without) {
  double saved = 0;
  double gained = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    saved += all[i] - without[i];
    gained += std::max(0.0, all[i] - without[i]);
  }
  const double factor = gained > 0 ? std::max(0.0, saved) / gained : 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    without[i] = all[i] - factor * std::max(0.0, all[i] - without[i]);
  return without;
}

// What the instructions of a window met, by function.
void add_facts(const KeptWindow& kept, const core::CoreParameters& core, bool relearns,
               std::vector<TimedPart>& parts) {
  const core::Window& window = kept.window;
  for (const core::Execution& execution : window.executions) {
    const core::Instruction& instruction = window.instructions[execution.instruction];
    TimedPart& part = parts[kept.functions[instruction.block]];
    TimedPart::Met& met = part.met;
    part.instructions += 1;
    part.issue_cycles += core::is_nop(instruction) && execution.accesses == 0
                             ? 1 / core.nop_width.value
                             : instruction.uops / core.issue_width.value;
    met.atomics += instruction.is_atomic;
    met.branches += instruction.branch != core::BranchKind::none;
    met.mispredicted += relearns ? execution.is_mispredicted_anew : execution.is_mispredicted;
    met.fetch_misses += execution.fetched_from != core::Level::l1;
    met.divisions +=
        instruction.op == core::Op::int_div ||
        (instruction.op >= core::Op::fp_div_single && instruction.op <= core::Op::fp_sqrt_double);
    for (std::size_t i = 0; i < execution.accesses; ++i) {
      const core::WindowAccess& access = window.accesses[execution.first_access + i];
      met.walks += access.translation.served == core::Translation::walk;
      met.transfers += access.cache.is_transfer;
      const core::Level from = std::max(access.cache.level, access.cache.prefetched_from);
      met.lines_l2 += from >= core::Level::l2 ? access.cache.lines : 0;
      met.lines_l3 += from >= core::Level::l3 ? access.cache.lines : 0;
      met.lines_dram += from == core::Level::memory ? access.cache.lines : 0;
      if (access.is_store) continue;
      met.loads += 1;
      met.from_l2 += access.cache.level == core::Level::l2;
      met.from_l3 += access.cache.level == core::Level::l3;
      met.from_dram += access.cache.level == core::Level::memory;
    }
  }
}

std::vector<Cause> strongest(const TimedPart& part, std::size_t count) {
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < core::kCauses; ++i) causes.push_back(static_cast<Cause>(i));
  std::ranges::stable_sort(causes, {}, [&](Cause cause) {
    double cycles = part.without[static_cast<std::size_t>(cause)];
    for (std::size_t i = 0; i < part.near.size(); ++i)
      if (core::kLevelCauses[i].has(cause)) cycles = std::min(cycles, part.near[i]);
    return cycles;
  });
  causes.resize(std::min(count, causes.size()));
  return causes;
}

// The windows that have most of a function, at most kTriedWindows.
std::vector<const KeptWindow*> windows_of(const std::vector<KeptWindow>& windows,
                                          std::uint32_t function) {
  std::vector<std::pair<std::size_t, const KeptWindow*>> found;
  for (const KeptWindow& kept : windows) {
    const auto count = std::ranges::count_if(kept.window.executions, [&](const auto& execution) {
      return kept.functions[kept.window.instructions[execution.instruction].block] == function;
    });
    if (count > 0) found.emplace_back(static_cast<std::size_t>(count), &kept);
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           &std::pair<std::size_t, const KeptWindow*>::first);
  std::vector<const KeptWindow*> windows_of_it;
  for (std::size_t i = 0; i < std::min(found.size(), kTriedWindows); ++i)
    windows_of_it.push_back(found[i].second);
  return windows_of_it;
}

// What the verdict of one function is tried with.
struct Trial {
  WindowTimer& timer;
  std::vector<const KeptWindow*> windows;
  std::uint32_t function = 0;
  WindowTimer::Scenario base;
  double cycles = 0;  // of the function in these windows
};

// The function's cycles in all windows of the trial: with some causes taken away, after a parameter
// was moved. Nothing where it cannot be.
std::optional<double> tried(const Trial& trial, const WindowTimer::Scenario& scenario) {
  WindowTimer::Scenario with = scenario;
  with.without.clear();
  double sum = 0;
  for (const KeptWindow* kept : trial.windows) {
    const std::size_t functions = std::size_t{std::ranges::max(kept->functions)} + 1;
    const auto* all = trial.timer.find(*kept, with);
    const auto* cycles = trial.timer.find(*kept, scenario);
    if (all == nullptr || cycles == nullptr) return std::nullopt;
    const ByFunction sums =
        without_moves(by_function(*kept, *all, functions), by_function(*kept, *cycles, functions));
    sum += sums[trial.function];
  }
  return sum;
}

WindowTimer::Scenario without(const WindowTimer::Scenario& base, std::vector<Cause> causes) {
  WindowTimer::Scenario scenario = base;
  scenario.without = std::move(causes);
  return scenario;
}

// Limits that coincide show only when both are taken away.
void try_pairs(const Trial& trial, TimedPart& part) {
  if (!(trial.cycles > 0)) return;
  const std::vector<Cause> causes = strongest(part, kPairedCauses);
  for (std::size_t a = 0; a < causes.size(); ++a)
    for (std::size_t b = a + 1; b < causes.size(); ++b) {
      const auto cycles = tried(trial, without(trial.base, {causes[a], causes[b]}));
      // In terms of all windows.
      part.pairs.push_back({causes[a], causes[b], cycles.value_or(0) * part.cycles / trial.cycles});
    }
}

void try_parameter(const Trial& trial, std::string_view name, double factor, TimedPart& part) {
  WindowTimer::Scenario moved = trial.base;
  moved.parameter = name;
  moved.factor = factor;
  const auto all = tried(trial, moved);
  // What the time does not depend on decides nothing.
  if (!all || std::abs(*all - trial.cycles) < kSame * trial.cycles) return;
  TimedPart::Changed changed;
  changed.parameter = name;
  changed.cycles = *all;
  changed.without.fill(*all);
  changed.near.fill(*all);
  const std::vector<Cause> causes = strongest(part, kTriedCauses);
  for (const Cause cause : causes)
    changed.without[static_cast<std::size_t>(cause)] =
        tried(trial, without(moved, {cause})).value_or(*all);
  for (std::size_t i = 0; i < changed.near.size(); ++i) {
    const core::LevelCauses& level = core::kLevelCauses[i];
    if (std::ranges::any_of(causes, [&](Cause cause) { return level.has(cause); }))
      changed.near[i] =
          tried(trial, without(moved, {level.latency, level.bandwidth})).value_or(*all);
  }
  part.changed.push_back(std::move(changed));
}

// Whether the part is worth the time that trying its verdict takes.
bool is_worth_trying(const TimedPart& part, double all_cycles) {
  return part.cycles > 0.02 * all_cycles;
}

// All windows timed, and the verdicts of functions tried that take their time. A quieter L3 is a
// parameter moved, too: then no others are.
std::vector<TimedPart> parts_of(const std::vector<KeptWindow>& windows, WindowTimer& timer,
                                std::size_t functions, const WindowTimer::Scenario& base) {
  std::vector<TimedPart> parts(functions);
  for (const KeptWindow& kept : windows) add_window(kept, timer, base, parts);
  double all_cycles = 0;
  for (const TimedPart& part : parts) all_cycles += part.cycles;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (!is_worth_trying(parts[i], all_cycles)) continue;
    Trial trial{timer, windows_of(windows, i), i, base};
    trial.cycles = tried(trial, base).value_or(0);
    try_pairs(trial, parts[i]);
    if (!base.parameter.empty()) continue;
    for (const std::string_view name : kTried)
      for (const double factor : {1 - kMove, 1 + kMove})
        try_parameter(trial, name, factor, parts[i]);
  }
  return parts;
}

// Whether a predictor that began with the warm-up mispredicts more often, so that it may show in
// the time: a misprediction takes as long as dozens of instructions.
bool relearning_matters(const std::vector<KeptWindow>& windows) {
  constexpr double kWorthTrying = 0.0005;  // of all instructions
  double instructions = 0;
  double more = 0;
  for (const KeptWindow& kept : windows) {
    instructions += static_cast<double>(kept.window.executions.size());
    for (const core::Execution& execution : kept.window.executions)
      more += int{execution.is_mispredicted_anew} - int{execution.is_mispredicted};
  }
  return more > kWorthTrying * instructions;
}

void add_parts(const std::vector<TimedPart>& parts,
               const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions,
               std::map<FunctionKey, TimedPart>& by_function) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // Two functions of one name in one binary: what was tried is that of the first.
    const auto [known, is_new] =
        by_function.try_emplace({functions[i].name, functions[i].binary}, parts[i]);
    if (!is_new) known->second += parts[i];
  }
}

}  // namespace

void add_window(const KeptWindow& kept, WindowTimer& timer, const WindowTimer::Scenario& base,
                std::vector<TimedPart>& parts) {
  add_facts(kept, timer.core(), base.relearns, parts);
  const std::size_t count = parts.size();
  const auto sums_of = [&](const WindowTimer::Scenario& scenario) {
    const auto* cycles = timer.find(kept, scenario);
    return cycles == nullptr ? ByFunction(count) : by_function(kept, *cycles, count);
  };
  const ByFunction all = sums_of(base);
  const auto as = [&](core::Unknown unknown) {
    WindowTimer::Scenario scenario = base;
    if (base.unknown == core::Unknown::as_modelled) scenario.unknown = unknown;
    return sums_of(scenario);
  };
  const ByFunction nearest = as(core::Unknown::nearest);
  const ByFunction farthest = as(core::Unknown::farthest);
  for (std::size_t f = 0; f < count; ++f) {
    parts[f].cycles += all[f];
    parts[f].nearest += nearest[f];
    parts[f].farthest += farthest[f];
  }
  for (std::size_t i = 0; i < core::kCauses; ++i) {
    const ByFunction sums = without_moves(all, sums_of(without(base, {static_cast<Cause>(i)})));
    for (std::size_t f = 0; f < count; ++f) parts[f].without[i] += sums[f];
  }
  for (std::size_t i = 0; i < core::kLevelCauses.size(); ++i) {
    const core::LevelCauses& level = core::kLevelCauses[i];
    const ByFunction sums =
        without_moves(all, sums_of(without(base, {level.latency, level.bandwidth})));
    for (std::size_t f = 0; f < count; ++f) parts[f].near[i] += sums[f];
  }
}

Result<TimedMachine> timed_machine(const model::Machine& machine, const machine::Conditions& met) {
  LOFT_TRY(const machine::MeasuredCore measured, machine::core_of(machine));
  const core::CoreParameters core = machine::under(met, measured.parameters);
  LOFT_CHECK(core::check(core));
  return TimedMachine{.timer = WindowTimer(core),
                      .core = fmt::format("{}, {} parameters not measured here", measured.base,
                                          measured.missing.size() + measured.unlikely.size()),
                      .slowed = machine::describe(met, measured.parameters),
                      .quiet_l3 = measured.parameters.l3_latency.value};
}

Result<Account> account_of(
    const std::vector<KeptWindow>& windows,
    const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions,
    TimedMachine& machine) {
  for (const KeptWindow& kept : windows) LOFT_CHECK(core::check(kept.window));
  WindowTimer& timer = machine.timer;
  Account account;
  account.core = machine.core;
  account.slowed = machine.slowed;
  account.alternating = Alternating(windows, functions, timer.core().reorder_window.value);
  const auto parts = parts_of(windows, timer, functions.size(), {});
  add_parts(parts, functions, account.functions);
  const bool is_open = std::ranges::any_of(
      parts, [](const TimedPart& part) { return part.cycles > kOpen * part.nearest; });
  if (is_open)
    add_parts(parts_of(windows, timer, functions.size(), {.unknown = core::Unknown::nearest}),
              functions, account.nearest);
  if (relearning_matters(windows))
    add_parts(parts_of(windows, timer, functions.size(), {.relearns = true}), functions,
              account.relearned);
  const double l3 = timer.core().l3_latency.value;
  if (l3 > kOpen * machine.quiet_l3)
    add_parts(parts_of(windows, timer, functions.size(),
                       {.parameter = "l3_latency", .factor = machine.quiet_l3 / l3}),
              functions, account.quiet_l3);
  return account;
}

}  // namespace loft::roof
