#include "job/node_ranks.hpp"

#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::job {
namespace {

constexpr std::size_t kMostWaiting = 1 << 16;  // processes that nobody has seen ending
// The kernel tells of an exec before it has put the environment in its place; on a busy machine the
// process may wait for a CPU in between. One that has none after so long was given none.
constexpr std::uint64_t kMostUnreadNs = 5'000'000'000;

// The first version of the kernel's struct, which all later ones begin with.
struct PidfdInfo {
  __u64 mask = 0;
  __u64 cgroup = 0;
  __u32 pid = 0, tgid = 0, parent = 0;
  __u32 users[8] = {};
  __s32 exit_code = 0;
};
constexpr __u64 kExitInfo = 1u << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

std::string proc_path(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

}  // namespace

std::string cgroup_of_job(std::string_view lines, std::string_view job) {
  if (job.empty()) return {};
  const std::string component = "/job_" + std::string(job);
  for (const std::string_view line : split(lines, '\n')) {
    const std::size_t controllers = line.find(':');
    const std::size_t start = line.find(':', controllers + 1);
    if (controllers == std::string_view::npos || start == std::string_view::npos) continue;
    const std::string_view path = line.substr(start + 1);
    const std::size_t at = path.find(component);
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + component.size();
    if (end == path.size() || path[end] == '/') return std::string(path.substr(0, end));
  }
  return {};
}

std::optional<ProcessFacts> read_process(pid_t pid) {
  struct stat status {};
  if (::stat(proc_path(pid, "").c_str(), &status) != 0) return std::nullopt;
  const auto environment = read_file(proc_path(pid, "environ"));
  if (!environment) return std::nullopt;
  ProcessFacts facts;
  facts.user = status.st_uid;
  for (const std::string_view variable : split(*environment, '\0')) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string_view::npos)
      facts.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  facts.cgroups = read_file(proc_path(pid, "cgroup")).value_or("");
  std::string words = read_file(proc_path(pid, "cmdline")).value_or("");
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  facts.command = std::move(words);
  return facts;
}

JobHere own_job_here() {
  const Whereabouts where = own_whereabouts();
  JobHere here;
  here.node = where.node;
  here.job = where.job;
  here.cgroup = cgroup_of_job(read_file("/proc/self/cgroup").value_or(""), where.job);
  if (const auto rank = own_rank()) here.own_launch = rank->launch;
  here.user = ::geteuid();
  return here;
}

std::optional<int> status_of_ended(const Fd& process) {
  PidfdInfo info;
  info.mask = kExitInfo;
  if (!process.is_open() || ::ioctl(process.get(), kGetInfo, &info) != 0) return std::nullopt;
  if ((info.mask & kExitInfo) == 0) return std::nullopt;
  constexpr int kSignalled = 128;
  return WIFSIGNALED(info.exit_code) ? kSignalled + WTERMSIG(info.exit_code)
                                     : WEXITSTATUS(info.exit_code);
}

std::optional<Rank> NodeRanks::rank_in(const ProcessFacts& facts) const {
  const auto variable = [&](const char* name) -> const char* {
    const auto found = std::ranges::find(facts.environment, std::string_view(name),
                                         &std::pair<std::string, std::string>::first);
    return found == facts.environment.end() ? nullptr : found->second.c_str();
  };
  // Without a name of its own a node is this one.
  const bool is_named = variable("SLURMD_NODENAME") != nullptr;
  auto rank = job::rank_of(variable, here_.node);
  if (rank && is_named && rank->node != here_.node) return std::nullopt;
  return rank;
}

bool NodeRanks::is_of_job(const Rank& rank, const ProcessFacts& facts) const {
  if (!here_.own_launch.empty() && rank.launch == here_.own_launch) return false;
  if (!here_.cgroup.empty()) return cgroup_of_job(facts.cgroups, here_.job) == here_.cgroup;
  if (!here_.job.empty()) return rank.job == here_.job;
  return facts.user == here_.user;
}

void NodeRanks::look_at(pid_t pid, std::uint64_t time) {
  if (pid == ::getpid() || by_pid_.contains(pid)) return;
  if (here_.root && !family_.contains(pid)) return;
  const auto facts = reader_(pid);
  if (!facts) return;
  if (facts->environment.empty() && unread_.size() < kMostWaiting) unread_.emplace(pid, time);
  auto rank = rank_in(*facts);
  if (!rank || !is_of_job(*rank, *facts)) return;
  const auto started = started_.find(pid);
  const std::uint64_t begin = started == started_.end() ? time : started->second;
  // A process that a rank has left behind, or another one of it that was started apart. The rings
  // of CPUs are read one after the other: a child may be met before the process that it is of.
  const auto known = std::ranges::find_if(ranks_, [&](const NodeRank& each) {
    return (each.end == 0 || begin < each.begin) && each.rank.number == rank->number &&
           each.rank.launch == rank->launch;
  });
  by_pid_[pid] = static_cast<std::size_t>(known - ranks_.begin());
  if (known != ranks_.end() && begin >= known->begin) return;
  NodeRank& first = known == ranks_.end() ? ranks_.emplace_back() : *known;
  first.rank = *std::move(rank);
  first.command = facts->command;
  first.pid = pid;
  first.process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  first.begin = begin;
  first.end = 0;
  first.status.reset();
}

void NodeRanks::look_again(std::uint64_t time) {
  for (const auto& [pid, since] : std::exchange(unread_, {})) {
    if (time - std::min(time, since) > kMostUnreadNs) continue;
    look_at(pid, since);
  }
}

void NodeRanks::take_fork(pid_t child, pid_t parent, std::uint64_t time) {
  if (child == parent) return;  // a thread
  if (const auto family = family_.find(parent); family != family_.end())
    family_.emplace(child, time);
  if (const auto found = by_pid_.find(parent); found != by_pid_.end()) {
    by_pid_[child] = found->second;
    return;
  }
  if (const auto before = by_pid_.find(child); before != by_pid_.end()) {
    ranks_[before->second].lost_samples = true;
    by_pid_.erase(before);
  }
  if (started_.size() < kMostWaiting) started_[child] = time;
}

void NodeRanks::adopt(pid_t child, pid_t parent) {
  const auto found = by_pid_.find(parent);
  if (child != parent && found != by_pid_.end()) by_pid_.try_emplace(child, found->second);
}

void NodeRanks::take_exit(pid_t pid, std::uint64_t time) {
  family_.erase(pid);
  started_.erase(pid);
  unread_.erase(pid);
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return;
  NodeRank& rank = ranks_[found->second];
  if (rank.pid == pid) rank.end = std::max(rank.end, time);
}

bool NodeRanks::read_statuses() {
  bool are_known = true;
  for (NodeRank& rank : ranks_) {
    if (rank.end != 0 && !rank.status) rank.status = status_of_ended(rank.process);
    are_known = are_known && rank.status;
  }
  return are_known;
}

std::optional<std::size_t> NodeRanks::rank_of(pid_t pid) const {
  const auto found = by_pid_.find(pid);
  return found == by_pid_.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::uint32_t, std::size_t> NodeRanks::by_process() const {
  std::map<std::uint32_t, std::size_t> ranks;
  for (const auto& [pid, rank] : by_pid_) ranks.emplace(static_cast<std::uint32_t>(pid), rank);
  return ranks;
}

bool NodeRanks::have_all_ended() const {
  return std::ranges::all_of(ranks_, [](const NodeRank& rank) { return rank.end != 0; });
}

}  // namespace loft::job
