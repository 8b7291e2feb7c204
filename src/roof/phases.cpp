#include "roof/phases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loft::roof {
namespace {

using model::Subject;

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

}  // namespace

std::vector<Phase> phases_of(const std::vector<source::virtual_pmu::KeptWindow>& windows,
                             WindowTimer& timer) {
  std::vector<Phase> phases;
  for (source::virtual_pmu::KeptWindow kept : windows) {
    std::ranges::fill(kept.functions, 0);
    std::vector<model::TimedPart> whole(1);
    add_window(kept, timer, {}, whole);
    phases.push_back({static_cast<double>(kept.executed_before), std::move(whole.front())});
  }
  std::ranges::stable_sort(phases, {}, &Phase::instructions);
  return phases;
}

void explain_slices(const std::vector<Phase>& phases, double all, std::vector<Subject>& subjects) {
  if (phases.empty() || !(all > 0)) return;
  double in_slices = 0;
  const auto instructions_of = [](const Subject& subject) {
    return subject.scope == model::Scope::slice && subject.work
               ? subject.work->instructions.value_or(0)
               : 0;
  };
  for (const Subject& subject : subjects) in_slices += instructions_of(subject);
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
