// Where the tasks of this machine may run: takes CPUs away from all but a program, and gives them
// back.
//
//   Placement placement({program}, {2, 3});
//   placement.keep_apart();
//   ...
//   placement.put_back();
//
// What a task may do is changed only while it is as it was left: a task that chose other CPUs in
// between keeps them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/cpu_set.hpp"
#include "source/living_tasks.hpp"

namespace loft::source::scheduler {

struct Moves {
  std::size_t moved = 0;           // of others
  std::size_t bound = 0;           // may run nowhere else
  std::size_t refused = 0;         // belong to other users
  std::size_t kernel_threads = 0;  // are left where they are
  std::size_t program = 0;         // its own tasks, put where they should be
};

class Placement {
 public:
  // `program`: processes; what they started belongs to them.
  Placement(std::vector<pid_t> program, CpuList cpus)
      : program_(std::move(program)), cpus_(std::move(cpus)) {}

  Moves keep_apart();
  // Also of what was born since. Returns how many tasks could not be put back.
  std::size_t put_back();

  // The tasks of the program, as of now.
  [[nodiscard]] std::vector<LivingTask> program_tasks() const;

 private:
  using Identity = std::pair<pid_t, std::uint64_t>;  // tid and start
  struct Change {
    CpuList before;
    CpuList after;
  };
  enum class Outcome { unchanged, moved, bound, refused };

  [[nodiscard]] bool is_ours(const LivingTask& task, const std::map<pid_t, pid_t>& parents) const;
  Outcome place(const LivingTask& task, bool ours);
  // Its parent had been moved when it was born.
  [[nodiscard]] bool was_born_moved(const LivingTask& task,
                                    const std::map<pid_t, pid_t>& parents) const;
  [[nodiscard]] const Change* change_of_family(const LivingTask& task, const CpuList& now,
                                               const std::map<pid_t, pid_t>& parents) const;

  std::vector<pid_t> program_;
  CpuList cpus_;
  std::set<Identity> seen_;  // those that were there before
  std::map<Identity, Change> changes_;
  std::map<pid_t, Change> families_;  // by process, moved or not: what its first task was given
};

}  // namespace loft::source::scheduler
