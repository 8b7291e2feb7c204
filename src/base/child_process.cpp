#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace loft {
namespace {

constexpr int kPatience = 2;  // milliseconds between two looks at what a starting child may need

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure_of_errno(errno, "make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Runs in the child: waits for the gate, then becomes the program. Only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, StandardStreams streams, const Fd& gate,
                         const Fd& verdict) {
  char go = 0;
  ssize_t got = 0;
  do got = ::read(gate.get(), &go, 1);
  while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(0);  // the parent gave up
  const auto put = [](int from, int at) { return from < 0 || ::dup2(from, at) >= 0; };
  if (put(streams.in, STDIN_FILENO) && put(streams.out, STDOUT_FILENO) &&
      put(streams.err, STDERR_FILENO))
    ::execvp(arguments[0], arguments);
  const int reason = errno;
  // Nothing can be done about a parent that is gone.
  [[maybe_unused]] const ssize_t told = ::write(verdict.get(), &reason, sizeof reason);
  ::_exit(127);
}

// Waits for the end of a child; what a tracer is told of it on the way is not its end.
bool reap(pid_t pid, int& status, rusage* usage) {
  for (;;) {
    const pid_t changed = ::wait4(pid, &status, 0, usage);
    if (changed == pid && !WIFSTOPPED(status)) return true;
    if (changed < 0 && errno != EINTR) return false;
  }
}

Failure exec_failure(int number, const std::string& name) {
  const std::string what = "run '" + name + "'";
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return failure(
          ErrorKind::no_such_command, what,
          "no such program" + std::string(name.find('/') == std::string::npos ? " in PATH" : ""),
          "check the name, or give its path");
    case EACCES:
      return failure(ErrorKind::cannot_execute, what,
                     "EACCES, it is not an executable file for this user",
                     "chmod +x it, and check that its file system is not mounted noexec");
    case ENOEXEC:
      return failure(ErrorKind::cannot_execute, what,
                     "ENOEXEC, it is not a program this kernel can start",
                     "a script needs a #! line; a binary must be of this machine's architecture");
    default:
      return failure(ErrorKind::cannot_execute, what, describe_errno(number));
  }
}

}  // namespace

Result<ChildProcess> ChildProcess::prepare(const std::vector<std::string>& command,
                                           StandardStreams streams) {
  if (command.empty() || command[0].empty())
    return failure(ErrorKind::invalid_input, "run a program", "no command was given",
                   "write it after --, as in: loft stat -- ./app");
  LOFT_TRY(Pipe gate, make_pipe());
  LOFT_TRY(Pipe verdict, make_pipe());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid < 0) return failure_of_errno(errno, "start a process");
  if (pid == 0) {
    gate.write_end = Fd();  // or the read would never see the parent's end
    become(arguments.data(), streams, gate.read_end, verdict.write_end);
  }
  return ChildProcess(pid, std::move(gate.write_end), std::move(verdict.read_end), command[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      gate_(std::move(other.gate_)),
      verdict_(std::move(other.verdict_)),
      name_(std::move(other.name_)),
      start_time_(other.start_time_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    gate_ = std::move(other.gate_);
    verdict_ = std::move(other.verdict_);
    name_ = std::move(other.name_);
    start_time_ = other.start_time_;
  }
  return *this;
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::end() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  reap(pid_, status, nullptr);
  pid_ = -1;
}

Result<void> ChildProcess::start(const std::function<void()>& meanwhile) {
  start_time_ = now();
  const char go = 1;
  if (::write(gate_.get(), &go, 1) != 1) return failure_of_errno(errno, "start '" + name_ + "'");
  gate_ = Fd();
  pollfd told{verdict_.get(), POLLIN, 0};
  for (int ready = 0; meanwhile && (ready = ::poll(&told, 1, kPatience)) <= 0;) {
    if (ready < 0 && errno != EINTR) break;
    meanwhile();
  }
  int reason = 0;
  ssize_t got = 0;
  do got = ::read(verdict_.get(), &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  verdict_ = Fd();
  if (got == 0) return {};  // closed by exec: the program runs
  end();
  return exec_failure(got == sizeof reason ? reason : EIO, name_);
}

Result<ProcessEnd> ChildProcess::wait() {
  ProcessEnd result;
  int status = 0;
  if (!reap(pid_, status, &result.usage))
    return failure_of_errno(errno, "wait for '" + name_ + "'");
  result.elapsed = now() - start_time_;
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

}  // namespace loft
