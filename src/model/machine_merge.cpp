#include "model/machine_merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "model/machine_compare.hpp"

namespace loft::model {
namespace {

// Differences below this are what two good measurements of one thing differ by.
constexpr double kWorthTelling = 0.02;
constexpr std::size_t kMostTold = 5;

bool is_same_roof(const Roof& a, const Roof& b) {
  return a.kind == b.kind && a.isa == b.isa && a.precision == b.precision && a.op == b.op &&
         a.level == b.level && a.threads == b.threads && a.cpus == b.cpus;
}

void merge_roofs(const Machine& old, Merged& merged) {
  for (const Roof& before : old.roofs) {
    if (before.verdict == Verdict::unavailable) continue;
    std::vector<Roof>& roofs = merged.machine.roofs;
    const auto same =
        std::ranges::find_if(roofs, [&](const Roof& roof) { return is_same_roof(roof, before); });
    const bool is_known = same != roofs.end() && same->verdict != Verdict::unavailable;
    if (is_known && same->best >= before.best) continue;
    merged.kept.push_back(
        {describe(before), unit_of(before.kind), before.best, is_known ? same->best : 0});
    Roof kept = before;
    if (kept.when.empty()) kept.when = old.when;
    if (same == roofs.end())
      roofs.push_back(std::move(kept));
    else
      *same = std::move(kept);
  }
}

// Differences of two measurements: disturbance raises or lowers them.
constexpr std::string_view kDifferences[] = {"TLB_lat",
                                             "page_walk_cycles",
                                             "BR_miss_lat",
                                             "misprediction_cycles",
                                             "dtlb_second_latency_cycles",
                                             "load_after_atomic_cycles"};

// Whether the older of two measurements of equal verdict is the truer. Others make everything
// slower, and take entries of what is shared.
bool is_truer(const Constant& before, const Constant& now) {
  const std::string_view unit = now.unit;
  const bool is_rate = unit.ends_with("per_cycle") || unit.ends_with("per_second");
  if (std::ranges::find(kDifferences, now.name) != std::end(kDifferences))
    return before.spread < now.spread;
  if (unit == "cycles") return before.value < now.value;
  if (is_rate || unit == "entries") return before.value > now.value;
  if (unit == "bytes") return false;  // of the share of a cache the present one counts
  return before.spread < now.spread;
}

void merge_constants(const std::vector<Constant>& old, std::vector<Constant>& measured) {
  for (const Constant& before : old) {
    const auto same = std::ranges::find(measured, before.name, &Constant::name);
    if (same == measured.end())
      measured.push_back(before);
    else if (before.verdict < same->verdict ||
             (before.verdict == same->verdict && before.verdict != Verdict::unavailable &&
              before.unit == same->unit && is_truer(before, *same)))
      *same = before;
  }
}

double difference(const KeptRoof& roof) {
  return roof.measured > 0 ? roof.kept / roof.measured - 1 : 0;
}

}  // namespace

Merged merge(const Machine& old, Machine measured) {
  Merged merged;
  merged.roofs = static_cast<int>(measured.roofs.size());
  merged.machine = std::move(measured);
  merge_roofs(old, merged);
  merge_constants(old.constants, merged.machine.constants);
  merge_constants(old.core, merged.machine.core);
  std::ranges::stable_sort(merged.kept, std::ranges::greater(), difference);
  return merged;
}

std::vector<std::string> changes_since(const System& measured, const System& now) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* what, const std::string& before, const std::string& after) {
    if (!before.empty() && !after.empty() && before != after)
      changes.push_back(fmt::format("{} was {}, now {}", what, before, after));
  };
  const auto count = [](int cpus) { return cpus > 0 ? std::to_string(cpus) : std::string(); };
  compare("the CPU", measured.cpu, now.cpu);
  compare("the number of CPUs", count(measured.cpus), count(now.cpus));
  compare("the microcode", measured.microcode, now.microcode);
  compare("the kernel", measured.kernel, now.kernel);
  return changes;
}

std::string in_words(const Merged& merged, const std::string& when) {
  if (merged.kept.empty()) return {};
  std::string text = fmt::format(
      "{} roofs of {} were higher than now, or not measured now, and are kept; now {} were "
      "measured\n",
      merged.kept.size(), when, merged.roofs);
  std::size_t told = 0;
  for (const KeptRoof& roof : merged.kept) {
    if (difference(roof) < kWorthTelling || told == kMostTold) break;
    text += fmt::format("  {}: kept {}, now {}\n", roof.name, with_si_prefix(roof.kept, roof.unit),
                        with_si_prefix(roof.measured, roof.unit));
    ++told;
  }
  return text;
}

}  // namespace loft::model
