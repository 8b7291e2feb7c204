// CPUs that the kernel keeps for a program alone: a cpuset partition of cgroup v2. It holds back
// everybody, kernel threads included, and nobody can choose to come back.
//
//   LOFT_TRY(auto partition, CpusetPartition::make({program}, {2, 3}));
//   ...
//   partition.undo();
//
// Takes root and a kernel that manages cpusets by cgroup v2. It is not undone by itself when its
// owner goes: the guardian of the isolation sees to that.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/places.hpp"
#include "base/result.hpp"

namespace loft::source::scheduler {

class CpusetPartition {
 public:
  // `program`: processes. What they start from then on belongs to them.
  [[nodiscard]] static Result<CpusetPartition> make(const std::vector<pid_t>& program,
                                                    const CpuList& cpus,
                                                    const SystemRoot& root = {});
  // Everything back to where it was; false when something stayed.
  bool undo();

 private:
  CpusetPartition(std::string top, std::string folder)
      : top_(std::move(top)), folder_(std::move(folder)) {}
  [[nodiscard]] Result<void> set_up(const CpuList& cpus);
  [[nodiscard]] Result<void> admit(pid_t process, const SystemRoot& root);

  std::string top_;     // of all control groups
  std::string folder_;  // the program's own
  bool enabled_cpusets_ = false;
  bool made_folder_ = false;
  std::map<pid_t, std::string> homes_;  // where its processes were
};

}  // namespace loft::source::scheduler
