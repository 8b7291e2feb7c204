// Who counted what: the counts of every thread of a program, its short-lived ones included.
//
// Events opened with inherit_stat make the kernel write each thread's own counts into the ring when
// it ends. The table collects these, the names of the threads, and what was lost.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "source/perf_events/group.hpp"

namespace loft::source::perf_events {

class ThreadTable {
 public:
  struct Thread {
    pid_t pid = 0;
    std::string comm;
    std::map<std::uint64_t, RawReading> by_event_id;  // the kernel's id of the opened event
  };

  // A record from the ring: READ, COMM, FORK and LOST are understood, others are ignored.
  // Records carry time and task at their end (sample_id_all with TID and TIME).
  void take(std::span<const std::byte> record);

  // Threads that have ended, by thread id. Names are assigned in the order of time, since the rings
  // of different CPUs arrive in any order.
  [[nodiscard]] std::map<pid_t, Thread> threads() const;

  // Names of all tasks seen, ended or not.
  [[nodiscard]] std::map<pid_t, std::string> names() const;

  // Threads that began and whose counts never came. They still run, or the kernel does not report
  // them: Linux 6.1, among others, never writes the counts of a thread that ends.
  [[nodiscard]] std::size_t silent() const;

  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Naming {
    std::uint64_t time = 0;
    pid_t tid = 0;
    pid_t parent = 0;  // the name is taken over from this thread, or
    std::string comm;  // it is this
  };

  void take_read(std::span<const std::byte> record);
  void take_comm(std::span<const std::byte> record);
  void take_fork(std::span<const std::byte> record);

  std::map<pid_t, Thread> threads_;
  std::vector<Naming> namings_;
  std::uint64_t lost_ = 0;
};

}  // namespace loft::source::perf_events
