#include "source/calls/energy_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace loft::source::calls {
namespace {

constexpr double kMicrojoule = 1e-6;
constexpr int kFewestSteps = 2;  // of the meter, in a call

}  // namespace

Result<EnergyCourse> EnergyCourse::open(const SystemRoot& root) {
  EnergyCourse course;
  course.gauges_ = energy::Gauges::open(root);
  std::vector<std::string> names;
  const auto take = [&](bool packages) {
    for (std::size_t i = 0; i < course.gauges_.size() && (packages || names.empty()); ++i) {
      const std::string& name = course.gauges_.name(i);
      if (course.gauges_.is_power(i) || course.gauges_.is_gpu(i)) continue;
      if (packages && name.find("package") == std::string::npos) continue;
      course.used_.push_back(i);
      names.push_back(name);
    }
  };
  take(true);
  if (names.empty()) take(false);
  if (names.empty())
    return failure(ErrorKind::unsupported, "measure the energy of calls",
                   "this machine has no meter of energy that this user may read",
                   "'loft power' says what there is; leave out -e energy");
  course.name_ = join(names, ", ");
  course.sample(now());
  return course;
}

void EnergyCourse::sample(Nanoseconds at) {
  const auto readings = gauges_.advance(at);
  double more = 0;
  for (const std::size_t gauge : used_) {
    is_known_ = is_known_ && readings[gauge].has_value();
    more += readings[gauge].value_or(0);
  }
  joules_ += more;
  if (more > 0 || steps_.empty()) steps_.push_back({at, joules_});
}

Nanoseconds EnergyCourse::shortest() const {
  if (steps_.size() < 2) return Nanoseconds::max();
  const auto steps = static_cast<std::int64_t>(steps_.size() - 1);
  return kFewestSteps * (steps_.back().at - steps_.front().at) / steps;
}

double EnergyCourse::joules_at(Nanoseconds time) const {
  const auto after = std::ranges::lower_bound(steps_, time, {}, &Step::at);
  if (after == steps_.begin()) return after->joules;
  const Step& before = *std::prev(after);
  const double share = static_cast<double>((time - before.at).count()) /
                       static_cast<double>((after->at - before.at).count());
  return before.joules + share * (after->joules - before.joules);
}

std::optional<double> EnergyCourse::between(Nanoseconds begin, Nanoseconds end) const {
  if (!is_known_ || steps_.size() < 2 || begin < steps_.front().at || end > steps_.back().at ||
      end - begin < shortest())
    return std::nullopt;
  return joules_at(end) - joules_at(begin);
}

void add_energy(sample::CallRun& run, const EnergyCourse& course) {
  const std::size_t before = run.quantities.size();
  const auto widen = [&](const std::vector<sample::CallValue>& values) {
    std::vector<sample::CallValue> wider;
    for (std::size_t i = 0; i < values.size(); ++i) {
      wider.push_back(values[i]);
      if (i % before == before - 1) wider.push_back(sample::kUnknownValue);
    }
    return wider;
  };
  run.values = widen(run.values);
  run.node_values = widen(run.node_values);
  run.quantities.push_back({"energy", "J", kMicrojoule, sample::Origin::modelled, false});
  for (sample::CallStatistics& statistics : run.statistics) statistics.of.resize(before + 1);
  std::uint64_t too_short = 0;
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    const sample::KeptCall& call = run.calls[i];
    const auto joules =
        course.between(run.clock.time_of(call.begin), run.clock.time_of(call.begin + call.ticks));
    too_short += joules ? 0 : 1;
    if (!joules) continue;
    sample::CallValue* values = run.values.data() + i * (before + 1);
    const auto microjoules = static_cast<std::uint64_t>(std::llround(*joules / kMicrojoule));
    const double own = static_cast<double>(values[0].self) /
                       static_cast<double>(std::max<std::uint64_t>(1, values[0].value));
    values[before] = {microjoules,
                      static_cast<std::uint64_t>(static_cast<double>(microjoules) * own)};
    run.statistics[call.function].of[before].add(microjoules, values[before].self,
                                                 (call.flags & sample::kRecursive) == 0);
  }
  run.notes.push_back(
      fmt::format("energy is that of the whole machine ({}) during a call; its own part is by time",
                  course.name()));
  if (too_short != 0)
    run.notes.push_back(
        fmt::format("energy is not known of {} of {} single calls: {}", too_short, run.calls.size(),
                    course.shortest() == Nanoseconds::max()
                        ? std::string("the meter did not move")
                        : fmt::format("it takes {:.1f} ms to tell, by the steps of the meter",
                                      static_cast<double>(course.shortest().count()) / 1e6)));
}

}  // namespace loft::source::calls
