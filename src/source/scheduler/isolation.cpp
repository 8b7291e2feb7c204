#include "source/scheduler/isolation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "source/scheduler/cpuset_partition.hpp"
#include "source/scheduler/placement.hpp"

namespace loft::source::scheduler {
namespace {

constexpr int kNice = -20;
constexpr int kRealtimePriority = 1;  // before all that is not realtime; more is not needed
constexpr char kEndOfWords = '\0';

std::string name_of(const CpuList& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + format_cpu_list(cpus);
}

// The place of the program's tasks in the queues of their CPUs.
class Priority {
 public:
  explicit Priority(bool is_realtime) : is_realtime_(is_realtime) {}

  std::vector<std::string> raise(const std::vector<LivingTask>& tasks) {
    for (const LivingTask& task : tasks) {
      errno = 0;
      before_ = ::getpriority(PRIO_PROCESS, static_cast<id_t>(task.tid));
      const sched_param parameter{kRealtimePriority};
      const int failed = is_realtime_
                             ? ::sched_setscheduler(task.tid, SCHED_FIFO, &parameter)
                             : ::setpriority(PRIO_PROCESS, static_cast<id_t>(task.tid), kNice);
      if (failed != 0)
        return {
            fmt::format("not isolated: no better place in the queue of a CPU ({}; CAP_SYS_NICE "
                        "is needed)",
                        describe_errno(errno))};
      is_raised_ = true;
    }
    if (!is_raised_) return {};
    if (!is_realtime_) return {fmt::format("isolated: nice {}", kNice) + autogroup()};
    return {
        "isolated: SCHED_FIFO, before all ordinary work on its CPUs. The kernel keeps a share of "
        "each CPU for ordinary work (pauses of 50 ms were seen), and a program that never waits "
        "leaves it nothing else"};
  }

  // A task that changed its own stays as it is.
  std::size_t lower(const std::vector<LivingTask>& tasks) const {
    std::size_t failed = 0;
    if (!is_raised_) return failed;
    for (const LivingTask& task : tasks) {
      const auto id = static_cast<id_t>(task.tid);
      const sched_param parameter{0};
      if (is_realtime_ && ::sched_getscheduler(task.tid) == SCHED_FIFO)
        failed += ::sched_setscheduler(task.tid, SCHED_OTHER, &parameter) != 0 && errno != ESRCH;
      if (!is_realtime_ && ::getpriority(PRIO_PROCESS, id) == kNice)
        failed += ::setpriority(PRIO_PROCESS, id, before_) != 0 && errno != ESRCH;
    }
    return failed;
  }

 private:
  static std::string autogroup() {
    const auto setting = read_line("/proc/sys/kernel/sched_autogroup_enabled");
    return setting && *setting == "1" ? ", which counts within its session (autogroup is on)" : "";
  }

  bool is_realtime_;
  bool is_raised_ = false;
  int before_ = 0;
};

std::vector<std::string> describe(const Moves& moves, const CpuList& cpus) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("isolated: the program on {}, {} other tasks kept away from there",
                              name_of(cpus), with_separators(moves.moved)));
  if (moves.refused > 0)
    lines.push_back(fmt::format("not isolated: {} tasks of other users may come to {}",
                                with_separators(moves.refused), name_of(cpus)));
  if (moves.bound > 0)
    lines.push_back(fmt::format("not isolated: {} tasks may run nowhere but on {}",
                                with_separators(moves.bound), name_of(cpus)));
  return lines;
}

class Guardian {
 public:
  Guardian(const std::vector<pid_t>& program, const CpuList& cpus, bool is_realtime)
      : cpus_(cpus), placement_(program, cpus), priority_(is_realtime) {}

  // Undoes everything when nobody holds the other end of `life` any more.
  [[noreturn]] void watch(const Fd& life, const Fd& words) {
    ::setsid();  // what the terminal sends to loft is not for it
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
    ::prctl(PR_SET_NAME, "loft-guardian");
    std::vector<std::string> lines = give_cpus();
    for (std::string& line : priority_.raise(placement_.program_tasks()))
      lines.push_back(std::move(line));
    say(words, join(lines, "\n") + kEndOfWords);
    char nothing = 0;
    while (::read(life.get(), &nothing, 1) < 0 && errno == EINTR) {
    }
    const std::size_t failed = priority_.lower(placement_.program_tasks()) + take_cpus_back();
    if (failed > 0)
      say(words, fmt::format("{} tasks could not be put back where they were", failed));
    ::_exit(0);
  }

 private:
  // By a cpuset where that is allowed: it holds back also who comes later, and the kernel's own.
  std::vector<std::string> give_cpus() {
    if (cpus_.empty())
      return {"not isolated: there is only one CPU for the program and all others"};
    std::vector<pid_t> processes;
    for (const LivingTask& task : placement_.program_tasks())
      if (task.tid == task.pid) processes.push_back(task.pid);
    auto made = CpusetPartition::make(processes, cpus_);
    if (!made) return describe(placement_.keep_apart(), cpus_);
    partition_ = *std::move(made);
    return {"isolated: the kernel keeps " + name_of(cpus_) + " for the program alone (cpuset)"};
  }

  std::size_t take_cpus_back() {
    if (partition_) return partition_->undo() ? 0 : 1;
    return cpus_.empty() ? 0 : placement_.put_back();
  }

  static void say(const Fd& words, const std::string& text) {
    // Who does not listen is gone; the changes are undone all the same.
    [[maybe_unused]] const ssize_t said = ::write(words.get(), text.data(), text.size());
  }

  const CpuList& cpus_;
  Placement placement_;
  std::optional<CpusetPartition> partition_;
  Priority priority_;
};

}  // namespace

Result<CpuList> choose_cpus(const CpuList& wanted, const CpuList& allowed, const SystemRoot& root) {
  if (!wanted.empty()) {
    if (!std::ranges::includes(allowed, wanted))
      return failure(ErrorKind::invalid_input, "isolate the program on " + name_of(wanted),
                     "loft itself may use only " + name_of(allowed));
    if (wanted.size() == allowed.size())
      return failure(ErrorKind::invalid_input, "isolate the program on " + name_of(wanted),
                     "nothing would be left for all others", "name fewer CPUs");
    return wanted;
  }
  if (allowed.size() < 2) return CpuList();
  // Others get the first core with all its threads: interrupts are there most often.
  CpuList others{allowed.front()};
  const auto siblings = read_line(root.at(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", allowed.front())));
  if (const auto core = siblings ? parse_cpu_list(*siblings) : CpuList(); core && !core->empty())
    others = *core;
  CpuList cpus;
  std::ranges::set_difference(allowed, others, std::back_inserter(cpus));
  return cpus.empty() ? CpuList(allowed.begin() + 1, allowed.end()) : cpus;
}

Result<Isolation> Isolation::begin(const std::vector<pid_t>& program, const IsolationWish& wish) {
  LOFT_TRY(const CpuList allowed, allowed_cpus());
  LOFT_TRY(CpuList cpus, choose_cpus(wish.cpus, allowed));
  int life[2];
  int words[2];
  if (::pipe2(life, O_CLOEXEC) != 0) return failure_of_errno(errno, "make a pipe");
  Fd life_read(life[0]), life_write(life[1]);
  if (::pipe2(words, O_CLOEXEC) != 0) return failure_of_errno(errno, "make a pipe");
  Fd words_read(words[0]), words_write(words[1]);
  const pid_t guardian = ::fork();
  if (guardian < 0) return failure_of_errno(errno, "start the guardian of the isolation");
  if (guardian == 0) {
    life_write = Fd();
    words_read = Fd();
    Guardian(program, cpus, wish.is_realtime).watch(life_read, words_write);
  }
  words_write = Fd();
  Isolation isolation(guardian, std::move(life_write), std::move(words_read), std::move(cpus));
  isolation.report_ = isolation.listen();
  return isolation;
}

Isolation::Isolation(Isolation&& other) noexcept
    : guardian_(std::exchange(other.guardian_, -1)),
      life_(std::move(other.life_)),
      words_(std::move(other.words_)),
      cpus_(std::move(other.cpus_)),
      report_(std::move(other.report_)) {}

Isolation& Isolation::operator=(Isolation&& other) noexcept {
  if (this == &other) return *this;
  (void)end();
  guardian_ = std::exchange(other.guardian_, -1);
  life_ = std::move(other.life_);
  words_ = std::move(other.words_);
  cpus_ = std::move(other.cpus_);
  report_ = std::move(other.report_);
  return *this;
}

std::vector<std::string> Isolation::listen() const {
  std::string text;
  char letter = 0;
  ssize_t got = 0;
  while ((got = ::read(words_.get(), &letter, 1)) == 1 || (got < 0 && errno == EINTR)) {
    if (got < 0) continue;
    if (letter == kEndOfWords) break;
    text += letter;
  }
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> Isolation::end() {
  if (guardian_ < 0) return {};
  life_ = Fd();
  auto lines = listen();
  int status = 0;
  while (::waitpid(guardian_, &status, 0) < 0 && errno == EINTR) {
  }
  guardian_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    lines.push_back(
        "the guardian of the isolation ended early: tasks may still be kept away from " +
        name_of(cpus_));
  return lines;
}

}  // namespace loft::source::scheduler
