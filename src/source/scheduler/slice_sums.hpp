// What slices add up to, by CPU: a recording holds sums, of which readers take differences.
//
// Events are numbered: what every slice has, the counters, then what sets that take turns have done
// meanwhile. Behind these a recording has the events that are no part of slices.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

class SliceSums {
 public:
  struct Times {
    std::uint64_t enabled = 0, running = 0;
  };

  // The first `basics` of what every slice has are known.
  SliceSums(std::size_t basics, const EventSets& counters, std::uint32_t cpus)
      : basics_(basics),
        counters_(counters.events.size()),
        groups_(counters.sets.size()),
        work_events_(counters.sets.size()) {
    std::size_t next = basics + counters_;
    for (std::size_t i = 0; i < basics; ++i) groups_.front().push_back(i);
    for (std::size_t s = 0; s < groups_.size(); ++s) {
      const EventSet& set = counters.sets[s];
      for (std::size_t i = 0; i < set.size; ++i) groups_[s].push_back(basics + set.first + i);
      if (!set.takes_turns || !counters.work) continue;
      work_events_[s] = next++;
      groups_[s].push_back(work_events_[s]);
    }
    values_.assign(cpus, std::vector<std::uint64_t>(next));
    times_.assign(cpus, std::vector<Times>(groups_.size()));
  }

  void add(const Slice& slice, std::uint32_t cpu) {
    auto& values = values_[cpu];
    auto& times = times_[cpu];
    const std::array basics{slice.run_ns, slice.wait_ns, slice.switches, slice.migrations};
    for (std::size_t i = 0; i < basics_; ++i) values[i] += basics[i];
    for (std::size_t i = 0; i < counters_ && i < slice.counts.size(); ++i)
      values[basics_ + i] += slice.counts[i];
    times[0].enabled += slice.run_ns;
    times[0].running += slice.run_ns;
    for (std::size_t s = 1; s < groups_.size() && s < slice.sets.size(); ++s) {
      times[s].enabled += slice.sets[s].enabled_ns;
      times[s].running += slice.sets[s].running_ns;
      if (work_events_[s] != 0) values[work_events_[s]] += slice.sets[s].work;
    }
  }

  // How many events slices have.
  [[nodiscard]] std::size_t events() const { return values_.front().size(); }
  // By set: the numbers of its events, the leader first.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& groups() const { return groups_; }
  // By set: the number of the event that tells what was done meanwhile; 0 where there is none.
  [[nodiscard]] const std::vector<std::size_t>& work_events() const { return work_events_; }
  [[nodiscard]] std::uint64_t value(std::uint32_t cpu, std::size_t event) const {
    return values_[cpu][event];
  }
  [[nodiscard]] const Times& times(std::uint32_t cpu, std::size_t set) const {
    return times_[cpu][set];
  }

 private:
  std::size_t basics_;
  std::size_t counters_;
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<std::size_t> work_events_;
  std::vector<std::vector<std::uint64_t>> values_;  // by CPU, by event
  std::vector<std::vector<Times>> times_;           // by CPU, by set
};

}  // namespace loft::source::scheduler
