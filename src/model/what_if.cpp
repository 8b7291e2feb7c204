#include "model/what_if.hpp"

#include <algorithm>
#include <array>

namespace loft::model {
namespace {

constexpr double kLeast = 1.005;

// Whether the model's gains are those of the function as it was measured.
bool is_explained(const Subject& subject) {
  return subject.why &&
         (subject.why->outcome == Outcome::limited || subject.why->outcome == Outcome::balanced);
}

}  // namespace

WhatIf what_if_of(const std::vector<RoofPoint>& points) {
  WhatIf result;
  std::array<double, core::kCauses> saved{};  // share of the time
  for (const RoofPoint& point : points) {
    const Subject& subject = point.subject;
    if (subject.scope != Scope::function || !is_explained(subject)) continue;
    result.explained += subject.share_of_time;
    WhatIf::Function function{subject.name, subject.binary, subject.share_of_time, {}};
    for (const auto& [cause, gain] : subject.why->what_if) {
      if (!(gain > 1)) continue;
      saved[static_cast<std::size_t>(cause)] += subject.share_of_time * (1 - 1 / gain);
      function.gains.emplace_back(cause, gain);
    }
    if (!function.gains.empty()) result.functions.push_back(std::move(function));
  }
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const double left = 1 - std::min(saved[i], 0.999);
    if (1 / left >= kLeast) result.whole.emplace_back(static_cast<core::Cause>(i), 1 / left);
  }
  std::ranges::stable_sort(result.whole, std::ranges::greater(),
                           &std::pair<core::Cause, double>::second);
  std::ranges::stable_sort(result.functions, std::ranges::greater(),
                           &WhatIf::Function::share_of_time);
  return result;
}

}  // namespace loft::model
