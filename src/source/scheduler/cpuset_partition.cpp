#include "source/scheduler/cpuset_partition.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source::scheduler {
namespace {

constexpr int kMostSweeps = 100;  // processes are born while others are moved

// These files take one write each, and tell by it whether they agree.
Result<void> tell(const std::string& file, const std::string& value) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "open " + file);
  if (::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    return failure_of_errno(errno, "write '" + value + "' to " + file);
  return {};
}

bool has_word(const std::string& file, std::string_view word) {
  const auto line = read_line(file);
  if (!line) return false;
  const auto words = split(trim(*line), ' ');
  return std::ranges::find(words, word) != words.end();
}

// The path behind "0::" of /proc/PID/cgroup.
std::string home_of(pid_t process, const SystemRoot& root) {
  const auto text = read_file(root.at(fmt::format("/proc/{}/cgroup", process)));
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n'))
    if (line.starts_with("0::")) return std::string(line.substr(3));
  return {};
}

}  // namespace

Result<CpusetPartition> CpusetPartition::make(const std::vector<pid_t>& program,
                                              const CpuList& cpus, const SystemRoot& root) {
  const std::string top = root.at("/sys/fs/cgroup");
  if (!has_word(top + "/cgroup.controllers", "cpuset"))
    return failure(ErrorKind::unsupported, "keep CPUs for the program by a cpuset",
                   "cgroup v2 does not manage cpusets here");
  CpusetPartition partition(top, fmt::format("{}/loft-{}", top, ::getpid()));
  auto done = partition.set_up(cpus);
  for (std::size_t i = 0; done && i < program.size(); ++i) done = partition.admit(program[i], root);
  if (done) return partition;
  partition.undo();
  return Failure(done.error());
}

Result<void> CpusetPartition::set_up(const CpuList& cpus) {
  const std::string control = top_ + "/cgroup.subtree_control";
  if (!has_word(control, "cpuset")) {
    LOFT_CHECK(tell(control, "+cpuset"));
    enabled_cpusets_ = true;
  }
  if (::mkdir(folder_.c_str(), 0755) != 0) return failure_of_errno(errno, "make " + folder_);
  made_folder_ = true;
  LOFT_CHECK(tell(folder_ + "/cpuset.cpus", format_cpu_list(cpus)));
  const std::string kind = folder_ + "/cpuset.cpus.partition";
  LOFT_CHECK(tell(kind, "root"));
  // The kernel takes the word also where it cannot follow it, and says so here.
  LOFT_TRY(const auto became, read_line(kind));
  if (trim(became) != "root")
    return failure(ErrorKind::unsupported, "keep CPUs for the program by a cpuset",
                   "the kernel says: " + printable(trim(became)));
  return {};
}

Result<void> CpusetPartition::admit(pid_t process, const SystemRoot& root) {
  homes_[process] = home_of(process, root);
  return tell(folder_ + "/cgroup.procs", std::to_string(process));
}

bool CpusetPartition::undo() {
  const std::string first_home = homes_.empty() ? "/" : homes_.begin()->second;
  for (int round = 0; made_folder_ && round < kMostSweeps; ++round) {
    const auto members = read_file(folder_ + "/cgroup.procs");
    if (!members || trim(*members).empty()) break;
    for (const std::string_view member : split(trim(*members), '\n')) {
      const auto pid = parse_u64(member);
      const auto home = pid ? homes_.find(static_cast<pid_t>(*pid)) : homes_.end();
      // One that has ended meanwhile is not there any more; the next round tells.
      (void)tell(top_ + (home != homes_.end() ? home->second : first_home) + "/cgroup.procs",
                 std::string(member));
    }
  }
  bool is_undone = true;
  if (made_folder_) {
    (void)tell(folder_ + "/cpuset.cpus.partition", "member");
    is_undone = ::rmdir(folder_.c_str()) == 0;
    made_folder_ = !is_undone;
  }
  // Refused while other groups rely on it: then somebody else wants it now.
  if (enabled_cpusets_ && is_undone) (void)tell(top_ + "/cgroup.subtree_control", "-cpuset");
  return is_undone;
}

}  // namespace loft::source::scheduler
