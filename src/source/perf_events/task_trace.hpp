// Follows every thread and child of a program from its birth, with ptrace.
//
// For kernels that do not report what a thread has counted when it ends. A new task stands still,
// before its first instruction, until what watches it is in place; its end is reported when its
// counters are final.
//
//   LOFT_TRY(auto trace, TaskTrace::follow(child.pid()));
//   trace.drain(visitor);             // whenever trace.fd() is readable
//
// Everything happens in the thread that called follow(), as ptrace demands. A program goes on by
// itself when loft is gone, however loft ended.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::source::perf_events {

class TaskTrace {
 public:
  class Visitor {
   public:
    virtual void born(pid_t tid) = 0;
    // The task is gone but for its name in /proc.
    virtual void ended(pid_t tid) = 0;
    // A thread that is not its process's first has called exec: it is known as `tid` from now on.
    virtual void renamed(pid_t from, pid_t tid) = 0;
    // The program itself is about to trace this process, as a debugger does: only one may. It is
    // not followed any further, nor is what it starts; its counters go on.
    virtual void left(pid_t tid) = 0;

   protected:
    ~Visitor() = default;
  };

  // `root` is a child of this thread, which has no other, held before exec. When it ends, reaping
  // it is left to its owner, and the trace is over.
  [[nodiscard]] static Result<TaskTrace> follow(pid_t root);

  TaskTrace(TaskTrace&& other) noexcept;
  TaskTrace& operator=(TaskTrace&&) = delete;
  ~TaskTrace();

  // Readable when there may be something to drain.
  [[nodiscard]] int fd() const { return children_.get(); }

  void drain(Visitor& visitor);

 private:
  TaskTrace() = default;
  void take_stop(pid_t tid, int status, Visitor& visitor);
  void let_all_go();
  void note_child(pid_t tid, int event);
  void resume(pid_t tid, int signal);
  [[nodiscard]] bool wants_another_tracer(pid_t tid, int status);

  pid_t root_ = -1;
  std::set<pid_t> tasks_;             // that are traced
  std::set<pid_t> born_;              // of them, those that the visitor knows
  std::map<pid_t, int> before_exec_;  // new processes, and how many of their stops are looked at
  Fd children_;                       // SIGCHLD, blocked meanwhile
  sigset_t before_{};
};

}  // namespace loft::source::perf_events
