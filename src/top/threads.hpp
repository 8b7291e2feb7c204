// The threads that use most of the machine, and what the others of their time went to.
//
//   ThreadScan scan;
//   scan.update(now());
//   for (const BusyThread& thread : scan.busiest(10)) ...
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "source/living_tasks.hpp"

namespace loft::top {

struct BusyThread {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string name;
  int cpu = -1;           // where it last ran
  double running = 0;     // shares of the time
  double waiting = 0;     // ready, but on no CPU
  std::string sleeps_in;  // the function of the kernel that it sleeps in; empty where it runs, or
                          // where this user may not know
};

class ThreadScan {
 public:
  // Reads what all threads have used; the shares are since the call before.
  void update(Nanoseconds at);
  [[nodiscard]] std::vector<BusyThread> busiest(std::size_t most) const;

 private:
  struct Seen {
    pid_t pid = 0;
    source::SchedulerSums sums;
    double running = 0;
    double waiting = 0;
  };
  Nanoseconds last_{};
  std::map<pid_t, Seen> threads_;
};

}  // namespace loft::top
