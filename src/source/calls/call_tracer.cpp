#ifdef LOFT_HAS_ENGINE

#include "source/calls/call_tracer.hpp"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "source/living_tasks.hpp"
#include "source/task_changes.hpp"

namespace loft::source::calls {
CallTracer::~CallTracer() {
  if (!children_.is_open()) return;
  note(detach());
  // Others may have changed the mask since: just what was blocked here is let through again.
  sigset_t own;
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGCHLD);
  if (::sigismember(&before_, SIGCHLD) == 0) ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

Result<void> CallTracer::open_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  children_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!children_.is_open()) return failure_of_errno(errno, "wait for threads");
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  return {};
}

void CallTracer::note(const Result<void>& result) {
  if (!result && !error_) error_ = result.error();
}

Image* CallTracer::image_of(pid_t tid) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return nullptr;
  const auto process = processes_.find(thread->second.pid);
  return process == processes_.end() ? nullptr : process->second.image.get();
}

Result<void> CallTracer::launch(pid_t root) {
  LOFT_CHECK(open_signals());
  if (::ptrace(PTRACE_SEIZE, root, nullptr, as_data(kOptions)) != 0)
    return failure_of_errno(errno, "follow the program with ptrace");
  root_ = root;
  processes_[root];
  threads_[root].pid = root;
  return {};
}

void CallTracer::drain() {
  signalfd_siginfo signal{};
  while (::read(children_.get(), &signal, sizeof signal) == sizeof signal) {
  }
  while (const auto change = next_change()) {
    const pid_t tid = change->si_pid;
    if (is_end(*change)) {
      take_end(tid);
      if (tid == root_) return;  // reaping it is left to its owner
    }
    int status = 0;
    if (::waitpid(tid, &status, __WALL | __WNOTHREAD) != tid) return;
    if (WIFSTOPPED(status)) take_stop(tid, status);
  }
}

void CallTracer::go_on(pid_t tid, int signal) {
  if (const auto thread = threads_.find(tid); thread != threads_.end())
    thread->second.is_stopped = false;
  ::ptrace(PTRACE_CONT, tid, nullptr, as_data(signal));
}

void CallTracer::take_stop(pid_t tid, int status) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) {
    early_[tid] = status;  // its parent will tell who it is
    return;
  }
  thread->second.is_stopped = true;
  const int event = status >> 16;
  const int number = WSTOPSIG(status);
  if (event == PTRACE_EVENT_STOP && stops_groups(number)) {
    thread->second.is_stopped = false;
    ::ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);  // stays stopped until SIGCONT
  } else if (event != 0) {
    take_event(tid, event);
  } else {
    take_signal(tid, number);
  }
}

void CallTracer::take_event(pid_t tid, int event) {
  switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      note_birth(tid, event);
      break;
    case PTRACE_EVENT_EXEC:
      take_exec(tid);
      break;
    default:
      if (threads_[tid].number == kNotBegun) note(begin_thread(tid));
  }
  go_on(tid);
}

void CallTracer::note_birth(pid_t parent, int event) {
  unsigned long message = 0;
  if (::ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &message) != 0) return;
  const auto child = static_cast<pid_t>(message);
  const pid_t pid = threads_[parent].pid;
  const auto task = event == PTRACE_EVENT_CLONE ? task_with(child) : std::nullopt;
  const bool is_thread = task && task->pid == pid;
  threads_[child].pid = is_thread ? pid : child;
  if (!is_thread && processes_[pid].image != nullptr) {
    auto image = processes_[pid].image->forked(child);
    if (image)
      processes_[child].image = std::make_shared<Image>(std::move(*image));
    else
      note(tl::make_unexpected(image.error()));
  } else if (!is_thread) {
    processes_[child];
  }
  const auto early = early_.find(child);
  if (early == early_.end()) return;
  const int status = early->second;
  early_.erase(early);
  take_stop(child, status);
}

// A thread that has not run yet. It has its parent's gs, which would be its parent's context.
Result<void> CallTracer::begin_thread(pid_t tid) {
  Thread& thread = threads_[tid];
  thread.number = results_.add_thread(thread.pid, tid);
  return give_context(tid);
}

Result<void> CallTracer::give_context(pid_t tid) {
  Thread& thread = threads_[tid];
  const Image* image = image_of(tid);
  if (image == nullptr || image->arena() == nullptr || image->is_restored() || thread.context)
    return {};
  thread.arena = image->shared_arena();
  thread.context = thread.arena->open_context();
  if (!thread.context) results_.note("too many threads at a time: calls of some are not measured");
  if (thread.context && counters_ != nullptr) open_counters(tid);
  const Tracee tracee(tid);
  LOFT_TRY(auto registers, tracee.registers());
  registers.gs_base = thread.arena->address_of(thread.context.value_or(Arena::kCommon));
  return tracee.set_registers(registers);
}

// A thread without counters has calls without counts; then all are left out.
void CallTracer::open_counters(pid_t tid) {
  Thread& thread = threads_[tid];
  const Image& image = *image_of(tid);
  const Tracee tracee(tid);
  note(unmap_counters(tracee, thread.pid));
  const auto pages =
      image.is_filtered()
          ? failure(ErrorKind::unsupported, "open counters", "the program filters system calls")
          : counters_->open(tracee, image.syscall_instruction(), thread.pid);
  if (!pages) return results_.drop_counts(to_string(pages.error()));
  thread.pages = *pages;
  thread.arena->set_counters(*thread.context, thread.pages);
}

// Those of threads that have ended: it takes one that lives to unmap them.
Result<void> CallTracer::unmap_counters(const Tracee& thread, pid_t pid) {
  const Image* image = image_of(thread.tid());
  for (const std::uint64_t page : std::exchange(processes_[pid].stale, {}))
    if (image != nullptr && !image->is_filtered())
      LOFT_CHECK(thread.system_call(image->syscall_instruction(), SYS_munmap,
                                    {page, kCounterPage, 0, 0, 0, 0}));
  return {};
}

void CallTracer::give_up_context(Thread& thread) {
  if (!thread.context) return;
  const auto process = processes_.find(thread.pid);
  if (process != processes_.end())
    for (const std::uint64_t page : std::exchange(thread.pages, {}))
      process->second.stale.push_back(page);
  if (process != processes_.end() && process->second.image != nullptr)
    results_.close(*thread.arena, *thread.context, thread.number,
                   process->second.image->functions());
  thread.context.reset();
  thread.arena.reset();
}

void CallTracer::take_end(pid_t tid) {
  early_.erase(tid);
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  give_up_context(thread->second);
  const pid_t pid = thread->second.pid;
  threads_.erase(thread);
  for (const auto& [other, state] : threads_)
    if (state.pid == pid) return;
  give_up_process(pid);
}

void CallTracer::give_up_process(pid_t pid) {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  give_up_image(process->second.image);
  processes_.erase(process);
}

void CallTracer::give_up_image(const std::shared_ptr<Image>& image) {
  if (image == nullptr) return;
  for (const std::string& text : image->notes()) results_.note(text);
  const std::shared_ptr<Arena>& arena = image->shared_arena();
  const bool is_last = arena != nullptr && arena.use_count() == 1;
  if (is_last) results_.close(*arena, Arena::kCommon, kNotBegun, image->functions());
}

// What the program itself is must be watched; what it starts may be something else.
void CallTracer::take_exec(pid_t tid) {
  const bool is_first = tid == root_ && processes_[tid].image == nullptr;
  const auto begun = begin_image(tid);
  if (begun) return;
  if (is_first) note(begun);
  results_.note(to_string(begun.error()));
}

// After exec: one thread is left, and nothing of what was there before.
Result<void> CallTracer::begin_image(pid_t pid) {
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    if (thread->second.pid != pid) {
      ++thread;
      continue;
    }
    give_up_context(thread->second);
    thread = thread->first == pid ? std::next(thread) : threads_.erase(thread);
  }
  Thread& thread = threads_[pid];
  thread.pid = pid;
  thread.number = results_.add_thread(pid, pid);
  give_up_image(processes_[pid].image);
  processes_[pid] = {};
  const Tracee tracee(pid);
  LOFT_CHECK(tracee.step());  // out of exec, which would still change its registers
  LOFT_TRY(const auto registers, tracee.registers());
  LOFT_CHECK(check_64bit(registers, pid));
  LOFT_TRY(Image image, Image::of(pid, plans_, options_));
  LOFT_CHECK(image.hook_loader(tracee));
  processes_[pid].image = std::make_shared<Image>(std::move(image));
  Image& now = *processes_[pid].image;
  if (now.loader()) return {};
  LOFT_CHECK(now.watch_modules(tracee));
  return give_context(pid);
}

void CallTracer::take_signal(pid_t tid, int number) {
  const Image* image = image_of(tid);
  if (number == SIGTRAP && image != nullptr && !image->is_restored()) {
    const auto registers = Tracee(tid).registers();
    if (registers && image->is_own_code(registers->rip)) {
      const bool is_loader = image->loader() && registers->rip == image->loader()->trap;
      note(is_loader ? take_loader_stop(tid) : take_segment_stop(tid));
      go_on(tid);
      return;
    }
  }
  siginfo_t info{};
  const bool is_known = ::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) == 0;
  // A fault is where it is; everything else comes a few instructions later as well.
  const bool is_fault =
      is_known && info.si_code > 0 && number != SIGTRAP &&
      (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
  if (!is_fault) {
    note(leave_own_code(tid));
    if (is_known) ::ptrace(PTRACE_SETSIGINFO, tid, nullptr, &info);
  }
  go_on(tid, number);
}

Result<void> CallTracer::take_loader_stop(pid_t tid) {
  Image& image = *image_of(tid);
  const Tracee tracee(tid);
  if (!image.is_loader_consistent()) return {};
  image.forget_mappings();
  const bool was_watched = image.arena() != nullptr;
  LOFT_CHECK(image.watch_modules(tracee));
  if (was_watched || image.arena() == nullptr) return {};
  const pid_t pid = threads_[tid].pid;
  LOFT_CHECK(stop_threads(pid));
  std::vector<pid_t> others;
  for (const auto& [other, thread] : threads_)
    if (thread.pid == pid) others.push_back(other);
  for (const pid_t other : others) LOFT_CHECK(give_context(other));
  resume_threads(tid);
  return {};
}

// The agent stops where the program is about to set gs, in which it finds its context.
Result<void> CallTracer::take_segment_stop(pid_t tid) {
  const pid_t pid = threads_[tid].pid;
  LOFT_CHECK(stop_threads(pid));
  const Result<void> restored = image_of(tid)->restore();
  results_.note(fmt::format(
      "process {} took the gs register for itself: its calls were watched until then; use --source "
      "virtual",
      pid));
  resume_threads(tid);
  return restored;
}

// A signal's handler must not find the agent at work, and nobody may be in code that goes.
Result<void> CallTracer::leave_own_code(pid_t tid) {
  const Image* image = image_of(tid);
  if (image == nullptr) return {};
  const Tracee tracee(tid);
  constexpr int kMostSteps = 1'000'000;  // the longest way is that over all frames
  std::vector<int> others;               // signals that come meanwhile
  for (int i = 0; i < kMostSteps; ++i) {
    LOFT_TRY(const auto registers, tracee.registers());
    if (!image->is_own_code(registers.rip)) {
      for (const int number : others) ::syscall(SYS_tgkill, threads_[tid].pid, tid, number);
      return {};
    }
    LOFT_TRY(const int status, tracee.step());
    if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP) others.push_back(WSTOPSIG(status));
  }
  return failure(ErrorKind::internal, "let a thread leave the agent", "it does not get out");
}

}  // namespace loft::source::calls

#endif
