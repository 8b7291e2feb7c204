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

void drop(Roofline& roofline, std::string_view op) {
  std::erase_if(roofline.ceilings, [&](const Ceiling& ceiling) { return ceiling.op == op; });
}

// The peak of an operation bounds only what does little else.
bool mostly_divides(const Work& work) { return work.flops_div * 2 > work.flops(); }
bool mostly_takes_roots(const Work& work) { return work.flops_sqrt * 2 > work.flops(); }

// Peaks of narrower instructions than those in use bound nothing, nor do those of additions what
// mostly multiplies and adds at once, nor does division what takes roots.
void drop_lesser_ceilings(Roofline& roofline, const Work& work) {
  if (roofline.work != RoofKind::flops) return;
  if (!mostly_divides(work)) drop(roofline, "div");
  if (!mostly_takes_roots(work)) drop(roofline, "sqrt");
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

RooflineChoice choice_of(const Subject& subject, RoofKind ops) {
  RooflineChoice choice;
  choice.work = ops;
  choice.divides =
      subject.work && (mostly_divides(*subject.work) || mostly_takes_roots(*subject.work));
  choice.threads = std::max(1, static_cast<int>(std::lround(subject.concurrency)));
  const bool is_single = subject.work && subject.work->flops_sp > subject.work->flops_dp;
  choice.precision = is_single ? "sp" : "dp";
  return choice;
}

// An estimate of the time that makes a point faster than the machine is wrong: a model's, or one of
// few samples, where the interval of the time also holds one at which the roof is kept.
bool is_impossible(const RoofPoint& point) {
  constexpr double kMeasured = 1.05;  // roofs have an error, too
  const double most = point.attainable.value_or(0) * kMeasured;
  if (most <= 0 || *point.ops_per_second <= most) return false;
  return point.subject.origin == sample::Origin::modelled ||
         *point.ops_per_second <= most * (1 + point.subject.time_error);
}

RoofPoint placed(const Machine& machine, Subject subject, RoofKind ops) {
  RoofPoint point;
  point.subject = std::move(subject);
  if (!point.subject.work) return point;
  const Work& work = *point.subject.work;
  const std::optional<double> done = work.ops(ops);
  Roofline roofline;
  if (done.value_or(0) > 0 && work.bytes > 0) {
    roofline = roofline_of(machine, choice_of(point.subject, ops));
    point.intensity = *done / work.bytes;
    point.attainable = roofline.attainable(*point.intensity);
  }
  const bool has_rate = point.subject.seconds > 0 && !point.subject.time_is_shared;
  point.levels =
      level_points(roofline, work.bytes, work.levels, done, has_rate ? point.subject.seconds : 0);
  if (point.subject.seconds <= 0) return point;
  if (work.flops() <= 0) point.flops_per_second = 0;  // none are none, however long they took
  if (done && *done <= 0) point.ops_per_second = 0;
  if (point.subject.time_is_shared) return point;
  point.flops_per_second = work.flops() / point.subject.seconds;
  if (done) point.ops_per_second = *done / point.subject.seconds;
  point.bytes_per_second = work.bytes / point.subject.seconds;
  if (!point.intensity) return point;
  if (is_impossible(point)) {
    point.ops_per_second.reset();
    point.flops_per_second.reset();
    point.bytes_per_second.reset();
    point.levels.clear();
    return point;
  }
  drop_lesser_ceilings(roofline, work);
  point.limit = point.levels.empty() ? roofline.limit(*point.intensity, *point.ops_per_second)
                                     : level_limit(roofline, point.levels, *point.ops_per_second);
  return point;
}

// What the run is about, as far as this machine has roofs for it.
RoofKind fitting_ops(const Machine& machine, const Subject& run) {
  const bool is_measured = std::ranges::any_of(machine.roofs, [](const Roof& roof) {
    return roof.kind == RoofKind::instructions && roof.verdict != Verdict::unavailable;
  });
  return is_measured && run.work && run.work->has_hardly_any_flops() ? RoofKind::instructions
                                                                     : RoofKind::flops;
}

// The roofs of the run, with the dividers that any of its longer functions stands under.
Roofline roofline_of_run(const Machine& machine, const Subject& run,
                         const std::vector<Subject>& subjects, RoofKind ops) {
  constexpr double kLong = 0.1;  // of the time
  const auto any = [&](const auto& does) {
    return std::ranges::any_of(subjects, [&](const Subject& each) {
      return (each.scope == Scope::run || each.share_of_time >= kLong) && each.work &&
             does(*each.work);
    });
  };
  const bool divides = any(mostly_divides);
  const bool takes_roots = any(mostly_takes_roots);
  RooflineChoice choice = choice_of(run, ops);
  choice.divides = divides || takes_roots;
  Roofline roofline = roofline_of(machine, choice);
  if (!divides) drop(roofline, "div");
  if (!takes_roots) drop(roofline, "sqrt");
  return roofline;
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

bool Work::is_empty() const { return flops() == 0 && bytes == 0 && instructions == 0.0; }

Work& Work::operator+=(const Work& other) {
  if (is_empty())
    levels = other.levels;
  else if (!other.is_empty())
    levels += other.levels;
  flops_sp += other.flops_sp;
  flops_dp += other.flops_dp;
  bytes += other.bytes;
  const auto add = [](std::optional<double>& sum, std::optional<double> part) {
    if (sum && part)
      *sum += *part;
    else
      sum.reset();  // a sum that lacks a part would be a wrong number
  };
  add(instructions, other.instructions);
  add(int_ops, other.int_ops);
  widths.scalar += other.widths.scalar;
  widths.bits128 += other.widths.bits128;
  widths.bits256 += other.widths.bits256;
  widths.bits512 += other.widths.bits512;
  flops_fma += other.flops_fma;
  flops_x87 += other.flops_x87;
  flops_div += other.flops_div;
  flops_sqrt += other.flops_sqrt;
  return *this;
}

Work Work::scaled_by(double factor) const {
  const FlopsByWidth by_width{widths.scalar * factor, widths.bits128 * factor,
                              widths.bits256 * factor, widths.bits512 * factor};
  Work scaled{flops_sp * factor, flops_dp * factor,  bytes * factor,    instructions,
              by_width,          flops_fma * factor, flops_x87 * factor};
  scaled.flops_div = flops_div * factor;
  scaled.flops_sqrt = flops_sqrt * factor;
  scaled.levels = levels.scaled_by(factor);
  scaled.int_ops = int_ops;
  if (scaled.instructions) *scaled.instructions *= factor;
  if (scaled.int_ops) *scaled.int_ops *= factor;
  return scaled;
}

std::optional<double> Work::ops(RoofKind kind) const {
  if (kind == RoofKind::flops) return flops();
  if (kind == RoofKind::integer) return int_ops;
  return kind == RoofKind::instructions ? instructions : std::nullopt;
}

bool Work::has_hardly_any_flops() const {
  constexpr double kHardlyAny = 0.001;  // of the instructions
  return instructions && flops() < kHardlyAny * *instructions;
}

RoofChart place(const Machine& machine, std::vector<Subject> subjects, std::size_t top,
                std::optional<RoofKind> asked) {
  RoofChart chart;
  const auto run = std::ranges::find(subjects, Scope::run, &Subject::scope);
  const bool has_run = run != subjects.end();
  const RoofKind ops = asked ? *asked : has_run ? fitting_ops(machine, *run) : RoofKind::flops;
  if (has_run) chart.roofline = roofline_of_run(machine, *run, subjects, ops);
  const auto functions = by_time(subjects, Scope::function);
  if (functions.size() > top) {
    const auto rest = std::span(functions).subspan(top);
    Subject others = together(subjects, rest, fmt::format("({} others)", rest.size()));
    chart.others = placed(machine, std::move(others), ops);
  }
  chart.shown.assign(functions.begin(), functions.begin() + static_cast<std::ptrdiff_t>(
                                                                std::min(top, functions.size())));
  for (Subject& subject : subjects)
    chart.points.push_back(placed(machine, std::move(subject), ops));
  // Where levels count, bytes of the core alone say nothing about which of them holds back.
  const bool has_levels = std::ranges::any_of(
      chart.points, [](const RoofPoint& point) { return !point.levels.empty(); });
  if (has_levels)
    for (RoofPoint& point : chart.points)
      if (point.levels.empty()) point.limit.reset();
  return chart;
}

std::string name_of(const LoopFacts& loop) {
  return loop.lines.empty() ? fmt::format("+{:#x}", loop.offset) : loop.lines;
}

const char* to_string(Scope scope) {
  constexpr std::array kNames{"run", "thread", "function", "slice", "loop", "region"};
  return kNames[static_cast<std::size_t>(scope)];
}

}  // namespace loft::model
