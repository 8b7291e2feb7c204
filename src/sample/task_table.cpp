#include "sample/task_table.hpp"

#include <algorithm>
#include <cmath>

namespace loft::sample {

Estimate estimate(const TaskTable& table, const Counted& counted, std::size_t i) {
  if (i >= counted.counts.size()) return {};
  const auto value = static_cast<double>(counted.counts[i]);
  const auto set = i < table.set_of.size() ? table.set_of[i] : std::nullopt;
  if (!set) return {Origin::counted, value, 1};
  const SetPart part = *set < counted.sets.size() ? counted.sets[*set] : SetPart{};
  if (part.readings == 0) return {};
  if (part.running_ns >= part.enabled_ns) return {Origin::counted, value, 1};
  if (part.running_ns == 0) return {};
  const double share = static_cast<double>(part.running_ns) / static_cast<double>(part.enabled_ns);
  if (part.instructions > 0 && table.instructions && *table.instructions != i) {
    const Estimate all = estimate(table, counted, *table.instructions);
    if (all.origin != Origin::missing)
      return {Origin::scaled, value * all.value / static_cast<double>(part.instructions), share};
  }
  return {Origin::scaled, value / share, share};
}

Estimate estimate(const TaskTable& table, const TaskRow& row, std::size_t i) {
  Estimate known = estimate(table, row.counted, i);
  if (known.origin == Origin::scaled && i < row.errors.size())
    known.error = row.errors[i].half_of_interval(known.running);
  return known;
}

namespace {

// Of the work of a task, what a set saw and what it did not: instructions, else time.
struct SeenWork {
  double seen = 0;
  double all = 0;
};

SeenWork work_of(const TaskTable& table, const Counted& counted, std::size_t i,
                 bool by_instructions) {
  const SetPart& part = counted.sets[*table.set_of[i]];
  if (by_instructions)
    return {static_cast<double>(part.instructions),
            estimate(table, counted, *table.instructions).value};
  return {static_cast<double>(part.running_ns), static_cast<double>(part.enabled_ns)};
}

}  // namespace

Estimate estimate(const TaskTable& table, const TaskSlice& slice, std::size_t i) {
  Estimate own = estimate(table, slice.counted, i);
  if (own.origin != Origin::scaled || slice.task >= table.tasks.size()) return own;
  const Counted& whole = table.tasks[slice.task].counted;
  if (estimate(table, whole, i).origin != Origin::scaled) return own;
  const bool by_instructions = whole.sets[*table.set_of[i]].instructions > 0 &&
                               table.instructions && *table.instructions != i;
  const SeenWork task = work_of(table, whole, i, by_instructions);
  const SeenWork here = work_of(table, slice.counted, i, by_instructions);
  const double rate = static_cast<double>(whole.counts[i]) / task.seen;
  own.value =
      static_cast<double>(slice.counted.counts[i]) + rate * std::max(0.0, here.all - here.seen);
  return own;
}

Estimate estimate_of_all(const TaskTable& table, std::size_t i) {
  Counted all;
  Counted unknown;
  double known = 0;
  bool is_whole = true;
  double variance = 0;  // tasks are off independently of each other
  bool has_errors = true;
  for (const TaskRow& row : table.tasks) {
    if (i >= row.counted.counts.size()) continue;  // it has no slices
    const Estimate of_row = estimate(table, row, i);
    all += row.counted;
    if (of_row.origin == Origin::missing)
      unknown += row.counted;
    else
      known += of_row.value;
    is_whole &= of_row.origin == Origin::counted;
    if (of_row.origin == Origin::counted) continue;
    has_errors &= of_row.error.has_value();
    const double off = of_row.error.value_or(0) * of_row.value;
    variance += off * off;
  }
  const Estimate pooled = estimate(table, all, i);
  if (is_whole || pooled.origin == Origin::missing) return pooled;
  const auto work = [&](const Counted& counted) {
    const Estimate done =
        table.instructions ? estimate(table, counted, *table.instructions) : Estimate{};
    const auto set = table.set_of[i];
    if (done.origin != Origin::missing && done.value > 0) return done.value;
    return set && *set < counted.sets.size() ? static_cast<double>(counted.sets[*set].enabled_ns)
                                             : 0;
  };
  const double rest = unknown.counts.empty() ? 0 : pooled.value * work(unknown) / work(all);
  Estimate sum{Origin::scaled, known + rest, pooled.running};
  if (has_errors && sum.value > 0) sum.error = std::sqrt(variance) / sum.value;
  return sum;
}

Origin origin_of_all(const TaskTable& table, const Counted& counted) {
  std::size_t whole = 0;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < table.counters.size(); ++i) {
    const Origin origin = estimate(table, counted, i).origin;
    whole += origin == Origin::counted ? 1 : 0;
    missing += origin == Origin::missing ? 1 : 0;
  }
  if (whole == table.counters.size()) return Origin::counted;
  return missing == table.counters.size() ? Origin::missing : Origin::scaled;
}

}  // namespace loft::sample
