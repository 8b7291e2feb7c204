#include "sample/repeat.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace loft::sample {
namespace {

Nanoseconds mean_time(const std::vector<RunCounts>& runs, Nanoseconds (*time)(const RunCounts&)) {
  Nanoseconds sum{};
  for (const RunCounts& run : runs) sum += time(run);
  return sum / static_cast<Nanoseconds::rep>(runs.size());
}

// The least trustworthy origin wins: one scaled run makes the mean scaled.
Origin weaker(Origin a, Origin b) { return std::max(a, b); }

CountedEvent merge_event(const std::vector<RunCounts>& runs, std::size_t index) {
  CountedEvent merged = runs.front().events[index];
  std::vector<double> values;
  for (const RunCounts& run : runs) {
    const Count& count = run.events[index].total;
    if (!count.is_available()) {
      merged.total = count;
      return merged;
    }
    values.push_back(count.value());
    if (&run == &runs.front()) continue;
    merged.total.origin = weaker(merged.total.origin, count.origin);
    merged.total.enabled += count.enabled;
    merged.total.running += count.running;
  }
  merged.spread = spread_of(values);
  const double raw = merged.total.origin == Origin::scaled
                         ? merged.spread->mean * merged.total.running_share()
                         : merged.spread->mean;
  merged.total.raw = static_cast<std::uint64_t>(std::llround(raw));
  return merged;
}

// What all runs have in common, and their times; no events.
RunCounts frame_of(const std::vector<RunCounts>& runs) {
  RunCounts merged;
  merged.command = runs.front().command;
  merged.source = runs.front().source;
  merged.target = runs.front().target;
  merged.notes = runs.back().notes;
  std::vector<double> walls;
  for (const RunCounts& run : runs) {
    walls.push_back(to_seconds(run.wall));
    if (run.exit_status != 0) merged.exit_status = run.exit_status;
  }
  merged.wall_spread = spread_of(walls);
  merged.wall = mean_time(runs, [](const RunCounts& run) { return run.wall; });
  if (runs.front().user) {
    merged.user =
        mean_time(runs, [](const RunCounts& run) { return run.user.value_or(Nanoseconds{}); });
    merged.system =
        mean_time(runs, [](const RunCounts& run) { return run.system.value_or(Nanoseconds{}); });
  }
  return merged;
}

const CountedEvent* find_event(const RunCounts& run, std::string_view name) {
  const auto found = std::ranges::find(run.events, name, &CountedEvent::name);
  return found == run.events.end() ? nullptr : &*found;
}

const Count* instructions_of(const RunCounts& run) {
  for (const CountedEvent& event : run.events)
    if (event.id.meaning == event::Meaning::instructions && event.total.is_available() &&
        event.total.value() > 0)
      return &event.total;
  return nullptr;
}

// One event of several runs; `factors` bring each run to the common length.
CountedEvent join_event(const std::vector<RunCounts>& runs, const CountedEvent& first,
                        std::span<const double> factors) {
  Origin best = Origin::missing;
  std::size_t counted = 0;
  for (const RunCounts& run : runs) {
    const CountedEvent* event = find_event(run, first.name);
    if (event == nullptr) continue;
    if (event->total.origin < best) counted = 0;
    best = std::min(best, event->total.origin);
    if (event->total.origin == best) ++counted;
  }
  CountedEvent joined = first;
  if (best == Origin::missing) return joined;
  const bool everywhere = counted == runs.size();
  std::vector<double> values;
  joined.total = {best, 0, {}, {}, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CountedEvent* event = find_event(runs[i], first.name);
    if (event == nullptr || event->total.origin != best) continue;
    values.push_back(event->total.value() * (everywhere ? 1 : factors[i]));
    joined.total.enabled += event->total.enabled;
    joined.total.running += event->total.running;
    if (!everywhere && factors[i] != 1) joined.total.origin = Origin::scaled;
  }
  const Spread spread = spread_of(values);
  joined.total.raw =
      static_cast<std::uint64_t>(std::llround(spread.mean * joined.total.running_share()));
  if (values.size() > 1) joined.spread = spread;
  return joined;
}

}  // namespace

double student_quantile(std::size_t freedom) {
  static constexpr std::array<double, 30> kTable{
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom == 0) return 0;
  return freedom <= kTable.size() ? kTable[freedom - 1] : 1.96 + 2.5 / static_cast<double>(freedom);
}

double share_error(double share, std::uint64_t samples) {
  constexpr double kNormal95 = 1.96;
  return kNormal95 * std::sqrt((1 - share) / static_cast<double>(samples));
}

Spread spread_of(std::span<const double> values) {
  Spread spread;
  spread.runs = values.size();
  const auto count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
  const double half = student_quantile(values.size() - 1) * spread.deviation / std::sqrt(count);
  spread.low = spread.mean - half;
  spread.high = spread.mean + half;
  return spread;
}

RunCounts merge_runs(std::vector<RunCounts> runs) {
  if (runs.size() == 1) return std::move(runs.front());
  RunCounts merged = frame_of(runs);
  for (std::size_t i = 0; i < runs.front().events.size(); ++i)
    merged.events.push_back(merge_event(runs, i));
  return merged;
}

Result<RunCounts> join_runs(std::vector<RunCounts> runs) {
  if (runs.size() == 1) return std::move(runs.front());
  std::vector<double> lengths;
  std::vector<double> counted;  // of them, those that are no estimates
  for (const RunCounts& run : runs) {
    const Count* instructions = instructions_of(run);
    if (instructions == nullptr)
      return failure(ErrorKind::invalid_input, "join runs of the program",
                     "a run has no count of instructions to align it by",
                     "count instructions in every run");
    lengths.push_back(instructions->value());
    if (instructions->origin == Origin::counted) counted.push_back(lengths.back());
  }
  const double mean = spread_of(counted.empty() ? lengths : counted).mean;
  std::vector<double> factors;
  for (const double length : lengths) factors.push_back(mean / length);
  RunCounts joined = frame_of(runs);
  for (const CountedEvent& event : runs.front().events)
    joined.events.push_back(join_event(runs, event, factors));
  return joined;
}

}  // namespace loft::sample
