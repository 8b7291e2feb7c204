#include "roof/phases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loft::roof {
namespace {

using model::Subject;

// Fewer instructions of a function in a window say nothing about it.
constexpr double kLeastOfFunction = 1000;

double instructions_of(const Subject& subject) {
  return subject.scope == model::Scope::slice && subject.work
             ? subject.work->instructions.value_or(0)
             : 0;
}

double instructions_in_slices(const std::vector<Subject>& subjects) {
  double sum = 0;
  for (const Subject& subject : subjects) sum += instructions_of(subject);
  return sum;
}

// What the model says alone.
model::Why modelled(const model::TimedPart& part, std::size_t windows) {
  model::Why why = model::judge(part, {});
  if (!why.model_cycles) return why;
  why.outcome = model::Outcome::balanced;
  if (!why.what_if.empty() && why.what_if.front().second >= model::kLeastGain) {
    why.outcome = model::Outcome::limited;
    why.limit = why.what_if.front().first;
    why.gain = why.what_if.front().second;
  }
  why.evidence = fmt::format("model {:.3g} cycles an instruction in {} window{}", *why.model_cycles,
                             windows, windows == 1 ? "" : "s");
  return why;
}

// When the program had executed so many instructions, by its slices of time.
class InstructionClock {
 public:
  InstructionClock(double all, const std::vector<Subject>& subjects) {
    const double in_slices = instructions_in_slices(subjects);
    double before = 0;
    for (const Subject& subject : subjects) {
      const double own = instructions_of(subject);
      if (!(own > 0)) continue;
      slices_.push_back(
          {before / in_slices * all, own / in_slices * all, subject.start, subject.end});
      before += own;
    }
  }
  [[nodiscard]] bool is_known() const { return !slices_.empty(); }
  [[nodiscard]] double start() const { return slices_.front().start; }
  [[nodiscard]] double end() const { return slices_.back().end; }
  [[nodiscard]] double at(double instructions) const {
    const auto behind = std::ranges::upper_bound(slices_, instructions, {}, &Slice::before);
    if (behind == slices_.begin()) return start();
    const Slice& slice = *std::prev(behind);
    const double share = std::min(1.0, (instructions - slice.before) / slice.own);
    return slice.start + share * (slice.end - slice.start);
  }

 private:
  struct Slice {
    double before = 0, own = 0;  // instructions
    double start = 0, end = 0;   // seconds
  };
  std::vector<Slice> slices_;
};

// Windows that follow each other and have one cause.
struct Stretch {
  double first = 0, last = 0;  // when their windows were
  std::size_t windows = 0;
  model::TimedPart part;
  std::optional<core::Cause> limit;  // nothing: balanced
};

void take_in(Stretch& into, const Stretch& next) {
  into.last = next.last;
  into.windows += next.windows;
  into.part += next.part;
}

// A single window with another cause than all around it is chance, not a phase.
std::vector<Stretch> without_single_windows(std::vector<Stretch> stretches) {
  std::vector<Stretch> kept;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const bool is_single = stretches[i].windows == 1 && !kept.empty() && i + 1 < stretches.size() &&
                           kept.back().limit == stretches[i + 1].limit;
    if (!kept.empty() && (is_single || kept.back().limit == stretches[i].limit))
      take_in(kept.back(), stretches[i]);
    else
      kept.push_back(std::move(stretches[i]));
  }
  return kept;
}

void add_stretches(std::vector<Stretch> stretches, const InstructionClock& clock,
                   const Subject* function, std::vector<model::RoofPhase>& phases) {
  stretches = without_single_windows(std::move(stretches));
  if (stretches.size() < 2) return;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    model::RoofPhase& phase = phases.emplace_back();
    if (function != nullptr) phase.function = function->name;
    if (function != nullptr) phase.binary = function->binary;
    phase.start = i == 0 ? clock.start() : phases[phases.size() - 2].end;
    phase.end =
        i + 1 == stretches.size() ? clock.end() : (stretches[i].last + stretches[i + 1].first) / 2;
    phase.windows = stretches[i].windows;
    phase.why = modelled(stretches[i].part, stretches[i].windows);
  }
}

// One window is added to what came before it.
void extend(const model::TimedPart& part, double when, std::vector<Stretch>& stretches) {
  Stretch next{when, when, 1, part, modelled(part, 1).limit};
  if (!stretches.empty() && stretches.back().limit == next.limit)
    take_in(stretches.back(), next);
  else
    stretches.push_back(std::move(next));
}

}  // namespace

std::vector<model::RoofPhase> stretches_of(
    const std::vector<Phase>& phases,
    const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions, double all,
    const std::vector<Subject>& subjects) {
  constexpr double kWorthPhases = 0.1;  // of the time
  std::vector<model::RoofPhase> found;
  const InstructionClock clock(all, subjects);
  if (!clock.is_known() || !(all > 0)) return found;
  std::vector<Stretch> whole;
  for (const Phase& phase : phases) extend(phase.part, clock.at(phase.instructions), whole);
  add_stretches(std::move(whole), clock, nullptr, found);
  for (const Subject& subject : subjects) {
    if (subject.scope != model::Scope::function || subject.share_of_time < kWorthPhases) continue;
    std::vector<Stretch> own;
    for (const Phase& phase : phases)
      for (const auto& [number, part] : phase.functions)
        if (number < functions.size() && functions[number].name == subject.name &&
            functions[number].binary == subject.binary)
          extend(part, clock.at(phase.instructions), own);
    add_stretches(std::move(own), clock, &subject, found);
  }
  return found;
}

std::vector<Phase> phases_of(const std::vector<source::virtual_pmu::KeptWindow>& windows,
                             WindowTimer& timer) {
  std::vector<Phase> phases;
  for (source::virtual_pmu::KeptWindow kept : windows) {
    std::ranges::fill(kept.functions, 0);
    std::vector<model::TimedPart> whole(1);
    add_window(kept, timer, {}, whole);
    Phase& phase = phases.emplace_back();
    phase.instructions = static_cast<double>(kept.executed_before);
    phase.part = std::move(whole.front());
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].functions.empty()) continue;
    std::vector<model::TimedPart> parts(std::size_t{std::ranges::max(windows[i].functions)} + 1);
    add_window(windows[i], timer, {}, parts);
    for (std::uint32_t function = 0; function < parts.size(); ++function)
      if (parts[function].instructions >= kLeastOfFunction)
        phases[i].functions.emplace(function, std::move(parts[function]));
  }
  std::ranges::stable_sort(phases, {}, &Phase::instructions);
  return phases;
}

void explain_slices(const std::vector<Phase>& phases, double all, std::vector<Subject>& subjects) {
  if (phases.empty() || !(all > 0)) return;
  const double in_slices = instructions_in_slices(subjects);
  if (!(in_slices > 0)) return;
  double before = 0;
  auto next = phases.begin();
  for (Subject& subject : subjects) {
    const double own = instructions_of(subject);
    if (!(own > 0)) continue;
    before += own;
    // By share: functions that no sample met are in no slice.
    const double until = before / in_slices * all;
    model::TimedPart sum;
    std::size_t windows = 0;
    for (; next != phases.end() && next->instructions < until; ++next, ++windows) sum += next->part;
    if (windows > 0) subject.why = modelled(sum, windows);
  }
}

}  // namespace loft::roof
