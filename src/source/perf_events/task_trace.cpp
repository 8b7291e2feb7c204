#include "source/perf_events/task_trace.hpp"

#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "source/task_changes.hpp"

namespace loft::source::perf_events {
namespace {

constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
constexpr int kSystemCallStop = SIGTRAP | 0x80;

// Whoever is to be traced says so soon after its birth. Few processes make so many system calls
// before they become another program, and two stops for each cost a moment.
constexpr int kLookedAt = 128;

constexpr Nanoseconds kPatience = std::chrono::seconds(2);

void* as_data(long value) { return reinterpret_cast<void*>(value); }

// The first thread of its process.
bool is_process(pid_t tid) { return ::syscall(SYS_tgkill, tid, tid, 0) == 0; }

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
  trace.born_.insert(root);
  return trace;
}

TaskTrace::TaskTrace(TaskTrace&& other) noexcept
    : root_(std::exchange(other.root_, -1)),
      tasks_(std::move(other.tasks_)),
      born_(std::move(other.born_)),
      before_exec_(std::move(other.before_exec_)),
      children_(std::move(other.children_)),
      before_(other.before_) {}

TaskTrace::~TaskTrace() {
  if (root_ < 0) return;
  let_all_go();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// A task can be left only while it stands still. They come to that in any order: one that waits for
// a child it has vforked does not before the child has gone on. Whoever takes too long is left when
// loft ends.
void TaskTrace::let_all_go() {
  for (const pid_t tid : tasks_) ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  const Nanoseconds deadline = now() + kPatience;
  while (!tasks_.empty() && now() < deadline) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, WNOHANG | __WALL | __WNOTHREAD);
    if (tid < 0 && errno != EINTR) return;  // there is none any more
    if (tid <= 0) {
      constexpr timespec kMoment{0, 10'000'000};
      ::sigtimedwait(&children, nullptr, &kMoment);
      continue;
    }
    if (WIFSTOPPED(status)) {
      const int event = status >> 16;
      note_child(tid, event);
      // A signal that it was about to get goes along.
      const int number = WSTOPSIG(status);
      ::ptrace(PTRACE_DETACH, tid, nullptr,
               as_data(event == 0 && number != kSystemCallStop ? number : 0));
    }
    tasks_.erase(tid);
  }
}

// A new task is known from its parent, before it has stood still for the first time.
void TaskTrace::note_child(pid_t tid, int event) {
  if (event != PTRACE_EVENT_CLONE && event != PTRACE_EVENT_FORK && event != PTRACE_EVENT_VFORK)
    return;
  unsigned long child = 0;
  if (::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &child) == 0)
    tasks_.insert(static_cast<pid_t>(child));
}

// A child asks its parent to trace it (gdb), or stops itself until its parent does (strace).
bool TaskTrace::wants_another_tracer(pid_t tid, int status) {
  const auto looked_at = before_exec_.find(tid);
  if (looked_at == before_exec_.end() || --looked_at->second < 0) return false;
  if (WSTOPSIG(status) == kSystemCallStop) {
    __ptrace_syscall_info call{};
    return ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, as_data(sizeof call), &call) > 0 &&
           call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_ptrace &&
           call.entry.args[0] == PTRACE_TRACEME;
  }
  siginfo_t signal{};
  return status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP &&
         ::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &signal) == 0 && signal.si_pid == tid;
}

void TaskTrace::resume(pid_t tid, int signal) {
  const auto looked_at = before_exec_.find(tid);
  const bool at_calls = looked_at != before_exec_.end() && looked_at->second > 0;
  ::ptrace(at_calls ? PTRACE_SYSCALL : PTRACE_CONT, tid, nullptr, as_data(signal));
}

void TaskTrace::drain(Visitor& visitor) {
  signalfd_siginfo signal{};
  while (::read(children_.get(), &signal, sizeof signal) == sizeof signal) {
  }
  while (const auto change = next_change()) {
    const pid_t tid = change->si_pid;
    if (is_end(*change)) {
      tasks_.erase(tid);
      before_exec_.erase(tid);
      if (born_.erase(tid) != 0) visitor.ended(tid);
      if (tid == root_) return;
    }
    int status = 0;
    if (::waitpid(tid, &status, __WALL | __WNOTHREAD) != tid) return;
    if (WIFSTOPPED(status)) take_stop(tid, status, visitor);
  }
}

void TaskTrace::take_stop(pid_t tid, int status, Visitor& visitor) {
  tasks_.insert(tid);
  if (born_.insert(tid).second) {
    if (is_process(tid)) before_exec_.emplace(tid, kLookedAt);
    visitor.born(tid);
  }
  const int event = status >> 16;
  note_child(tid, event);
  const int number = WSTOPSIG(status);
  if (event == PTRACE_EVENT_STOP && stops_groups(number)) {
    ::ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);  // stays stopped until SIGCONT
    return;
  }
  const int signal = event == 0 && number != kSystemCallStop ? number : 0;
  if (wants_another_tracer(tid, status)) {
    ::ptrace(PTRACE_DETACH, tid, nullptr, as_data(signal));
    tasks_.erase(tid);
    born_.erase(tid);
    before_exec_.erase(tid);
    visitor.left(tid);
    return;
  }
  if (event == PTRACE_EVENT_EXEC) {
    before_exec_.erase(tid);
    unsigned long before = 0;
    ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &before);
    const auto former = static_cast<pid_t>(before);
    tasks_.erase(former);
    tasks_.insert(tid);
    if (former != tid && born_.erase(former) != 0) visitor.renamed(former, tid);
  }
  resume(tid, signal);
}

}  // namespace loft::source::perf_events
