#include "cli/guarded_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.hpp"
#include "source/supervisor.hpp"

namespace loft::cli {
namespace {

Result<int> wait_for(pid_t worker, const std::string& what) {
  LOFT_TRY(auto supervisor,
           source::Supervisor::create([worker](int signal) { ::kill(worker, signal); }));
  LOFT_CHECK(supervisor.follow(worker));
  while (!supervisor.is_over()) LOFT_CHECK(supervisor.wait(std::nullopt));
  int status = 0;
  if (::waitpid(worker, &status, 0) != worker) return failure_of_errno(errno, what);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return failure(
      ErrorKind::internal, what,
      fmt::format("the process that measures was ended: {}", ::strsignal(WTERMSIG(status))));
}

}  // namespace

Result<int> run_guarded(const std::string& what, const std::function<Result<int>(int life)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure_of_errno(errno, what);
  const Fd life(ends[0]);
  Fd held(ends[1]);
  const pid_t worker = ::fork();
  if (worker < 0) return failure_of_errno(errno, what);
  if (worker != 0) return wait_for(worker, what);
  held = Fd();
  return work(life.get());
}

}  // namespace loft::cli
