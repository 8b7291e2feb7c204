// Follows the processes and threads of a program with ptrace, patches what they run, and gives each
// thread its context. They run at full speed: they stop when they start a thread or process, load a
// library, get a signal, or end.
//
//   CallTracer tracer(plans, options, results);
//   LOFT_CHECK(tracer.launch(child.pid()));       // held before exec; or tracer.attach(pid)
//   tracer.drain();                               // whenever tracer.fd() is readable
//   LOFT_CHECK(tracer.detach());                  // the program is as it was
//
// Everything happens in the thread that made it, as ptrace demands.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "source/calls/call_results.hpp"
#include "source/calls/counters.hpp"
#include "source/calls/image.hpp"

namespace loft::source::calls {

class CallTracer {
 public:
  CallTracer(PlanStore& plans, const ArenaOptions& options, CallResults& results,
             const Counters* counters = nullptr)
      : plans_(plans), options_(options), results_(results), counters_(counters) {}
  ~CallTracer();
  CallTracer(const CallTracer&) = delete;
  CallTracer& operator=(const CallTracer&) = delete;

  [[nodiscard]] Result<void> launch(pid_t root);
  [[nodiscard]] Result<void> attach(pid_t pid);
  [[nodiscard]] Result<void> detach();

  // Readable when there may be something to drain.
  [[nodiscard]] int fd() const { return children_.get(); }
  void drain();
  // Takes over what threads have counted and kept so far.
  void read();
  // How often each of the run's functions was called so far.
  [[nodiscard]] std::vector<std::uint64_t> calls() const;
  // Of all processes that are followed.
  [[nodiscard]] Nanoseconds cpu_time() const;
  // Takes the patches of functions away.
  void leave_alone(const std::vector<std::uint32_t>& functions);

  // The first thing that went wrong while nobody waited for an answer.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] bool has_tasks() const { return !threads_.empty(); }
  // How long threads of a running program were held, at most.
  [[nodiscard]] Nanoseconds held() const { return held_; }

 private:
  static constexpr long kOptions =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  static void* as_data(long value) { return reinterpret_cast<void*>(value); }  // of ptrace

  static constexpr std::uint32_t kNotBegun = ~std::uint32_t{0};
  struct Process {
    std::shared_ptr<Image> image;
    std::vector<std::uint64_t> stale;  // pages of counters of threads that have ended
  };
  struct Thread {
    pid_t pid = 0;
    std::shared_ptr<Arena> arena;
    std::optional<std::uint32_t> context;
    std::vector<std::uint64_t> pages;  // of its counters
    std::uint32_t number = kNotBegun;  // in the results
    bool is_stopped = false;
    int held_status = 0;  // what it stopped with, if that is still to be taken
  };

  [[nodiscard]] Result<void> open_signals();
  void take_stop(pid_t tid, int status);
  void take_event(pid_t tid, int event);
  void take_signal(pid_t tid, int number);
  void take_exec(pid_t tid);
  void take_end(pid_t tid);
  void go_on(pid_t tid, int signal = 0);

  void note_birth(pid_t parent, int event);
  [[nodiscard]] Result<void> begin_thread(pid_t tid);
  [[nodiscard]] Result<void> begin_image(pid_t pid);
  [[nodiscard]] Result<void> give_context(pid_t tid);
  void give_up_context(Thread& thread);
  void open_counters(pid_t tid);
  [[nodiscard]] Result<void> unmap_counters(const Tracee& thread, pid_t pid);
  void give_up_process(pid_t pid);
  void give_up_image(const std::shared_ptr<Image>& image);
  [[nodiscard]] Result<void> take_loader_stop(pid_t tid);
  [[nodiscard]] Result<void> take_segment_stop(pid_t tid);
  [[nodiscard]] Result<void> leave_own_code(pid_t tid);
  [[nodiscard]] Result<void> place_outside(pid_t tid);

  // Of one process, or of all.
  [[nodiscard]] Result<void> stop_threads(std::optional<pid_t> pid);
  void resume_threads(pid_t except);
  [[nodiscard]] Result<void> await_stop(pid_t tid);
  [[nodiscard]] Result<void> seize_threads(pid_t pid);
  [[nodiscard]] Result<void> detach_process(pid_t pid);
  void note(const Result<void>& result);
  [[nodiscard]] Image* image_of(pid_t tid);

  PlanStore& plans_;
  ArenaOptions options_;
  CallResults& results_;
  const Counters* counters_;  // none: the time alone
  pid_t root_ = -1;           // whose end is left to its owner
  std::map<pid_t, Process> processes_;
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, int> early_;  // threads that stopped before their parent told of them
  Fd children_;
  sigset_t before_{};
  std::optional<Error> error_;
  Nanoseconds held_{0};
};

}  // namespace loft::source::calls
