#include "model/roof_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace loft::model {
namespace {

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

// An estimate of the time that makes a point faster than the machine is wrong.
bool is_impossible(const RoofPoint& point) {
  constexpr double kMeasured = 1.05;  // roofs have an error, too
  return point.subject.origin == sample::Origin::modelled && point.attainable.value_or(0) > 0 &&
         *point.flops_per_second > *point.attainable * kMeasured;
}

RoofPoint placed(const Machine& machine, Subject subject) {
  RoofPoint point;
  point.subject = std::move(subject);
  if (!point.subject.work) return point;
  const Work& work = *point.subject.work;
  Roofline roofline;
  if (work.flops() > 0 && work.bytes > 0) {
    roofline = roofline_of(machine, choice_of(point.subject));
    point.intensity = work.flops() / work.bytes;
    point.attainable = roofline.attainable(*point.intensity);
  }
  if (point.subject.seconds <= 0) return point;
  if (work.flops() <= 0) point.flops_per_second = 0;  // none are none, however long they took
  if (point.subject.time_is_shared) return point;
  point.flops_per_second = work.flops() / point.subject.seconds;
  point.bytes_per_second = work.bytes / point.subject.seconds;
  if (!point.intensity) return point;
  if (is_impossible(point)) {
    point.flops_per_second.reset();
    point.bytes_per_second.reset();
    return point;
  }
  drop_lesser_ceilings(roofline, work);
  point.limit = roofline.limit(*point.intensity, *point.flops_per_second);
  return point;
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
    sum.time_is_shared = sum.time_is_shared || part.time_is_shared;
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
  flops_x87 += other.flops_x87;
  return *this;
}

Work Work::scaled_by(double factor) const {
  const FlopsByWidth by_width{widths.scalar * factor, widths.bits128 * factor,
                              widths.bits256 * factor, widths.bits512 * factor};
  Work scaled{flops_sp * factor, flops_dp * factor,  bytes * factor,    instructions,
              by_width,          flops_fma * factor, flops_x87 * factor};
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

const char* to_string(Scope scope) {
  constexpr std::array kNames{"run", "thread", "function", "slice"};
  return kNames[static_cast<std::size_t>(scope)];
}

}  // namespace loft::model
