#include "source/virtual/sampled_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.hpp"
#include "source/virtual/ratio_estimate.hpp"

namespace loft::source::virtual_pmu {
namespace {

// Where more than this of a count depends on lines that were not seen, there is none.
constexpr double kMostUnknown = 0.25;

constexpr double kMostPerInstruction = 2;

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

template <class Part>
bool is_of(const SampledCounts::Key& key, const Part& part) {
  return (!key.slot || *key.slot == part.slot) && (!key.part || *key.part == part.part);
}

}  // namespace

SampledCounts::SampledCounts(const std::vector<ModelWindow>& windows, const PartOf& part_of,
                             std::vector<Executed> executed)
    : executed_(std::move(executed)) {
  for (const ModelWindow& window : windows) add(window, part_of);
  weigh(windows);
}

void SampledCounts::add(const ModelWindow& window, const PartOf& part_of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cell> cells;
  for (const ModelWindow::Row& row : window.rows) {
    const std::uint32_t part = part_of(row.block);
    Cell& cell = cells[{row.slot, part}];
    cell.slot = row.slot;
    cell.part = part;
    cell.instructions += static_cast<double>(row.instructions);
    cell.counts.resize(row.counts.size());
    for (std::size_t i = 0; i < row.counts.size(); ++i)
      cell.counts[i] += static_cast<double>(row.counts[i]);
  }
  Window& kept = windows_.emplace_back();
  for (auto& [place, cell] : cells) kept.cells.push_back(std::move(cell));
}

// Each window stands for the instructions from halfway to the window before it to halfway to the
// next: they are placed by time, and a second may have many instructions or few.
void SampledCounts::weigh(const std::vector<ModelWindow>& windows) {
  double total = 0;
  for (const Executed& each : executed_) total += static_cast<double>(each.instructions);
  double begin = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].is_start) {
      begin = static_cast<double>(windows[i].instructions);
      continue;
    }
    const double end = i + 1 < windows.size() ? (static_cast<double>(windows[i].position) +
                                                 static_cast<double>(windows[i + 1].position)) /
                                                    2
                                              : total;
    const double seen = static_cast<double>(windows[i].instructions);
    windows_[i].weight = std::max(end - begin, seen) / seen;
    begin = std::max(begin, end);
  }
}

sample::Count SampledCounts::of(const Key& key, std::size_t event, double grain) const {
  double executed = 0, surely = 0, perhaps = 0;
  for (const Executed& each : executed_)
    if (is_of(key, each)) executed += static_cast<double>(each.instructions);
  std::vector<WindowPart> seen;
  for (const Window& window : windows_) {
    WindowPart part{.weight = window.weight};
    for (const Cell& cell : window.cells) {
      if (!is_of(key, cell)) continue;
      part.instructions += cell.instructions;
      part.surely += cell.counts[2 * event];
      part.perhaps += cell.counts[2 * event + 1];
    }
    if (window.weight > 0) {
      if (part.instructions > 0) seen.push_back(part);
      continue;
    }
    executed -= part.instructions;
    surely += part.surely;
    perhaps += part.perhaps;
  }
  if (executed <= 0) return {sample::Origin::modelled, whole(surely), {}, {}, {}, {}};
  const auto rest = estimate(seen, executed, grain);
  // Nearly all of it was in the first window: an instruction is taken to do two such things at
  // most.
  const double most = perhaps + kMostPerInstruction * grain * executed;
  if (!rest && most - surely <= kMostUnknown * most)
    return {sample::Origin::modelled,
            whole(surely),
            {},
            {},
            {},
            sample::Range{surely, most, (most - surely) / most}};
  if (!rest)
    return sample::Count::missing(
        fmt::format("seen in {} of {} windows, too few for an estimate: give --model full",
                    seen.size(), windows_.size()));
  surely += rest->surely;
  const double low = std::max(0.0, surely - rest->surely + rest->low);
  const double high = perhaps + rest->high;
  perhaps += rest->perhaps;
  const double unknown = perhaps > 0 ? (perhaps - surely) / perhaps : 0;
  if (unknown > kMostUnknown)
    return sample::Count::missing(
        fmt::format("between {} and {}: {:.0f} % depends on lines that no warm-up saw; give "
                    "--model full",
                    with_separators(whole(low)), with_separators(whole(high)), 100 * unknown));
  return {sample::Origin::modelled, whole(surely), {}, {}, {}, sample::Range{low, high, unknown}};
}

}  // namespace loft::source::virtual_pmu
