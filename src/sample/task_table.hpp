// The tasks of a recording: who started whom, when each ran on which CPU, and what it did there.
// Views show it as a tree, a time line or a table of slices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sample/count.hpp"
#include "sample/turn_error.hpp"

namespace loft::sample {

// Events that are counted at the same time, over some time of a task: for how long they were wanted
// and had counters. Where sets took turns, by what the task did meanwhile the rest is known.
struct SetPart {
  std::uint64_t readings = 0;  // none: nothing is known of its events
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::uint64_t instructions = 0;  // while they had counters; 0 where that was not told

  SetPart& operator+=(const SetPart& more) {
    readings += more.readings;
    enabled_ns += more.enabled_ns;
    running_ns += more.running_ns;
    instructions += more.instructions;
    return *this;
  }
};

// What was counted, a part of it where a counter was shared.
struct Counted {
  std::vector<std::uint64_t> counts;  // aligned with TaskTable::counters
  std::vector<SetPart> sets;          // by set

  Counted& operator+=(const Counted& more) {
    counts.resize(std::max(counts.size(), more.counts.size()));
    sets.resize(std::max(sets.size(), more.sets.size()));
    for (std::size_t i = 0; i < more.counts.size(); ++i) counts[i] += more.counts[i];
    for (std::size_t i = 0; i < more.sets.size(); ++i) sets[i] += more.sets[i];
    return *this;
  }
};

// A count for the whole, and how it is known.
struct Estimate {
  Origin origin = Origin::missing;
  double value = 0;    // meaningless when missing
  double running = 0;  // the share of the time in which it was counted, 0 to 1
  // Of a scaled one: half of its 95 % interval as a share of it. Nothing where it is not known,
  // since too few turns saw the event.
  std::optional<double> error = {};
};

struct TaskRow {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<std::size_t> parent;  // index of the task that started it
  std::string comm;                   // its last name
  std::uint64_t first_time = 0;       // of its birth, or when it was first seen
  std::uint64_t last_time = 0;        // of its end, or when it was last seen
  bool has_ended = false;
  std::uint64_t slices = 0;
  std::optional<std::uint64_t> run_ns;
  std::optional<std::uint64_t> wait_ns;  // ready to run, on no CPU
  std::optional<std::uint64_t> switches;
  std::optional<std::uint64_t> migrations;
  Counted counted;
  std::vector<TurnError> errors;  // of its counts, aligned with TaskTable::counters
  std::vector<double>
      joules;  // its share, aligned with TaskTable::meters: modelled, never measured
};

// A task on a CPU, from when it got it until it left.
struct TaskRun {
  std::size_t task = 0;
  std::uint32_t cpu = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct TaskSlice {
  std::size_t task = 0;
  std::uint32_t cpu = 0;
  std::uint64_t end = 0;
  std::uint64_t run_ns = 0;
  std::optional<std::uint64_t> wait_ns;
  Counted counted;
};

// What one energy meter showed over the whole recording: the whole machine, others and idle time
// included. Tasks share what was used between two samples by what they did in between.
struct MeterSum {
  std::string name;
  std::uint64_t microjoules = 0;
  double joules_of_nobody = 0;  // used while no slice of a task ended
  // Modelled: it shows watts; they were added up over the time between readings.
  Origin origin = Origin::counted;
};

struct TaskTable {
  std::string path;
  std::vector<std::string> counters;
  // Of each counter: which set it belongs to; nothing for one that needs no counter of its own and
  // is never scaled.
  std::vector<std::optional<std::size_t>> set_of;
  std::optional<std::size_t> instructions;  // which counter counts them
  std::vector<TaskRow> tasks;               // in the order of their appearance
  std::vector<TaskRun> runs;                // by start; empty when switches were not recorded
  std::vector<TaskSlice> slices;
  std::vector<MeterSum> meters;
  std::vector<std::string> still_meters;     // were there, and never moved
  bool energy_goes_by_instructions = false;  // otherwise by run time
  std::uint64_t first_time = 0;
  std::uint64_t last_time = 0;
  std::uint64_t lost = 0;
  bool has_switches = false;
  // Waiting is the kernel's own sum; otherwise only that of tasks that were pushed off a CPU is
  // known.
  bool waiting_is_whole = false;
  std::string watched_by;  // how it was recorded, if the recording says so
};

// What counter `i` would have shown if it had counted all the time: by instructions where sets took
// turns and they were counted all along, else by the time.
[[nodiscard]] Estimate estimate(const TaskTable& table, const Counted& counted, std::size_t i);

// The estimate for all that a task did, with its error.
[[nodiscard]] Estimate estimate(const TaskTable& table, const TaskRow& row, std::size_t i);

// For a slice. The part that its set did not see is taken to be like what the set saw of the task
// in all slices: so slices add up to the estimate of their task, and none is above it. A slice in
// which the set had no turn is missing.
[[nodiscard]] Estimate estimate(const TaskTable& table, const TaskSlice& slice, std::size_t i);

// The estimate for all tasks together: the sum of what is estimated of each. Tasks of which nothing
// is known, since they had no turn, are taken to be like the others, and their error is not known.
[[nodiscard]] Estimate estimate_of_all(const TaskTable& table, std::size_t i);

// Of all counters together: counted when each was, missing when none is known, else scaled.
[[nodiscard]] Origin origin_of_all(const TaskTable& table, const Counted& counted);

}  // namespace loft::sample
