#include "model/roof_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace loft::model {
namespace {

// A point that reaches so much of a roof hangs under it; one far below is held back by something
// that no roof shows.
constexpr double kAtRoof = 0.7;
constexpr double kFarBelow = 0.4;
// Floating point that takes less of the instructions than this is not what a program is about.
constexpr double kHardlyAny = 0.001;

int width_of(std::string_view isa) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kWidths{
      {{"scalar", 64}, {"sse", 128}, {"neon", 128}, {"avx2", 256}, {"sve", 512}, {"avx512", 512}}};
  for (const auto& [name, width] : kWidths)
    if (name == isa) return width;
  return 64;
}

// The widest instructions that do at least half of the operations, they or wider ones.
int used_width(const FlopsByWidth& widths) {
  const double all = widths.scalar + widths.bits128 + widths.bits256 + widths.bits512;
  double wider = widths.bits512;
  if (wider * 2 > all) return 512;
  wider += widths.bits256;
  if (wider * 2 > all) return 256;
  wider += widths.bits128;
  return wider * 2 > all ? 128 : 64;
}

// Peaks of narrower instructions than those in use bound nothing, nor do those of additions what
// mostly multiplies and adds at once.
void drop_lesser_ceilings(Roofline& roofline, const Work& work) {
  int widest = 0;
  for (const Ceiling& ceiling : roofline.ceilings) widest = std::max(widest, width_of(ceiling.isa));
  const int width = std::min(used_width(work.widths), widest);
  const bool fuses = work.flops_fma * 2 > work.flops();
  const auto is_lesser = [&](const Ceiling& ceiling) {
    return width_of(ceiling.isa) < width || (fuses && ceiling.op == "add");
  };
  if (!std::ranges::all_of(roofline.ceilings, is_lesser))
    std::erase_if(roofline.ceilings, is_lesser);
}

RooflineChoice choice_of(const Subject& subject) {
  RooflineChoice choice;
  choice.threads = std::max(1, static_cast<int>(std::lround(subject.concurrency)));
  const bool is_single = subject.work && subject.work->flops_sp > subject.work->flops_dp;
  choice.precision = is_single ? "sp" : "dp";
  return choice;
}

RoofPoint placed(const Machine& machine, Subject subject) {
  RoofPoint point;
  if (subject.work && subject.seconds > 0) {
    const Work& work = *subject.work;
    point.flops_per_second = work.flops() / subject.seconds;
    point.bytes_per_second = work.bytes / subject.seconds;
    if (work.flops() > 0 && work.bytes > 0) {
      point.intensity = work.flops() / work.bytes;
      Roofline roofline = roofline_of(machine, choice_of(subject));
      drop_lesser_ceilings(roofline, work);
      point.limit = roofline.limit(*point.intensity, *point.flops_per_second);
    }
  }
  point.subject = std::move(subject);
  return point;
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string advice_for(const RoofPoint& point, const Roofline& roofline) {
  const Subject& subject = point.subject;
  const int width = used_width(subject.work->widths);
  const int widest = roofline.ceilings.empty() ? 64 : width_of(roofline.ceilings.front().isa);
  if (point.limit->share >= kAtRoof && point.limit->is_bandwidth)
    return fmt::format("{} is at its roof ({}): fewer bytes, not faster code, will help.",
                       subject.name, point.limit->name);
  const bool may_widen = !point.limit->is_bandwidth || point.limit->share < kFarBelow;
  if (width < widest && may_widen)
    return fmt::format(
        "{} does most of its floating point {}: vectorizing it is the next thing to look at.",
        subject.name, width == 64 ? "one number at a time" : fmt::format("{} bits wide", width));
  if (point.limit->share >= kAtRoof)
    return fmt::format("{} is at its roof ({}): fewer operations, not faster code, will help.",
                       subject.name, point.limit->name);
  if (point.limit->share < kFarBelow)
    return fmt::format(
        "{} is far below every roof: look for dependent operations, divisions, mispredicted "
        "branches and waiting for memory.",
        subject.name);
  return fmt::format("{} reaches {} of the {} roof: {}.", subject.name, percent(point.limit->share),
                     point.limit->name,
                     point.limit->is_bandwidth ? "use each byte more often, or wait less for it"
                                               : "there is room up to it");
}

// Those that took any time, longest first.
std::vector<std::size_t> by_time(const std::vector<Subject>& subjects, Scope scope) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    if (subjects[i].scope == scope && subjects[i].seconds > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return subjects[i].seconds; });
  return order;
}

Subject together(const std::vector<Subject>& subjects, std::span<const std::size_t> chosen,
                 std::string name) {
  Subject sum;
  sum.scope = Scope::function;
  sum.name = std::move(name);
  sum.origin = sample::Origin::scaled;
  sum.work = Work{};
  double weighted = 0;
  for (const std::size_t i : chosen) {
    const Subject& part = subjects[i];
    if (part.work && sum.work)
      *sum.work += *part.work;
    else
      sum.work.reset();  // a sum that lacks a part would be a wrong number
    sum.origin = std::max(sum.origin, part.origin);
    sum.work_origin = std::max(sum.work_origin, part.work_origin);
    sum.seconds += part.seconds;
    sum.share_of_time += part.share_of_time;
    weighted += part.seconds * part.concurrency;
  }
  if (sum.seconds > 0) sum.concurrency = weighted / sum.seconds;
  return sum;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  flops_sp += other.flops_sp;
  flops_dp += other.flops_dp;
  bytes += other.bytes;
  if (instructions && other.instructions)
    *instructions += *other.instructions;
  else
    instructions.reset();  // a sum that lacks a part would be a wrong number
  widths.scalar += other.widths.scalar;
  widths.bits128 += other.widths.bits128;
  widths.bits256 += other.widths.bits256;
  widths.bits512 += other.widths.bits512;
  flops_fma += other.flops_fma;
  return *this;
}

Work Work::scaled_by(double factor) const {
  const FlopsByWidth by_width{widths.scalar * factor, widths.bits128 * factor,
                              widths.bits256 * factor, widths.bits512 * factor};
  Work scaled{flops_sp * factor, flops_dp * factor, bytes * factor,
              instructions,      by_width,          flops_fma * factor};
  if (scaled.instructions) *scaled.instructions *= factor;
  return scaled;
}

RoofChart place(const Machine& machine, std::vector<Subject> subjects, std::size_t top) {
  RoofChart chart;
  const auto run = std::ranges::find(subjects, Scope::run, &Subject::scope);
  if (run != subjects.end()) chart.roofline = roofline_of(machine, choice_of(*run));
  const auto functions = by_time(subjects, Scope::function);
  if (functions.size() > top) {
    const auto rest = std::span(functions).subspan(top);
    Subject others = together(subjects, rest, fmt::format("({} others)", rest.size()));
    chart.others = placed(machine, std::move(others));
  }
  chart.shown.assign(functions.begin(), functions.begin() + static_cast<std::ptrdiff_t>(
                                                                std::min(top, functions.size())));
  for (Subject& subject : subjects) chart.points.push_back(placed(machine, std::move(subject)));
  return chart;
}

std::string advice(const RoofChart& chart) {
  const RoofPoint* run = nullptr;
  const RoofPoint* heaviest = nullptr;
  for (const RoofPoint& point : chart.points) {
    if (point.subject.scope == Scope::run && run == nullptr) run = &point;
    if (point.subject.scope != Scope::function || !point.limit) continue;
    if (heaviest == nullptr || point.subject.seconds > heaviest->subject.seconds) heaviest = &point;
  }
  if (run == nullptr || !run->subject.work) return {};
  const Work& work = *run->subject.work;
  if (work.instructions && work.flops() < kHardlyAny * *work.instructions)
    return "There is hardly any floating point in it: a roofline says little here; "
           "'loft record' and 'loft report' show where the time goes.";
  const RoofPoint& subject = heaviest != nullptr ? *heaviest : *run;
  return subject.limit ? advice_for(subject, chart.roofline) : std::string();
}

const char* to_string(Scope scope) {
  constexpr std::array kNames{"run", "thread", "function", "slice"};
  return kNames[static_cast<std::size_t>(scope)];
}

}  // namespace loft::model
