// What tasks that are traced with ptrace have to tell.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <optional>

namespace loft::source {

// A change of some task that is still to be taken.
inline std::optional<siginfo_t> next_change() {
  siginfo_t info{};
  constexpr int kWhich = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD;
  if (::waitid(P_ALL, 0, &info, kWhich) != 0 || info.si_pid == 0) return std::nullopt;
  return info;
}

inline bool is_end(const siginfo_t& info) {
  return info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
}

inline bool stops_groups(int number) {
  return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

}  // namespace loft::source
