// One recorder for all ranks of a job on this node: what each did, by samples of its CPUs, in one
// file. So cost and files grow with the nodes, not with the ranks.
//
//   LOFT_TRY(const NodeResult result, record_node({.folder = "results"}));
//
// Ranks are told by the environment that their launcher gave them; what they start is theirs. The
// recorder ends with its command, where it was given one, else a moment after the last rank that it
// has met, or by a signal.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace loft::job {

struct NodeRequest {
  std::string folder;
  std::vector<std::string> command;  // empty: ranks that others start
  Nanoseconds period{2503009};       // between two samples of a CPU; no divisor of usual periods
};

struct NodeResult {
  std::string path;
  std::size_t ranks = 0;
  int exit_status = 0;  // of the command
  std::vector<std::string> notes;
};

[[nodiscard]] Result<NodeResult> record_node(const NodeRequest& request);

}  // namespace loft::job
