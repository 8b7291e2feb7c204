#include "sample/task_join.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "sample/task_pairs.hpp"

namespace loft::sample {
namespace {

// Borders this near to each other, as a share of all work, are one.
constexpr double kSamePlace = 1e-9;

// A slice of a thread on the axis of its work.
struct PlacedSlice {
  double from = 0;
  double to = 0;
  const TaskSlice* slice = nullptr;
};

// The slices of one thread in one run.
struct Track {
  std::vector<PlacedSlice> slices;
  double work = 0;
};

// Of each thread of a run; empty for one that did nothing.
std::vector<Track> tracks_of(const TaskTable& table, bool by_instructions) {
  std::vector<Track> tracks(table.tasks.size());
  for (const TaskSlice& slice : table.slices) {
    Track& track = tracks[slice.task];
    const double done = by_instructions ? estimate(table, slice, *table.instructions).value
                                        : static_cast<double>(slice.run_ns) * 1e-9;
    track.slices.push_back({track.work, track.work + done, &slice});
    track.work += done;
  }
  for (Track& track : tracks) {
    if (track.work <= 0) track.slices.clear();
    for (PlacedSlice& placed : track.slices) {
      placed.from /= track.work;
      placed.to /= track.work;
    }
  }
  return tracks;
}

// How much of a slice lies in an interval, 0 to 1. One without work lies where it is; at the end of
// all, in the last interval.
double part_in(const PlacedSlice& placed, const JoinedInterval& interval) {
  const double length = placed.to - placed.from;
  if (length <= kSamePlace) {
    const bool is_last = interval.to >= 1 - kSamePlace;
    return placed.from >= interval.from && (placed.from < interval.to || is_last) ? 1 : 0;
  }
  const double common = std::min(placed.to, interval.to) - std::max(placed.from, interval.from);
  if (common <= kSamePlace) return 0;
  return common >= length - kSamePlace ? 1 : common / length;
}

// Each part of what is known; missing where a slice is in it of which nothing is.
class Sum {
 public:
  void add(const Estimate& estimate, double part) {
    sum_.value += estimate.value * part;
    weight_ += part;
    sum_.running += estimate.running * part;
    const Origin origin =
        part < 1 && estimate.origin == Origin::counted ? Origin::scaled : estimate.origin;
    sum_.origin = any_ ? std::max(sum_.origin, origin) : origin;
    any_ = true;
  }
  [[nodiscard]] Estimate sum() const {
    Estimate whole = sum_;
    if (whole.origin == Origin::missing) return {};
    whole.running /= weight_;
    return whole;
  }

 private:
  Estimate sum_;
  double weight_ = 0;
  bool any_ = false;
};

class Join {
 public:
  explicit Join(const std::vector<TaskTable>& runs) : runs_(runs) {
    joined_.by_instructions = std::ranges::all_of(
        runs, [](const TaskTable& table) { return table.instructions.has_value(); });
    for (std::size_t run = 0; run < runs.size(); ++run) {
      joined_.paths.push_back(runs[run].path);
      tracks_.push_back(tracks_of(runs[run], joined_.by_instructions));
      for (std::size_t i = 0; i < runs[run].counters.size(); ++i) {
        // Instructions of the others would say the same as those of the first.
        if (run > 0 && joined_.by_instructions && i == *runs[run].instructions) continue;
        joined_.columns.push_back({runs[run].counters[i], run, i});
      }
    }
  }

  TaskJoin joined() {
    std::vector<std::map<TaskKey, std::size_t>> keys;
    for (const TaskTable& table : runs_) {
      keys.push_back(task_keys(table));
      joined_.left_over.push_back(table.tasks.size());
    }
    for (const auto& [key, first] : keys[0]) {
      std::vector<std::size_t> places;
      for (const auto& of_run : keys)
        if (const auto found = of_run.find(key); found != of_run.end())
          places.push_back(found->second);
      if (places.size() == runs_.size()) add_task(places);
    }
    std::ranges::stable_sort(joined_.tasks, std::greater{}, [](const JoinedTask& task) {
      double run_s = 0;
      for (const JoinedInterval& interval : task.intervals) run_s += interval.run_s[0];
      return run_s;
    });
    return std::move(joined_);
  }

 private:
  void add_task(const std::vector<std::size_t>& places) {
    std::vector<Track> tracks;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      tracks.push_back(tracks_[run][places[run]]);
      if (tracks.back().slices.empty()) return;
    }
    JoinedTask task;
    task.name = runs_[0].tasks[places[0]].comm;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      task.tids.push_back(runs_[run].tasks[places[run]].tid);
      task.work.push_back(tracks[run].work);
      --joined_.left_over[run];
    }
    for (const JoinedColumn& column : joined_.columns)
      task.totals.push_back(
          estimate(runs_[column.run], runs_[column.run].tasks[places[column.run]], column.counter));
    task.intervals = intervals_of(tracks);
    for (JoinedInterval& interval : task.intervals) fill(interval, tracks);
    joined_.tasks.push_back(std::move(task));
  }

  static std::vector<JoinedInterval> intervals_of(const std::vector<Track>& tracks) {
    const auto fewest = std::ranges::min_element(
        tracks, {}, [](const Track& track) { return track.slices.size(); });
    std::vector<JoinedInterval> intervals;
    for (const PlacedSlice& placed : fewest->slices)
      if (placed.to - placed.from > kSamePlace)
        intervals.push_back({placed.from, placed.to, {}, {}});
    intervals.front().from = 0;
    intervals.back().to = 1;
    return intervals;
  }

  void fill(JoinedInterval& interval, const std::vector<Track>& tracks) const {
    std::vector<Sum> sums(joined_.columns.size());
    interval.run_s.resize(tracks.size());
    for (std::size_t run = 0; run < tracks.size(); ++run)
      for (const PlacedSlice& placed : overlapping(tracks[run], interval)) {
        const double part = part_in(placed, interval);
        if (part == 0) continue;
        interval.run_s[run] += static_cast<double>(placed.slice->run_ns) * 1e-9 * part;
        for (std::size_t i = 0; i < sums.size(); ++i)
          if (joined_.columns[i].run == run)
            sums[i].add(estimate(runs_[run], *placed.slice, joined_.columns[i].counter), part);
      }
    for (const Sum& sum : sums) interval.values.push_back(sum.sum());
  }

  // Slices stand in the order of their work.
  static std::span<const PlacedSlice> overlapping(const Track& track,
                                                  const JoinedInterval& interval) {
    const auto first =
        std::ranges::lower_bound(track.slices, interval.from - kSamePlace, {}, &PlacedSlice::to);
    const auto last =
        std::ranges::upper_bound(track.slices, interval.to + kSamePlace, {}, &PlacedSlice::from);
    return {first, std::max(first, last)};
  }

  const std::vector<TaskTable>& runs_;
  std::vector<std::vector<Track>> tracks_;  // by run and task
  TaskJoin joined_;
};

}  // namespace

TaskJoin join_tasks(const std::vector<TaskTable>& runs) { return Join(runs).joined(); }

double difference_of_work(const JoinedTask& task) {
  const auto [least, most] = std::ranges::minmax(task.work);
  return least > 0 ? most / least - 1 : std::numeric_limits<double>::infinity();
}

}  // namespace loft::sample
