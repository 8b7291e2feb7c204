#include "model/roof_advice.hpp"

#include <fmt/format.h>

#include "model/verdict_advice.hpp"

namespace loft::model {
namespace {

// A point is at a roof when the low end of its 95 % interval reaches so much of it.
constexpr double kAtRoof = 0.85;

bool is_at_roof(const RoofPoint& point) {
  const bool is_sure = point.limit->verdict == Verdict::stable &&
                       point.limit->basis == RoofBasis::measured &&
                       point.subject.origin != sample::Origin::modelled;
  return is_sure && point.limit->share * (1 - point.subject.time_error) >= kAtRoof;
}

// Whether no other roof leaves room above this one.
bool is_top(const RoofPoint& point) {
  constexpr double kSame = 1.001;
  return point.limit->attainable * kSame >= point.attainable.value_or(0);
}

std::string position(const RoofPoint& point) {
  return fmt::format("{} is below {}, at {:.0f} % of it", point.subject.name,
                     point.limit->is_bandwidth ? "the line of " + point.limit->name
                                               : "the peak of " + point.limit->name,
                     point.limit->share * 100);
}

std::string advice_for(const RoofPoint& point, const Roofline& roofline) {
  const Limit& limit = *point.limit;
  const std::string& name = point.subject.name;
  if (is_at_roof(point) && limit.is_bandwidth && (is_top(point) || roofline.is_of_memory()))
    return fmt::format("{} moves bytes as fast as {} allows: fewer bytes will help.", name,
                       limit.name);
  if (is_at_roof(point) && !limit.is_bandwidth && roofline.work == RoofKind::instructions)
    return fmt::format("{} executes instructions as fast as the core issues them: fewer will help.",
                       name);
  if (is_at_roof(point) && !limit.is_bandwidth)
    return is_top(point)
               ? fmt::format("{} computes as fast as {} allows: fewer operations will help.", name,
                             limit.name)
               : fmt::format(
                     "{} computes as fast as {} allows: wider or fused instructions (vectorizing "
                     "it) have room above.",
                     name, limit.name);
  return position(point) + "; a roofline does not say what holds it back.";
}

// About the function that takes most of the time, or the run, if a model said what holds it back.
std::string advice_by_cause(const RoofChart& chart) {
  const RoofPoint* heaviest = nullptr;
  for (const RoofPoint& point : chart.points) {
    const Subject& subject = point.subject;
    if (subject.scope == Scope::run && subject.why) return advise("the whole run", *subject.why);
    if (subject.scope != Scope::function) continue;
    if (heaviest == nullptr || subject.seconds > heaviest->subject.seconds) heaviest = &point;
  }
  if (heaviest == nullptr || !heaviest->subject.why) return {};
  return advise(heaviest->subject.name, *heaviest->subject.why);
}

}  // namespace

std::string advice(const RoofChart& chart) {
  if (std::string by_cause = advice_by_cause(chart); !by_cause.empty()) return by_cause;
  const RoofPoint* run = nullptr;
  const RoofPoint* heaviest = nullptr;
  for (const RoofPoint& point : chart.points) {
    if (point.subject.scope == Scope::run && run == nullptr) run = &point;
    if (point.subject.scope != Scope::function || !point.limit) continue;
    if (heaviest == nullptr || point.subject.seconds > heaviest->subject.seconds) heaviest = &point;
  }
  if (run == nullptr || !run->subject.work) return {};
  const Work& work = *run->subject.work;
  if (chart.roofline.work == RoofKind::flops && work.has_hardly_any_flops())
    return "There is hardly any floating point in it: its roofline is that of instructions "
           "(--ops instructions).";
  const RoofPoint& subject = heaviest != nullptr ? *heaviest : *run;
  return subject.limit ? advice_for(subject, chart.roofline) : std::string();
}

}  // namespace loft::model
