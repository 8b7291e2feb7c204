#include "sample/task_compare.hpp"

#include <algorithm>

#include "sample/task_pairs.hpp"

namespace loft::sample {
namespace {

constexpr double kNano = 1e-9;

std::optional<double> seconds(const std::optional<std::uint64_t>& ns) {
  if (!ns) return std::nullopt;
  return static_cast<double>(*ns) * kNano;
}

double lifetime(const TaskRow& row) {
  return static_cast<double>(row.last_time - row.first_time) * kNano;
}

std::optional<std::size_t> find_counter(const TaskTable& table, std::string_view name) {
  for (std::size_t i = 0; i < table.counters.size(); ++i)
    if (table.counters[i] == name) return i;
  return std::nullopt;
}

// How far a thread had come at the end of each of its slices.
struct Progress {
  std::vector<double> work;  // since its birth
  std::vector<double> time;
};

class Progresses {
 public:
  Progresses(const TaskTable& table, const std::optional<std::size_t>& counter)
      : of_task_(table.tasks.size()) {
    for (const TaskSlice& slice : table.slices) {
      Progress& progress = of_task_[slice.task];
      const double more = counter ? estimate(table, slice.counted, *counter).value
                                  : static_cast<double>(slice.run_ns);
      const auto start = table.tasks[slice.task].first_time;
      progress.work.push_back((progress.work.empty() ? 0 : progress.work.back()) + more);
      progress.time.push_back(static_cast<double>(slice.end - std::min(slice.end, start)) * kNano);
    }
  }
  [[nodiscard]] const Progress& of(std::size_t task) const { return of_task_[task]; }

 private:
  std::vector<Progress> of_task_;
};

// When `share` of the work was done, between slices by a straight line.
double time_at(const Progress& progress, double share) {
  const double wanted = progress.work.back() * share;
  const auto next = std::ranges::lower_bound(progress.work, wanted);
  const auto i =
      static_cast<std::size_t>(std::min(next, progress.work.end() - 1) - progress.work.begin());
  const double work_before = i == 0 ? 0 : progress.work[i - 1];
  const double time_before = i == 0 ? 0 : progress.time[i - 1];
  const double work = progress.work[i] - work_before;
  if (work <= 0) return progress.time[i];
  return time_before + (progress.time[i] - time_before) * (wanted - work_before) / work;
}

std::vector<ComparedPhase> phases_of(const Progress& before, const Progress& after) {
  // With fewer slices than phases the straight lines would be all that there is.
  if (before.work.size() < kComparedPhases || after.work.size() < kComparedPhases) return {};
  if (before.work.back() <= 0 || after.work.back() <= 0) return {};
  std::vector<ComparedPhase> phases;
  for (std::size_t i = 0; i < kComparedPhases; ++i) {
    const double from = static_cast<double>(i) / kComparedPhases;
    const double to = static_cast<double>(i + 1) / kComparedPhases;
    phases.push_back(
        {time_at(before, to) - time_at(before, from), time_at(after, to) - time_at(after, from)});
  }
  return phases;
}

std::vector<ComparedCount> counts_of(const TaskTable& before, const TaskRow& a,
                                     const TaskTable& after, const TaskRow& b) {
  std::vector<ComparedCount> counts;
  for (std::size_t i = 0; i < before.counters.size(); ++i) {
    const auto other = find_counter(after, before.counters[i]);
    if (!other) continue;
    counts.push_back(
        {before.counters[i], estimate(before, a.counted, i), estimate(after, b.counted, *other)});
  }
  return counts;
}

// Tasks of one name in the order of their birth; where no name is in both, all tasks in that order:
// a program that was renamed, or that names its threads by numbers.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const TaskTable& before,
                                                          const TaskTable& after) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const auto b_keys = task_keys(after);
  for (const auto& [key, a_index] : task_keys(before))
    if (const auto found = b_keys.find(key); found != b_keys.end())
      pairs.emplace_back(a_index, found->second);
  if (pairs.empty())
    for (std::size_t i = 0; i < std::min(before.tasks.size(), after.tasks.size()); ++i)
      pairs.emplace_back(i, i);
  return pairs;
}

}  // namespace

TaskComparison compare_tasks(const TaskTable& before, const TaskTable& after) {
  TaskComparison result;
  result.before_path = before.path;
  result.after_path = after.path;
  const auto a_counter = before.instructions;
  const auto b_counter = after.instructions;
  const bool by_instructions =
      a_counter && b_counter && before.counters[*a_counter] == after.counters[*b_counter];
  result.work = by_instructions ? "instructions" : "run time";
  const Progresses a_progress(before, by_instructions ? a_counter : std::nullopt);
  const Progresses b_progress(after, by_instructions ? b_counter : std::nullopt);
  const auto pairs = pairs_of(before, after);
  for (const auto& [a_index, b_index] : pairs) {
    const TaskRow& a = before.tasks[a_index];
    const TaskRow& b = after.tasks[b_index];
    const std::string name = a.comm == b.comm ? a.comm : a.comm + " / " + b.comm;
    result.tasks.push_back({name, a.tid, b.tid, lifetime(a), lifetime(b), seconds(a.run_ns),
                            seconds(b.run_ns), seconds(a.wait_ns), seconds(b.wait_ns),
                            counts_of(before, a, after, b),
                            phases_of(a_progress.of(a_index), b_progress.of(b_index))});
  }
  result.only_before = before.tasks.size() - pairs.size();
  result.only_after = after.tasks.size() - pairs.size();
  std::ranges::stable_sort(result.tasks, [](const ComparedTask& a, const ComparedTask& b) {
    return a.before_run_s.value_or(0) > b.before_run_s.value_or(0);
  });
  return result;
}

}  // namespace loft::sample
