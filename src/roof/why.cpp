#include "roof/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "core/geometry.hpp"
#include "core/timing.hpp"
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

// The name of all code of the kernel.
constexpr std::string_view kKernel = "[kernel]";
// A run that waits, or is in the kernel, for more of its time is limited by that.
constexpr double kMuch = 0.5;

// What a window's blocks take in one scenario, added up by function.
using ByFunction = std::vector<double>;

ByFunction by_function(const KeptWindow& kept, const core::Timing& timing, std::size_t functions) {
  ByFunction sums(functions);
  for (std::size_t i = 0; i < timing.by_block.size(); ++i)
    sums[kept.functions[i]] += static_cast<double>(timing.by_block[i]);
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
void add_facts(const KeptWindow& kept, const core::CoreParameters& core,
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
    met.mispredicted += execution.is_mispredicted;
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
  std::vector<const KeptWindow*> windows;
  std::uint32_t function = 0;
  core::Unknown unknown{};
  double cycles = 0;  // of the function in these windows
};

// A window's cycles of the function: with all causes, and without some.
class TriedWindow {
 public:
  TriedWindow(const KeptWindow& kept, const core::CoreParameters& core, const Trial& trial)
      : kept_(kept),
        trial_(trial),
        timer_(kept.window, core),
        all_(by_function(kept, timer_.run({.unknown = trial.unknown}), functions())) {}
  [[nodiscard]] double all() const { return all_[trial_.function]; }
  double without(core::CauseSet causes) {
    const core::Timing timing = timer_.run({.without = causes, .unknown = trial_.unknown});
    return without_moves(all_, by_function(kept_, timing, functions()))[trial_.function];
  }

 private:
  [[nodiscard]] std::size_t functions() const {
    return std::size_t{std::ranges::max(kept_.functions)} + 1;
  }

  const KeptWindow& kept_;
  const Trial& trial_;
  core::Timer timer_;
  ByFunction all_;
};

// Limits that coincide show only when both are taken away.
void try_pairs(const Trial& trial, const core::CoreParameters& core, TimedPart& part) {
  double all = 0;
  std::vector<TimedPart::Pair> pairs;
  const std::vector<Cause> causes = strongest(part, kPairedCauses);
  for (std::size_t a = 0; a < causes.size(); ++a)
    for (std::size_t b = a + 1; b < causes.size(); ++b) pairs.push_back({causes[a], causes[b], 0});
  for (const KeptWindow* kept : trial.windows) {
    TriedWindow window(*kept, core, trial);
    all += window.all();
    for (TimedPart::Pair& pair : pairs) pair.cycles += window.without(pair.first | pair.second);
  }
  if (!(all > 0)) return;
  // In terms of all windows.
  for (TimedPart::Pair& pair : pairs) pair.cycles *= part.cycles / all;
  part.pairs = std::move(pairs);
}

void try_parameter(const Trial& trial, const core::CoreParameters& core, std::string_view name,
                   double factor, TimedPart& part) {
  core::CoreParameters moved = core;
  double value = 0;
  core::for_each_parameter(core, [&](const core::ParameterName& each, const core::Parameter& p) {
    if (each.name == name) value = p.value;
  });
  if (!core::set_parameter(moved, name, value * factor, core::Origin::assumed)) return;
  if (!core::check(moved)) return;
  TimedPart::Changed changed;
  changed.parameter = name;
  std::vector<std::unique_ptr<TriedWindow>> windows;
  for (const KeptWindow* kept : trial.windows) {
    windows.push_back(std::make_unique<TriedWindow>(*kept, moved, trial));
    changed.cycles += windows.back()->all();
  }
  // What the time does not depend on decides nothing.
  if (std::abs(changed.cycles - trial.cycles) < kSame * trial.cycles) return;
  const std::vector<Cause> causes = strongest(part, kTriedCauses);
  for (const auto& each : windows) {
    TriedWindow& window = *each;
    for (std::size_t i = 0; i < core::kCauses; ++i) {
      const Cause cause = static_cast<Cause>(i);
      const bool is_tried = std::ranges::find(causes, cause) != causes.end();
      changed.without[i] += is_tried ? window.without(cause) : window.all();
    }
    for (std::size_t i = 0; i < changed.near.size(); ++i) {
      const core::LevelCauses& level = core::kLevelCauses[i];
      const bool is_tried =
          std::ranges::any_of(causes, [&](Cause cause) { return level.has(cause); });
      changed.near[i] += is_tried ? window.without(level.latency | level.bandwidth) : window.all();
    }
  }
  part.changed.push_back(std::move(changed));
}

// Whether the part is worth the time that trying its verdict takes.
bool is_worth_trying(const TimedPart& part, double all_cycles) {
  return part.cycles > 0.02 * all_cycles;
}

// All windows timed, and the verdicts of functions tried that take their time.
std::vector<TimedPart> parts_of(const std::vector<KeptWindow>& windows,
                                const core::CoreParameters& core, std::size_t functions,
                                core::Unknown unknown) {
  std::vector<TimedPart> parts(functions);
  for (const KeptWindow& kept : windows) add_window(kept, core, parts, unknown);
  double all_cycles = 0;
  for (const TimedPart& part : parts) all_cycles += part.cycles;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (!is_worth_trying(parts[i], all_cycles)) continue;
    Trial trial{windows_of(windows, i), i, unknown};
    for (const KeptWindow* kept : trial.windows)
      trial.cycles += TriedWindow(*kept, core, trial).all();
    try_pairs(trial, core, parts[i]);
    for (const std::string_view name : kTried)
      for (const double factor : {1 - kMove, 1 + kMove})
        try_parameter(trial, core, name, factor, parts[i]);
  }
  return parts;
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

// Where the model does not explain the time, data that the warm-up did not see may have been nearer
// than it takes them to be, or still in L3 though others evict much of it: if that explains the
// time, it is what happened.
model::Why judge(const Account& account, const FunctionKey& key, const TimedPart& part,
                 const model::MeasuredPart& measured) {
  model::Why why = model::judge(part, measured);
  if (why.outcome != model::Outcome::unexplained) return why;
  for (const auto* others : {&account.nearest, &account.quiet_l3}) {
    const auto found = others->find(key);
    if (found == others->end() || part.cycles <= kOpen * found->second.cycles) continue;
    model::Why nearer = model::judge(found->second, measured);
    if (nearer.outcome != model::Outcome::unexplained) return nearer;
  }
  return why;
}

// Seconds are of elapsed time: so many threads ran meanwhile.
MeasuredFunction measured_of(const Clock& clock, const model::Subject& subject) {
  return {.cycles = subject.seconds * subject.concurrency * clock.frequency_hz,
          .instructions = subject.work ? subject.work->instructions.value_or(0) : 0};
}

std::map<FunctionKey, MeasuredFunction> measured_of(const Clock& clock,
                                                    const std::vector<model::Subject>& subjects) {
  std::map<FunctionKey, MeasuredFunction> measured;
  for (const model::Subject& subject : subjects)
    if (subject.scope == model::Scope::function)
      measured[part_key(subject)] = measured_of(clock, subject);
  return measured;
}

// A function that has no verdict of its own may have one with those that it alternates with.
void try_together(const Account& account, const FunctionKey& key,
                  const std::map<FunctionKey, MeasuredFunction>& measured, model::Why& why) {
  if (why.outcome != model::Outcome::unexplained && why.outcome != model::Outcome::unclear) return;
  const std::vector<FunctionKey>* group = account.alternating.of(key);
  if (group == nullptr) return;
  auto together = judge_together(*group, account.functions, measured);
  if (together && together->outcome == model::Outcome::limited) why = std::move(*together);
}

}  // namespace

void add_window(const KeptWindow& kept, const core::CoreParameters& core,
                std::vector<TimedPart>& parts, core::Unknown unknown) {
  add_facts(kept, core, parts);
  const std::size_t count = parts.size();
  core::Timer timer(kept.window, core);
  const auto add = [&](const core::Scenario& scenario, auto&& member) {
    const ByFunction sums = by_function(kept, timer.run(scenario), count);
    for (std::size_t i = 0; i < count; ++i) member(parts[i]) += sums[i];
  };
  const bool is_open = unknown == core::Unknown::as_modelled;
  add({.unknown = unknown}, [](TimedPart& part) -> double& { return part.cycles; });
  add({.unknown = is_open ? core::Unknown::nearest : unknown},
      [](TimedPart& part) -> double& { return part.nearest; });
  add({.unknown = is_open ? core::Unknown::farthest : unknown},
      [](TimedPart& part) -> double& { return part.farthest; });
  const ByFunction all = by_function(kept, timer.run({.unknown = unknown}), count);
  for (std::size_t i = 0; i < core::kCauses; ++i) {
    const core::Scenario scenario{.without = static_cast<Cause>(i), .unknown = unknown};
    const ByFunction sums = without_moves(all, by_function(kept, timer.run(scenario), count));
    for (std::size_t f = 0; f < count; ++f) parts[f].without[i] += sums[f];
  }
  for (std::size_t i = 0; i < core::kLevelCauses.size(); ++i) {
    const core::LevelCauses& level = core::kLevelCauses[i];
    const core::Scenario scenario{.without = level.latency | level.bandwidth, .unknown = unknown};
    const ByFunction sums = without_moves(all, by_function(kept, timer.run(scenario), count));
    for (std::size_t f = 0; f < count; ++f) parts[f].near[i] += sums[f];
  }
}

Result<Account> account_of(
    const std::vector<KeptWindow>& windows,
    const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions,
    const model::Machine& machine, const machine::Conditions& met) {
  LOFT_TRY(const machine::MeasuredCore measured, machine::core_of(machine));
  const core::CoreParameters core = machine::under(met, measured.parameters);
  LOFT_CHECK(core::check(core));
  for (const KeptWindow& kept : windows) LOFT_CHECK(core::check(kept.window));
  Account account;
  account.core = fmt::format("{}, {} parameters not measured here", measured.base,
                             measured.missing.size() + measured.unlikely.size());
  account.slowed = machine::describe(met, measured.parameters);
  account.alternating = Alternating(windows, functions, core.reorder_window.value);
  const auto parts = parts_of(windows, core, functions.size(), core::Unknown::as_modelled);
  add_parts(parts, functions, account.functions);
  const bool is_open = std::ranges::any_of(
      parts, [](const TimedPart& part) { return part.cycles > kOpen * part.nearest; });
  if (is_open)
    add_parts(parts_of(windows, core, functions.size(), core::Unknown::nearest), functions,
              account.nearest);
  if (core.l3_latency.value > kOpen * measured.parameters.l3_latency.value) {
    core::CoreParameters quiet = core;
    quiet.l3_latency = measured.parameters.l3_latency;
    add_parts(parts_of(windows, quiet, functions.size(), core::Unknown::as_modelled), functions,
              account.quiet_l3);
  }
  return account;
}

std::optional<double> able_seconds(const std::vector<sample::RunSlice>& schedule) {
  if (schedule.empty()) return std::nullopt;
  std::vector<sample::RunSlice> slices = schedule;
  std::ranges::stable_sort(slices, {}, &sample::RunSlice::start);
  // What was preempted is able to run until it does.
  std::unordered_map<std::uint32_t, sample::RunSlice*> last;  // by thread
  for (sample::RunSlice& slice : slices) {
    sample::RunSlice*& before = last[slice.tid];
    if (before != nullptr && before->was_preempted)
      before->end = std::max(before->end, slice.start);
    before = &slice;
  }
  std::uint64_t able = 0;
  std::uint64_t until = 0;
  for (const sample::RunSlice& slice : slices) {
    const std::uint64_t from = std::max(slice.start, until);
    if (slice.end > from) able += slice.end - from;
    until = std::max(until, slice.end);
  }
  return static_cast<double>(able) * 1e-9;
}

FunctionKey loop_key(const FunctionKey& function, const model::LoopFacts& loop) {
  // No name has a line break; depths tell loops of one header apart.
  return {fmt::format("{}\n{:x}\n{}", function.name, loop.address, loop.depth), function.binary};
}

FunctionKey part_key(const model::Subject& subject) {
  const FunctionKey function{subject.name, subject.binary};
  return subject.loop ? loop_key(function, *subject.loop) : function;
}

void explain(const Account& account, const Clock& clock, std::vector<model::Subject>& subjects) {
  double in_kernel = 0;
  const auto measured_functions = measured_of(clock, subjects);
  for (model::Subject& subject : subjects) {
    if (subject.scope != model::Scope::function && !subject.loop) continue;
    if (subject.name == kKernel) {
      in_kernel += subject.share_of_time;
      subject.why = model::judge_system(subject.share_of_time);
      continue;
    }
    const auto found = account.functions.find(part_key(subject));
    if (!subject.work || found == account.functions.end()) continue;
    const MeasuredFunction own = measured_of(clock, subject);
    model::MeasuredPart measured;
    if (own.instructions > 0 && own.cycles > 0)
      measured.cycles_per_instruction = own.cycles / own.instructions;
    subject.why = judge(account, found->first, found->second, measured);
    if (!subject.loop) try_together(account, found->first, measured_functions, *subject.why);
  }
  for (model::Subject& subject : subjects) {
    if (subject.scope != model::Scope::run || !(clock.wall_seconds > 0)) continue;
    const double waiting = clock.able_seconds ? 1 - *clock.able_seconds / clock.wall_seconds : 0.0;
    if (waiting > kMuch) {
      subject.why = model::judge_waiting(waiting);
    } else if (in_kernel > kMuch) {
      subject.why = model::judge_system(in_kernel);
    }
  }
}

}  // namespace loft::roof
