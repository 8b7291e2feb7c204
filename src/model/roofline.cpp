#include "model/roofline.hpp"

#include <algorithm>
#include <array>

namespace loft::model {
namespace {

struct Word {
  std::string_view key;
  std::string_view word;
};

// Roofs and points are measured, both with an error: a point so far above a roof is still at it.
constexpr double kAtTheRoof = 1.05;

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

// The largest thread count of this kind of roof that is not above the one asked for. Two groups of
// CPUs can have the same count (siblings of one core, or two cores): the first measured counts.
int nearest_threads(const Machine& machine, int threads) {
  int nearest = 0;
  for (const Roof& roof : machine.roofs)
    if (roof.threads <= threads && roof.verdict != Verdict::unavailable)
      nearest = std::max(nearest, roof.threads);
  return nearest;
}

// Division and square root are not roofs of a program that does other things too.
bool is_ceiling(const Roof& roof) {
  return roof.op != "div" && roof.op != "sqrt" && roof.op != "mul" && roof.op != "muladd";
}

}  // namespace

std::string peak_name(const Roof& roof) {
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

std::optional<Limit> Roofline::limit(double intensity, double flops_per_second) const {
  if (slopes.empty() || ceilings.empty() || !(intensity > 0)) return std::nullopt;
  const double top = attainable(intensity);
  std::optional<Limit> lowest;
  const auto consider = [&](const std::string& name, double roof, bool is_bandwidth) {
    const bool above = roof * kAtTheRoof >= flops_per_second || roof >= top;
    if (!above || roof > top || (lowest && roof >= lowest->attainable)) return;
    lowest = Limit{name, roof, flops_per_second / roof, is_bandwidth};
  };
  for (const Ceiling& ceiling : ceilings) consider(ceiling.name, ceiling.flops_per_second, false);
  for (const Slope& slope : slopes) consider(slope.name, slope.bytes_per_second * intensity, true);
  return lowest;
}

Roofline roofline_of(const Machine& machine, const RooflineChoice& choice) {
  Roofline roofline;
  roofline.threads = nearest_threads(machine, choice.threads);
  roofline.precision = choice.precision;
  roofline.machine = machine.cpu;
  CpuList cpus;
  for (const Roof& roof : machine.roofs) {
    if (roof.threads != roofline.threads || roof.verdict == Verdict::unavailable) continue;
    if (cpus.empty()) cpus = roof.cpus;
    if (roof.cpus != cpus) continue;
    if (roof.kind == RoofKind::flops) {
      if (roof.precision == choice.precision && is_ceiling(roof))
        roofline.ceilings.push_back({roof.isa, roof.op, peak_name(roof), roof.best, roof.verdict});
      continue;
    }
    // The best of a level is its roof: usually two loads and a store, past the caches in DRAM.
    const auto same = std::find_if(roofline.slopes.begin(), roofline.slopes.end(),
                                   [&](const Slope& slope) { return slope.level == roof.level; });
    if (same == roofline.slopes.end())
      roofline.slopes.push_back({roof.level, roof.level + " bandwidth", roof.best, roof.verdict});
    else if (roof.best > same->bytes_per_second)
      *same = {roof.level, roof.level + " bandwidth", roof.best, roof.verdict};
  }
  std::stable_sort(
      roofline.slopes.begin(), roofline.slopes.end(),
      [](const Slope& a, const Slope& b) { return a.bytes_per_second > b.bytes_per_second; });
  std::stable_sort(
      roofline.ceilings.begin(), roofline.ceilings.end(),
      [](const Ceiling& a, const Ceiling& b) { return a.flops_per_second > b.flops_per_second; });
  return roofline;
}

}  // namespace loft::model
