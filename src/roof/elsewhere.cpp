#include "roof/elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;

// Fewer instructions in windows say nothing about a function.
constexpr double kLeastInstructions = 1000;

// Seconds of an instruction, by the model.
std::optional<double> seconds_of(const ModelledMachine& on, const FunctionKey& key) {
  const auto found = on.account.functions.find(key);
  if (found == on.account.functions.end() || !(on.machine.frequency_hz > 0)) return std::nullopt;
  const model::TimedPart& part = found->second;
  if (part.instructions < kLeastInstructions || !(part.cycles > 0)) return std::nullopt;
  return part.cycles / part.instructions / on.machine.frequency_hz;
}

model::Why why_there(const ModelledMachine& there, const FunctionKey& key, double factor) {
  model::Why why = model::judge(there.account.functions.at(key), {});
  why.outcome = model::Outcome::balanced;
  if (!why.what_if.empty() && why.what_if.front().second >= model::kLeastGain) {
    why.outcome = model::Outcome::limited;
    why.limit = why.what_if.front().first;
    why.gain = why.what_if.front().second;
  }
  why.evidence = factor <= 1 ? fmt::format("{:.2f} × as fast there", 1 / factor)
                             : fmt::format("{:.2f} × as slow there", factor);
  return why;
}

}  // namespace

double move_to(const ModelledMachine& here, const ModelledMachine& there,
               std::vector<Subject>& subjects) {
  std::erase_if(subjects, [](const Subject& subject) {
    return subject.scope != Scope::run && subject.scope != Scope::function;
  });
  double known = 0;
  double seconds = 0;
  double seconds_there = 0;
  for (Subject& subject : subjects) {
    if (subject.scope != Scope::function) continue;
    const FunctionKey key = part_key(subject);
    const auto before = seconds_of(here, key);
    const auto after = seconds_of(there, key);
    subject.why.reset();
    subject.origin = sample::Origin::modelled;
    if (!before || !after || !(subject.seconds > 0)) {
      subject.seconds = subject.time_error = subject.share_of_time = 0;
      continue;
    }
    const double factor = *after / *before;
    known += subject.share_of_time;
    seconds += subject.seconds;
    subject.seconds *= factor;
    seconds_there += subject.seconds;
    subject.why = why_there(there, key, factor);
  }
  for (Subject& subject : subjects) {
    if (subject.scope == Scope::function) {
      subject.share_of_time = seconds_there > 0 ? subject.seconds / seconds_there : 0;
      continue;
    }
    subject.origin = sample::Origin::modelled;
    subject.why.reset();
    subject.seconds = seconds > 0 ? subject.seconds * seconds_there / seconds : 0;
  }
  return known;
}

}  // namespace loft::roof
