#include "source/perf_events/task_trace.hpp"

#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace loft::source::perf_events {
namespace {

constexpr long kOptions =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

void* as_data(long value) { return reinterpret_cast<void*>(value); }

// A change of some task that is still to be taken.
std::optional<siginfo_t> next_change() {
  siginfo_t info{};
  constexpr int kWhich = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD;
  if (::waitid(P_ALL, 0, &info, kWhich) != 0 || info.si_pid == 0) return std::nullopt;
  return info;
}

bool is_end(const siginfo_t& info) {
  return info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
}

bool stops_groups(int number) {
  return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

}  // namespace

Result<TaskTrace> TaskTrace::follow(pid_t root) {
  TaskTrace trace;
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  trace.children_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!trace.children_.is_open()) return failure_of_errno(errno, "wait for threads");
  if (::ptrace(PTRACE_SEIZE, root, nullptr, as_data(kOptions)) != 0)
    return failure_of_errno(errno, "follow the threads of the program with ptrace");
  ::pthread_sigmask(SIG_BLOCK, &wanted, &trace.before_);
  trace.root_ = root;
  trace.tasks_.insert(root);
  return trace;
}

TaskTrace::TaskTrace(TaskTrace&& other) noexcept
    : root_(std::exchange(other.root_, -1)),
      tasks_(std::move(other.tasks_)),
      children_(std::move(other.children_)),
      before_(other.before_) {}

TaskTrace::~TaskTrace() {
  if (root_ < 0) return;
  for (const pid_t tid : tasks_) let_go(tid);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// A task can be left only while it stands still; a signal that it was about to get goes along.
void TaskTrace::let_go(pid_t tid) {
  if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) return;  // it is gone
  int status = 0;
  pid_t changed = 0;
  do changed = ::waitpid(tid, &status, __WALL | __WNOTHREAD);
  while (changed < 0 && errno == EINTR);
  if (changed != tid || !WIFSTOPPED(status)) return;
  const bool for_signal = (status >> 16) == 0;
  ::ptrace(PTRACE_DETACH, tid, nullptr, as_data(for_signal ? WSTOPSIG(status) : 0));
}

void TaskTrace::drain(Visitor& visitor) {
  signalfd_siginfo told{};
  while (::read(children_.get(), &told, sizeof told) == sizeof told) {
  }
  while (const auto change = next_change()) {
    const pid_t tid = change->si_pid;
    if (is_end(*change)) {
      if (tasks_.erase(tid) != 0) visitor.ended(tid);
      if (tid == root_) return;
    }
    int status = 0;
    if (::waitpid(tid, &status, __WALL | __WNOTHREAD) != tid) return;
    if (WIFSTOPPED(status)) take_stop(tid, status, visitor);
  }
}

void TaskTrace::take_stop(pid_t tid, int status, Visitor& visitor) {
  if (tasks_.insert(tid).second) visitor.born(tid);
  const int event = status >> 16;
  const int number = WSTOPSIG(status);
  if (event == PTRACE_EVENT_STOP && stops_groups(number)) {
    ::ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);  // stays stopped, as it was told to
    return;
  }
  if (event == PTRACE_EVENT_EXEC) {
    unsigned long before = 0;
    ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &before);
    const auto former = static_cast<pid_t>(before);
    if (former != tid && tasks_.erase(former) != 0) visitor.renamed(former, tid);
  }
  ::ptrace(PTRACE_CONT, tid, nullptr, as_data(event == 0 ? number : 0));
}

}  // namespace loft::source::perf_events
