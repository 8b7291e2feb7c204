// Rings, one per CPU, into which the kernel writes the counts of each thread that ends.
#pragma once

#include <map>
#include <vector>

#include "base/result.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/places.hpp"
#include "source/perf_events/ring_buffer.hpp"
#include "source/perf_events/thread_table.hpp"

namespace loft::source::perf_events {

class ThreadRings {
 public:
  // Gives the groups opened at `place` (a task on one CPU) a ring of their own.
  [[nodiscard]] Result<void> attach(const TaskPlace& place, const OpenGroups& groups);

  void drain();
  [[nodiscard]] std::vector<int> fds() const;
  [[nodiscard]] const ThreadTable& table() const { return table_; }

 private:
  struct PerCpu {
    Fd side_band;  // names, births and deaths; owns the ring
    RingBuffer ring;
  };
  Fd anchor_;
  std::vector<PerCpu> rings_;
  ThreadTable table_;
};

// Whether this kernel writes the counts of a thread when it ends: some, Linux 6.1 among them, never
// do. Found out by letting a thread end.
[[nodiscard]] bool reports_counts_of_threads();

// The kernel's number of an opened event, which records carry.
[[nodiscard]] Result<std::uint64_t> event_id(const Fd& fd);

}  // namespace loft::source::perf_events
