#include "model/roofline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/at_the_roof.hpp"

namespace loft::model {
namespace {

struct Word {
  std::string_view key;
  std::string_view word;
};

constexpr std::array<Word, 7> kOps{{{"add", "ADD"},
                                    {"mul", "MUL"},
                                    {"muladd", "MUL + ADD"},
                                    {"fma", "FMA"},
                                    {"mixed", "FMA and ADD mixed"},
                                    {"div", "DIV"},
                                    {"sqrt", "SQRT"}}};
constexpr std::array<Word, 5> kWidths{{{"scalar", "scalar"},
                                       {"sse", "128 bit"},
                                       {"neon", "128 bit"},
                                       {"avx2", "256 bit"},
                                       {"avx512", "512 bit"}}};

template <std::size_t N>
std::string_view word_of(const std::array<Word, N>& words, std::string_view key) {
  for (const Word& each : words)
    if (each.key == key) return each.word;
  return key;
}

// What one kernel reaches with each number of threads it was measured with.
using Curve = std::map<int, const Roof*>;

bool is_same_kernel(const Roof& a, const Roof& b) {
  return a.kind == b.kind && a.isa == b.isa && a.precision == b.precision && a.op == b.op &&
         a.level == b.level;
}

// One curve per kernel, in the order of the file.
std::vector<Curve> curves_of(const Machine& machine) {
  std::vector<Curve> curves;
  for (const Roof& roof : machine.roofs) {
    if (roof.verdict == Verdict::unavailable) continue;
    auto curve = std::ranges::find_if(
        curves, [&](const Curve& each) { return is_same_kernel(*each.begin()->second, roof); });
    if (curve == curves.end()) curve = curves.emplace(curves.end());
    const Roof*& best = (*curve)[roof.threads];
    if (best == nullptr || roof.best > best->best) best = &roof;
  }
  return curves;
}

// The height of a roof for some number of threads.
struct Height {
  double value = 0;
  Verdict verdict = Verdict::stable;
  RoofBasis basis = RoofBasis::measured;
};

std::optional<Height> height_at(const Curve& curve, int threads) {
  const auto above = curve.lower_bound(threads);
  if (above == curve.end()) return std::nullopt;
  const Roof& upper = *above->second;
  if (upper.threads == threads) return Height{upper.best, upper.verdict, RoofBasis::measured};
  if (above == curve.begin()) return std::nullopt;
  const Roof& lower = *std::prev(above)->second;
  const double share =
      static_cast<double>(threads - lower.threads) / (upper.threads - lower.threads);
  return Height{lower.best + share * (upper.best - lower.best),
                std::max(lower.verdict, upper.verdict), RoofBasis::interpolated};
}

// The number of threads to show, with its measured neighbours.
void choose_threads(Roofline& roofline, const std::vector<Curve>& curves, int wanted) {
  std::set<int> measured;
  for (const Curve& curve : curves)
    for (const auto& [threads, roof] : curve) measured.insert(threads);
  roofline.threads = roofline.threads_below = roofline.threads_above = 0;
  if (measured.empty() || wanted < *measured.begin()) return;
  roofline.threads = std::min(wanted, *measured.rbegin());
  const auto above = measured.lower_bound(roofline.threads);
  roofline.threads_above = *above;
  roofline.threads_below = *above == roofline.threads ? *above : *std::prev(above);
}

// The best kernel of a level is its roof: usually two loads and a store, past the caches in DRAM.
// What was measured goes before what was interpolated, since the kernels that are worth it are
// measured.
void put_slope(std::vector<Slope>& slopes, const std::string& level, const Height& height) {
  const Slope slope{level, level + " bandwidth", height.value, height.verdict, height.basis};
  const auto same = std::ranges::find(slopes, level, &Slope::level);
  if (same == slopes.end()) {
    slopes.push_back(slope);
    return;
  }
  const bool is_better = slope.basis == same->basis
                             ? slope.bytes_per_second > same->bytes_per_second
                             : slope.basis == RoofBasis::measured;
  if (is_better) *same = slope;
}

// Division and square root are not roofs of a program that does other things too, unless it is
// known to divide.
bool is_ceiling(const Roof& roof, const RooflineChoice& choice) {
  if (roof.kind != choice.work) return false;
  // Multiplication bounds only what does little else, and nobody counts that.
  if (roof.kind == RoofKind::integer) return roof.op != "mul";
  if (roof.kind != RoofKind::flops) return true;
  if (roof.precision != choice.precision) return false;
  if (roof.op == "div" || roof.op == "sqrt") return choice.divides;
  return roof.op != "mul" && roof.op != "muladd";
}

}  // namespace

std::string peak_name(const Roof& roof) {
  if (roof.kind == RoofKind::instructions) return "instruction issue";
  if (roof.kind == RoofKind::integer)
    return "integer " + std::string(word_of(kOps, roof.op)) + ", " +
           std::string(word_of(kWidths, roof.isa));
  return std::string(word_of(kOps, roof.op)) + ", " + std::string(word_of(kWidths, roof.isa));
}

double Roofline::attainable(double intensity) const {
  if (slopes.empty() || ceilings.empty()) return 0;
  return std::min(ceilings.front().flops_per_second, slopes.front().bytes_per_second * intensity);
}

bool Roofline::is_of_memory() const { return slopes.size() == 1 && slopes.front().level == "DRAM"; }

double Roofline::ridge() const {
  if (slopes.empty() || ceilings.empty()) return 0;
  return ceilings.front().flops_per_second / slopes.front().bytes_per_second;
}

RoofBasis Roofline::basis() const {
  const auto is_interpolated = [](const auto& line) {
    return line.basis == RoofBasis::interpolated;
  };
  return std::ranges::any_of(slopes, is_interpolated) ||
                 std::ranges::any_of(ceilings, is_interpolated)
             ? RoofBasis::interpolated
             : RoofBasis::measured;
}

std::optional<Limit> Roofline::limit(double intensity, double flops_per_second) const {
  if (slopes.empty() || ceilings.empty() || !(intensity > 0)) return std::nullopt;
  const double top = attainable(intensity);
  std::optional<Limit> lowest;
  const auto consider = [&](const auto& line, double roof, bool is_bandwidth) {
    const bool above = roof * kAtTheRoof >= flops_per_second || roof >= top;
    if (!above || roof > top || (lowest && roof >= lowest->attainable)) return;
    lowest =
        Limit{line.name, roof, flops_per_second / roof, is_bandwidth, line.verdict, line.basis};
  };
  for (const Ceiling& ceiling : ceilings) consider(ceiling, ceiling.flops_per_second, false);
  for (const Slope& slope : slopes) consider(slope, slope.bytes_per_second * intensity, true);
  return lowest;
}

Roofline roofline_of(const Machine& machine, const RooflineChoice& choice) {
  Roofline roofline;
  const std::vector<Curve> curves = curves_of(machine);
  choose_threads(roofline, curves, choice.threads);
  roofline.precision = choice.precision;
  roofline.machine = machine.cpu;
  roofline.work = choice.work;
  for (const Curve& curve : curves) {
    const Roof& roof = *curve.begin()->second;
    const auto height = height_at(curve, roofline.threads);
    if (!height) continue;
    if (roof.kind == RoofKind::bandwidth)
      put_slope(roofline.slopes, roof.level, *height);
    else if (is_ceiling(roof, choice))
      roofline.ceilings.push_back(
          {roof.isa, roof.op, peak_name(roof), height->value, height->verdict, height->basis});
  }
  std::stable_sort(
      roofline.slopes.begin(), roofline.slopes.end(),
      [](const Slope& a, const Slope& b) { return a.bytes_per_second > b.bytes_per_second; });
  std::stable_sort(
      roofline.ceilings.begin(), roofline.ceilings.end(),
      [](const Ceiling& a, const Ceiling& b) { return a.flops_per_second > b.flops_per_second; });
  return roofline;
}

const char* to_string(RoofBasis basis) {
  return basis == RoofBasis::measured ? "measured" : "interpolated";
}

const char* ops_name(RoofKind work) {
  if (work == RoofKind::instructions) return "instructions";
  return work == RoofKind::integer ? "int" : "flops";
}

const char* ops_unit(RoofKind work) {
  if (work == RoofKind::instructions) return "instr";
  return work == RoofKind::integer ? "op" : "FLOP";
}

}  // namespace loft::model
