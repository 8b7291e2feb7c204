// A program that loft starts, held at the gate until everything that watches it is in place.
//
//   LOFT_TRY(auto child, ChildProcess::prepare({"./app", "--fast"}));
//   attach_counters(child.pid());
//   LOFT_CHECK(child.start());            // exec happens here; a failed exec is this error
//   LOFT_TRY(const auto end, child.wait());
//   return end.shell_status();
//
// The owner ends it: a child that was never started, or is still running when its owner goes,
// is killed and reaped.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;      // meaningful when signal is 0
  int signal = 0;         // the signal that killed it, or 0
  rusage usage{};         // its own and its waited-for children's resources
  Nanoseconds elapsed{};  // from start() to its end

  // What a shell would report: the exit code, or 128 + signal.
  [[nodiscard]] int shell_status() const { return signal == 0 ? exit_code : 128 + signal; }
};

// What a program gets as its input and outputs instead of loft's own; -1 leaves one as it is.
struct StandardStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

class ChildProcess {
 public:
  // Forks and stops before exec. The error of a program that cannot be found or run comes from
  // start(), with kind no_such_command (127) or cannot_execute (126).
  [[nodiscard]] static Result<ChildProcess> prepare(const std::vector<std::string>& command,
                                                    StandardStreams streams = {});

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // `meanwhile`, if given, is called now and then until exec has happened: for a tracer whose
  // answer the child may need.
  [[nodiscard]] Result<void> start(const std::function<void()>& meanwhile = {});

  // Blocks until the program has ended and reaps it.
  [[nodiscard]] Result<ProcessEnd> wait();

  // Lets the program go on without an owner.
  void release() { pid_ = -1; }

  // Sends a signal; a process that is already gone is not an error.
  void signal(int number) const;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Nanoseconds start_time() const { return start_time_; }

 private:
  ChildProcess(pid_t pid, Fd gate, Fd verdict, std::string name)
      : pid_(pid), gate_(std::move(gate)), verdict_(std::move(verdict)), name_(std::move(name)) {}
  void end();

  pid_t pid_ = -1;
  Fd gate_;     // a byte written here lets the child exec
  Fd verdict_;  // the child writes errno here when exec fails; closed by a successful exec
  std::string name_;
  Nanoseconds start_time_{};
};

}  // namespace loft
