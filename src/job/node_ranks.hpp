// Which processes of this node belong to which rank of a job, as they come and go.
//
//   NodeRanks ranks(own_job_here(), read_process);
//   ranks.look_at(pid, time);               // what it executes is new: its environment tells
//   ranks.take_fork(child, parent, time);   // a child belongs where its parent does
//   ranks.take_exit(pid, time);
//   for (const NodeRank& rank : ranks.ranks()) use(rank.rank, rank.end);
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.hpp"
#include "job/rank.hpp"

namespace loft::job {

// What tells a process of the job from others. Empty: makes no difference.
struct JobHere {
  std::string node;
  std::string job;            // of the batch system
  std::string cgroup;         // of the job, where the batch system has made one
  std::string own_launch;     // of this process, whose own ranks are recorders
  uid_t user = 0;             // where there is neither job nor cgroup: ranks of this user
  std::optional<pid_t> root;  // only what this process has started
};
[[nodiscard]] JobHere own_job_here();

// The cgroup of a job, by the lines of /proc/PID/cgroup: as far as its component "job_ID". Empty
// where there is none.
[[nodiscard]] std::string cgroup_of_job(std::string_view lines, std::string_view job);

struct ProcessFacts {
  std::vector<std::pair<std::string, std::string>> environment;
  std::string cgroups;  // the lines of /proc/PID/cgroup
  std::string command;
  uid_t user = 0;
};
// Nothing where it has ended, or may not be read.
[[nodiscard]] std::optional<ProcessFacts> read_process(pid_t pid);

struct NodeRank {
  Rank rank;
  std::string command;
  pid_t pid = 0;              // of its first process
  Fd process;                 // likewise, where the kernel gives one
  std::uint64_t begin = 0;    // as the caller's times are
  std::uint64_t end = 0;      // 0: it runs
  std::optional<int> status;  // as a shell tells it, once it is known
  bool lost_samples = false;  // the number of one of its processes was given to another, later
};

// How a process ended that somebody else has waited for. Nothing: it has not, or the kernel does
// not tell (before Linux 6.15).
[[nodiscard]] std::optional<int> status_of_ended(const Fd& process);

class NodeRanks {
 public:
  using Reader = std::function<std::optional<ProcessFacts>(pid_t)>;
  NodeRanks(JobHere here, Reader reader) : here_(std::move(here)), reader_(std::move(reader)) {
    if (here_.root) family_.emplace(*here_.root, 0);
  }

  void look_at(pid_t pid, std::uint64_t time);
  // Looks once more at processes whose environment was not there yet.
  void look_again(std::uint64_t time);
  void take_fork(pid_t child, pid_t parent, std::uint64_t time);
  // Gives a rank the child that it had before it was met, even one that has ended.
  void adopt(pid_t child, pid_t parent);
  void take_exit(pid_t pid, std::uint64_t time);
  // Asks how ranks ended. Whether all that were met have ended, and told.
  bool read_statuses();

  [[nodiscard]] const std::vector<NodeRank>& ranks() const { return ranks_; }
  [[nodiscard]] std::optional<std::size_t> rank_of(pid_t pid) const;
  // All processes that were met, as samples have them.
  [[nodiscard]] std::map<std::uint32_t, std::size_t> by_process() const;
  [[nodiscard]] bool have_all_ended() const;

 private:
  [[nodiscard]] std::optional<Rank> rank_in(const ProcessFacts& facts) const;
  [[nodiscard]] bool is_of_job(const Rank& rank, const ProcessFacts& facts) const;

  JobHere here_;
  Reader reader_;
  std::vector<NodeRank> ranks_;
  std::unordered_map<pid_t, std::size_t> by_pid_;     // those that have ended, too
  std::unordered_map<pid_t, std::uint64_t> family_;   // of the root, since when; the living ones
  std::unordered_map<pid_t, std::uint64_t> started_;  // of processes that may become ranks
  std::map<pid_t, std::uint64_t> unread_;             // without an environment, since when
};

}  // namespace loft::job
