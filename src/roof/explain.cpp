// From the model's account to verdicts on what was measured: roof/why.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "roof/why.hpp"

namespace loft::roof {
namespace {

using model::TimedPart;

// Another place of its data must change the time of a function by so much, to be tried.
constexpr double kOpen = 1.05;
// The name of all code of the kernel.
constexpr std::string_view kKernel = "[kernel]";
// A run that waits, or is in the kernel, for more of its time is limited by that.
constexpr double kMuch = 0.5;

// How far a model's time is from the measured one, in either direction.
double distance(const model::Why& why) { return std::abs(std::log(why.explains.value_or(0))); }

// What was learned in earlier pieces of the run may have been forgotten between them. The measured
// time tells: whichever is nearer to it.
model::Why judge_learned(const Account& account, const FunctionKey& key, const TimedPart& part,
                         const model::MeasuredPart& measured) {
  model::Why why = model::judge(part, measured);
  const auto found = account.relearned.find(key);
  if (found == account.relearned.end() || found->second.cycles <= kOpen * part.cycles) return why;
  model::Why anew = model::judge(found->second, measured);
  return distance(anew) < distance(why) ? anew : why;
}

// Where the model does not explain the time, data that the warm-up did not see may have been nearer
// than it takes them to be, or still in L3 though others evict much of it: if that explains the
// time, it is what happened.
model::Why judge(const Account& account, const FunctionKey& key, const TimedPart& part,
                 const model::MeasuredPart& measured) {
  model::Why why = judge_learned(account, key, part, measured);
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
