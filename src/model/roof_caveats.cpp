#include "model/roof_caveats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace loft::model {

std::vector<std::string> roof_caveats(const RoofChart& chart) {
  std::set<std::string> noisy;
  for (const RoofPoint& point : chart.points)
    if (point.limit && point.limit->verdict == Verdict::noisy) noisy.insert(point.limit->name);
  std::vector<std::string> caveats;
  if (!noisy.empty())
    caveats.push_back(fmt::format(
        "noisy when this machine was measured, and perhaps higher: {}; 'loft machine' on an idle "
        "machine measures again and keeps the better of each",
        join(std::vector<std::string>(noisy.begin(), noisy.end()), ", ")));
  const Roofline& roofline = chart.roofline;
  if (!chart.points.empty() && roofline.work != RoofKind::flops && roofline.ceilings.empty())
    caveats.push_back(fmt::format("the machine file has no roof of {}: 'loft machine' measures it",
                                  ops_name(roofline.work)));
  if (roofline.work == RoofKind::integer &&
      std::ranges::any_of(chart.points, [](const RoofPoint& point) {
        return point.subject.work && !point.subject.work->int_ops;
      }))
    caveats.emplace_back(
        "operations on integers were not counted: the virtual PMU does, which an older version of "
        "loft or counters of the machine do not");
  if (roofline.threads_below != roofline.threads_above)
    caveats.push_back(fmt::format("roofs of {} threads are interpolated between those of {} and {}",
                                  roofline.threads, roofline.threads_below,
                                  roofline.threads_above));
  return caveats;
}

}  // namespace loft::model
