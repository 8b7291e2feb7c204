// Slices out of the kernel's own records: each sample holds what its thread counted so far on one
// CPU, so a slice is the difference to what that thread had there before. A thread that ends leaves
// its last values as READ records, one for each event and CPU; what the first thread counted since
// its last sample is what remains of the sum of all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

class ReadTable {
 public:
  // A group of `members` events; the first is the run time, sampled every `slice_ns`. `first` is
  // the thread with which a program began; nothing where threads were there before.
  void set_members(std::size_t members, std::uint64_t slice_ns, std::optional<TaskId> first) {
    members_ = members;
    slice_ns_ = slice_ns;
    first_ = first;
  }
  // The kernel's id of an opened event, and which of the group it is.
  void add_id(std::uint64_t id, std::size_t member) {
    member_of_[id] = member;
    if (member == 0) ++leaders_;
  }

  // Samples are IDENTIFIER, IP, TID, TIME, CPU, PERIOD and, where counts can be had, READ.
  void take_sample(std::span<const std::byte> record, bool has_counts, TaskEvents& events);
  void take_read(std::span<const std::byte> record, bool has_counts);
  // Births, deaths, names, mappings, switches, losses: handed on as they are.
  void take_other(std::span<const std::byte> record, TaskEvents& events);

  // After each drain of all rings: the last slices of threads that have ended.
  void hand_over(TaskEvents& events);

  // At the end, what all threads together counted by one event, and for how long the group of one
  // CPU was wanted and had its counters.
  void take_total(std::uint64_t id, std::uint64_t value) { totals_[id] += value; }
  void take_total_times(std::uint64_t enabled_ns, std::uint64_t running_ns) {
    total_enabled_ = std::max(total_enabled_, enabled_ns);
    total_running_ += running_ns;
  }
  // The rest of the first thread, from the totals. Call once.
  void finish(TaskEvents& events);

  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  // Empty when it was not.
  [[nodiscard]] std::string why_rest_is_missing() const;

 private:
  struct Ending {
    TaskId task;
    Moment at;
    bool has_ended = false;
    std::size_t reads = 0;
    std::vector<std::uint64_t> rest;  // by member
    std::uint64_t enabled_ns = 0, running_ns = 0;
  };
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // id of the event (of one CPU), thread

  [[nodiscard]] std::optional<std::size_t> member(std::uint64_t id) const;
  std::uint64_t advance(std::uint64_t id, std::uint32_t tid, std::uint64_t value);
  // An event of one CPU is wanted wherever its thread runs, but runs on that CPU alone. So a thread
  // has one time for wanted, and as many for running as there are CPUs; what it ran on others since
  // its last samples there, up to a slice on each, is not yet known and `pending`.
  struct Times {
    std::uint64_t enabled_ns = 0, running_ns = 0;
  };
  struct ThreadTimes {
    std::uint64_t enabled = 0;                           // the most that an event said
    std::map<std::uint64_t, std::uint64_t> running;      // by leader
    std::uint64_t given_enabled = 0, given_running = 0;  // to slices
  };
  Times advance_times(std::uint64_t leader, std::uint32_t tid, Times so_far, std::uint64_t pending);
  void forget(std::uint32_t tid);
  void write(const Ending& ending, TaskEvents& events);

  std::size_t members_ = 1;
  std::size_t leaders_ = 0;  // one on each CPU
  std::uint64_t slice_ns_ = 0;
  std::map<std::uint64_t, std::size_t> member_of_;
  std::map<Key, std::uint64_t> last_;
  std::map<std::uint32_t, ThreadTimes> times_;    // by thread
  std::map<std::uint64_t, std::uint64_t> given_;  // by id: what went into slices
  std::map<std::uint64_t, std::uint64_t> totals_;
  std::uint64_t given_enabled_ = 0, total_enabled_ = 0;
  std::uint64_t given_running_ = 0, total_running_ = 0;
  std::map<std::uint32_t, Ending> endings_;  // by thread
  std::optional<TaskId> first_;
  Moment last_moment_;
  std::uint64_t births_ = 0, endings_written_ = 0;
  std::uint64_t lost_ = 0, records_ = 0;
};

}  // namespace loft::source::scheduler
