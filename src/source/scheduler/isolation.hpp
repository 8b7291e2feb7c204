// Keeps other work away from a program: gives it CPUs of its own, and a better place in the queue.
//
//   LOFT_TRY(auto isolation, Isolation::begin({child.pid()}, wish));  // before its exec
//   show(isolation.report());                                        // what could be done
//   show(isolation.end());                                           // what could not be undone
//
// A process of its own makes the changes. It undoes them when loft goes, however it goes: also when
// loft is killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/fd.hpp"
#include "base/places.hpp"
#include "base/result.hpp"

namespace loft::source::scheduler {

struct IsolationWish {
  CpuList cpus;              // for the program; empty: all but one core
  bool is_realtime = false;  // SCHED_FIFO instead of a better nice value
};

// Which CPUs the program gets. Empty when there is only one: then there is nothing to part.
[[nodiscard]] Result<CpuList> choose_cpus(const CpuList& wanted, const CpuList& allowed,
                                          const SystemRoot& root = {});

class Isolation {
 public:
  [[nodiscard]] static Result<Isolation> begin(const std::vector<pid_t>& program,
                                               const IsolationWish& wish);
  Isolation(Isolation&& other) noexcept;
  Isolation& operator=(Isolation&& other) noexcept;
  ~Isolation() { (void)end(); }

  // What was done and what could not be done, a line each.
  [[nodiscard]] const std::vector<std::string>& report() const { return report_; }
  [[nodiscard]] const CpuList& cpus() const { return cpus_; }
  // Undoes it, and says what could not be undone. The second time there is nothing to do.
  std::vector<std::string> end();

 private:
  Isolation(pid_t guardian, Fd life, Fd words, CpuList cpus)
      : guardian_(guardian),
        life_(std::move(life)),
        words_(std::move(words)),
        cpus_(std::move(cpus)) {}
  [[nodiscard]] std::vector<std::string> listen() const;

  pid_t guardian_ = -1;
  Fd life_;   // ends with loft; the guardian waits for that
  Fd words_;  // what the guardian says
  CpuList cpus_;
  std::vector<std::string> report_;
};

}  // namespace loft::source::scheduler
