#include "roof/loop_time.hpp"

#include <algorithm>

#include "sample/repeat.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;

sample::Weight sum_of(const std::map<std::uint64_t, sample::Weight>& addresses) {
  sample::Weight sum;
  for (const auto& [address, weight] : addresses) sum += weight;
  return sum;
}

// The time of its function, by its share of the function's samples.
void set_time(const Subject& function, const sample::Weight& met, const sample::Weight& all,
              double frequency_hz, Subject& loop) {
  if (met.samples == 0 || all.period == 0) return;
  const double share = static_cast<double>(met.period) / static_cast<double>(all.period);
  loop.seconds = function.seconds * share;
  loop.share_of_time = function.share_of_time * share;
  loop.concurrency = function.concurrency;
  loop.origin = function.origin;
  loop.time_error = sample::share_error(std::min(1.0, loop.share_of_time), met.samples);
  set_cycles(frequency_hz, loop);
}

}  // namespace

AddressTimes addresses_of(const NativeProfile& native) {
  AddressTimes times;
  for (const sample::MetAddress& met : native.addresses)
    times[native.function(met.function)][met.address] += met.weight;
  return times;
}

sample::Weight weight_in(const std::map<std::uint64_t, sample::Weight>& addresses,
                         const std::vector<CodeRange>& code) {
  sample::Weight sum;
  for (const CodeRange& range : code)
    for (auto met = addresses.lower_bound(range.start);
         met != addresses.end() && met->first < range.end; ++met)
      sum += met->second;
  return sum;
}

void set_cycles(double frequency_hz, Subject& loop) {
  if (!loop.loop || loop.loop->iterations <= 0 || loop.seconds <= 0 || loop.time_is_shared) return;
  loop.loop->cycles = loop.seconds * loop.concurrency * frequency_hz / loop.loop->iterations;
}

void add_loop_subjects(const std::vector<LoopWork>& loops, const AddressTimes& times,
                       double frequency_hz, std::vector<Subject>& subjects) {
  std::map<FunctionKey, Subject> functions;
  double instructions = 0;
  for (const Subject& subject : subjects) {
    if (subject.scope == Scope::function)
      functions.try_emplace({subject.name, subject.binary}, subject);
    if (subject.scope == Scope::run && subject.work)
      instructions = subject.work->instructions.value_or(0);
  }
  for (const LoopWork& loop : loops) {
    Subject subject;
    subject.scope = Scope::loop;
    subject.name = loop.function.name;
    subject.binary = loop.function.binary;
    subject.work = loop.work;
    subject.loop = loop.facts;
    const auto function = functions.find(loop.function);
    const auto met = times.find(loop.function);
    if (function != functions.end() && met != times.end())
      set_time(function->second, weight_in(met->second, loop.code), sum_of(met->second),
               frequency_hz, subject);
    if (subject.share_of_time >= kLoopWorthAPoint ||
        loop.work.instructions.value_or(0) >= kLoopWorthAPoint * instructions)
      subjects.push_back(std::move(subject));
  }
}

}  // namespace loft::roof
