// How a running program is taken hold of, and let go.
#ifdef LOFT_HAS_ENGINE

#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/calls/call_tracer.hpp"
#include "source/living_tasks.hpp"

namespace loft::source::calls {
namespace {

constexpr Nanoseconds kPatience = std::chrono::seconds(5);
constexpr Nanoseconds kMoments = std::chrono::microseconds(500);

bool is_ours_or_gone(pid_t pid, pid_t tid) {
  const auto status = read_file(fmt::format("/proc/{}/task/{}/status", pid, tid));
  const auto has = [&](const std::string& line) { return status->find(line) != std::string::npos; };
  return !status || has("State:\tZ") || has("State:\tX") ||
         has(fmt::format("TracerPid:\t{}\n", ::getpid()));
}

// Their numbers alone: the program may be held already, and each file that is read takes time.
std::vector<pid_t> thread_numbers(pid_t pid) {
  std::vector<pid_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      ::opendir(fmt::format("/proc/{}/task", pid).c_str()), ::closedir);
  if (folder == nullptr) return tids;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const auto tid = parse_u64(entry->d_name)) tids.push_back(static_cast<pid_t>(*tid));
  return tids;
}

}  // namespace

// Until there is no thread that was not there before: they may start others meanwhile.
Result<void> CallTracer::seize_threads(pid_t pid) {
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const pid_t tid : thread_numbers(pid)) {
      if (threads_.contains(tid)) continue;
      if (::ptrace(PTRACE_SEIZE, tid, nullptr, as_data(kOptions)) != 0) {
        const int why = errno;
        // Else its parent is traced, and will tell.
        if (why == ESRCH || is_ours_or_gone(pid, tid)) continue;
        return failure_of_errno(
            why, "attach to the program with ptrace",
            "another tracer may have it; kernel.yama.ptrace_scope may forbid it");
      }
      threads_[tid].pid = pid;
      is_new = true;
    }
  }
  return {};
}

// Waits for one thread to stand still. Whatever it was about to tell is kept or done.
Result<void> CallTracer::await_stop(pid_t tid) {
  const Nanoseconds begin = now();
  for (Nanoseconds waited{0}; waited < kPatience; waited = now() - begin) {
    int status = 0;
    const pid_t changed = ::waitpid(tid, &status, WNOHANG | __WALL | __WNOTHREAD);
    if (changed == 0) {  // most stop at once: until then it may have this CPU
      constexpr timespec kMoment{0, 50'000};
      if (waited < kMoments)
        ::sched_yield();
      else
        ::nanosleep(&kMoment, nullptr);
      continue;
    }
    if (changed < 0 || !WIFSTOPPED(status)) {
      take_end(tid);
      return {};
    }
    Thread& thread = threads_[tid];
    thread.is_stopped = true;
    const int event = status >> 16;
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
      note_birth(tid, event);
    } else if (event == PTRACE_EVENT_EXEC) {
      take_exec(tid);
    } else if (event == 0 || WSTOPSIG(status) != SIGTRAP) {
      thread.held_status = status;
    }
    return {};
  }
  return failure(ErrorKind::limit, "hold the threads of the program",
                 "one of them does not stop: it waits in the kernel", "try again");
}

Result<void> CallTracer::stop_threads(std::optional<pid_t> pid) {
  for (;;) {
    std::vector<pid_t> running;
    for (const auto& [tid, thread] : threads_)
      if (!thread.is_stopped && (!pid || thread.pid == *pid)) running.push_back(tid);
    if (running.empty()) return {};
    for (const pid_t tid : running) ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    for (const pid_t tid : running)
      if (threads_.contains(tid)) LOFT_CHECK(await_stop(tid));
  }
}

void CallTracer::resume_threads(pid_t except) {
  std::vector<pid_t> stopped;
  for (const auto& [tid, thread] : threads_)
    if (thread.is_stopped && tid != except) stopped.push_back(tid);
  for (const pid_t tid : stopped) {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end() || !thread->second.is_stopped) continue;
    const int status = std::exchange(thread->second.held_status, 0);
    if (status != 0) {
      take_stop(tid, status);
    } else {
      go_on(tid);
    }
  }
}

// Not between instructions that a patch covers now.
Result<void> CallTracer::place_outside(pid_t tid) {
  const Tracee tracee(tid);
  LOFT_TRY(auto registers, tracee.registers());
  const auto moved = image_of(tid)->moved(registers.rip);
  if (!moved) return {};
  registers.rip = *moved;
  return tracee.set_registers(registers);
}

Result<void> CallTracer::attach(pid_t pid) {
  if (!children_.is_open()) LOFT_CHECK(open_signals());
  // What takes time is done before anything is held.
  for (const MappedCode& code : code_of(pid)) {
    if (!code.path.starts_with('/')) continue;
    (void)plans_.of(code.path);
    if (code.path.find("/ld-") != std::string::npos) (void)plans_.file(code.path);
  }
  LOFT_CHECK(threads_of(pid));
  LOFT_TRY(Image image, Image::of(pid, plans_, options_));
  processes_[pid];
  const Nanoseconds begin = now();
  LOFT_CHECK(seize_threads(pid));
  LOFT_CHECK(stop_threads(std::nullopt));
  processes_[pid].image = std::make_shared<Image>(std::move(image));
  Image& now_image = *processes_[pid].image;
  std::vector<pid_t> tids;
  for (const auto& [tid, thread] : threads_)
    if (thread.pid == pid) tids.push_back(tid);
  if (tids.empty()) return failure(ErrorKind::not_found, "attach to the program", "it has ended");
  for (const pid_t tid : tids) {
    LOFT_TRY(const auto registers, Tracee(tid).registers());
    LOFT_CHECK(check_64bit(registers, pid));
    if (registers.gs_base != 0)
      return failure(ErrorKind::unsupported, "watch calls natively",
                     "the program uses the gs register itself", "use --source virtual");
  }
  LOFT_CHECK(now_image.hook_loader(Tracee(tids.front())));
  LOFT_CHECK(now_image.watch_modules(Tracee(tids.front())));
  for (const pid_t tid : tids) {
    LOFT_CHECK(place_outside(tid));
    LOFT_CHECK(begin_thread(tid));
  }
  resume_threads(0);
  held_ = std::max(held_, now() - begin);
  return {};
}

Result<void> CallTracer::detach_process(pid_t pid) {
  std::vector<pid_t> tids;
  for (const auto& [tid, thread] : threads_)
    if (thread.pid == pid) tids.push_back(tid);
  const auto image = processes_[pid].image;
  if (image == nullptr || tids.empty()) return {};
  for (const pid_t tid : tids) {
    const auto at = Tracee(tid).registers();
    if (at && image->loader() && at->rip == image->loader()->trap) threads_[tid].held_status = 0;
    LOFT_CHECK(leave_own_code(tid));
    const Tracee tracee(tid);
    LOFT_TRY(auto registers, tracee.registers());
    const Arena* arena = image->arena();  // what the program itself has put into gs stays there
    if (arena == nullptr || registers.gs_base - arena->address() >= arena->size()) continue;
    registers.gs_base = 0;
    LOFT_CHECK(tracee.set_registers(registers));
  }
  LOFT_CHECK(image->restore());
  for (const pid_t tid : tids)
    for (const std::uint64_t page : std::exchange(threads_[tid].pages, {}))
      processes_[pid].stale.push_back(page);
  LOFT_CHECK(unmap_counters(Tracee(tids.front()), pid));
  return image->unmap(Tracee(tids.front()));
}

Result<void> CallTracer::detach() {
  if (threads_.empty()) return {};
  const Nanoseconds begin = now();
  Result<void> result = stop_threads(std::nullopt);
  std::vector<pid_t> pids;
  for (const auto& [pid, process] : processes_) pids.push_back(pid);
  for (const pid_t pid : pids) {
    if (!result) break;
    result = detach_process(pid);
  }
  for (const auto& [tid, thread] : threads_) {
    const bool is_signal = thread.held_status != 0 && thread.held_status >> 16 == 0;
    const int signal = is_signal ? WSTOPSIG(thread.held_status) : 0;
    if (thread.is_stopped) ::ptrace(PTRACE_DETACH, tid, nullptr, as_data(signal));
  }
  for (const auto& [tid, status] : early_) ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
  held_ = std::max(held_, now() - begin);
  // What was counted is in loft's memory, too: it is read while the program goes on.
  for (auto& [tid, thread] : threads_) give_up_context(thread);
  threads_.clear();
  early_.clear();
  for (const pid_t pid : pids) give_up_process(pid);
  return result;
}

void CallTracer::read() {
  for (auto& [tid, thread] : threads_) {
    const Image* image = image_of(tid);
    if (thread.context && image != nullptr)
      results_.read_kept(*thread.arena, *thread.context, thread.number, image->functions());
  }
}

std::vector<std::uint64_t> CallTracer::calls() const {
  std::vector<std::uint64_t> calls(results_.run().functions.size());
  const auto& ended = results_.run().statistics;
  for (std::size_t i = 0; i < ended.size(); ++i)
    calls[i] = ended[i].calls + ended[i].open + ended[i].unmeasured;
  for (const auto& [tid, thread] : threads_) {
    const auto process = processes_.find(thread.pid);
    if (!thread.context || process == processes_.end()) continue;
    const auto& functions = process->second.image->functions();
    const auto sums =
        thread.arena->all_sums(*thread.context, static_cast<std::uint32_t>(functions.size()));
    for (std::size_t i = 0; i < sums.size(); ++i)
      calls[functions[i]] += sums[i].calls + sums[i].open + sums[i].unmeasured;
  }
  return calls;
}

Nanoseconds CallTracer::cpu_time() const {
  Nanoseconds sum{0};
  for (const auto& [pid, process] : processes_) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &time) == 0)
      sum += std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
  }
  return sum;
}

void CallTracer::leave_alone(const std::vector<std::uint32_t>& functions) {
  const Nanoseconds begin = now();
  Result<void> result = stop_threads(std::nullopt);
  for (auto& [pid, process] : processes_)
    for (const std::uint32_t function : functions)
      if (result && process.image != nullptr) result = process.image->leave_alone(function);
  note(result);
  resume_threads(0);
  held_ = std::max(held_, now() - begin);
}

}  // namespace loft::source::calls

#endif
