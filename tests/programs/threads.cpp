// threads N: starts N threads, each named workI and busy for a while, one of them with a thread of
// its own; they hand the CPU to each other often.
// threads 0 COMMAND: a thread that is not the first becomes COMMAND.
// threads wait COMMAND: a second thread waits for input and ends; half a second later the first one
// becomes COMMAND.
// threads share ROUNDS: two threads count, each in its own half of a line, and both in one counter.
// threads trace asked|seized: traces a child of its own, as debuggers do, and ends with 0 when the
// child stopped and ended as it should.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// A variable in the middle of its cache line, as most are.
asm(".pushsection .bss, \"aw\", %nobits\n"
    ".balign 64\n"
    ".skip 24\n"
    ".globl together\n"
    ".type together, %object\n"
    ".size together, 8\n"
    "together: .skip 8\n"
    ".balign 64\n"
    ".popsection");
extern "C" std::atomic<long> together;

namespace {

void spin(int rounds) {
  volatile double value = 1;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 200000; ++i) value = value * 1.0000001;
    ::sched_yield();
  }
}

void work(int index) {
  ::pthread_setname_np(::pthread_self(), ("work" + std::to_string(index)).c_str());
  if (index == 0) std::thread([] { spin(5); }).join();
  spin(10 * (index + 1));
}

struct alignas(64) Line {
  volatile long count[2] = {};
};
Line neighbours;
std::atomic<int> ready;

__attribute__((noinline)) void count_beside(int index, int rounds) {
  for (int i = 0; i < rounds; ++i) neighbours.count[index] = neighbours.count[index] + 1;
}

__attribute__((noinline)) void count_together(int rounds) {
  for (int i = 0; i < rounds; ++i) together.fetch_add(1);
}

void share(int index, int rounds) {
  for (++ready; ready < 2;) ::sched_yield();
  count_beside(index, rounds);
  count_together(rounds);
}

// Either the child asks to be traced, or it stops until its parent does.
int trace_a_child(bool child_asks) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (child_asks) ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::kill(::getpid(), SIGSTOP);
    ::_exit(7);
  }
  int status = 0;
  if (::waitpid(child, &status, child_asks ? 0 : WUNTRACED) != child || !WIFSTOPPED(status))
    return 2;
  if (!child_asks && ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr) != 0) return 3;
  if (child_asks) ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  ::kill(child, SIGCONT);
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status))
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "trace") == 0)
    return trace_a_child(std::strcmp(argv[2], "asked") == 0);
  if (argc > 2 && std::strcmp(argv[1], "share") == 0) {
    std::thread other(share, 1, std::atoi(argv[2]));
    share(0, std::atoi(argv[2]));
    other.join();
    return together == 2L * std::atoi(argv[2]) ? 0 : 1;
  }
  if (argc > 2 && std::strcmp(argv[1], "wait") == 0) {
    std::thread([] { std::getchar(); }).join();
    ::usleep(500'000);
    ::execvp(argv[2], argv + 2);
    return 1;
  }
  const int count = argc > 1 ? std::atoi(argv[1]) : 4;
  if (count == 0 && argc > 2) std::thread([argv] { ::execvp(argv[2], argv + 2); }).join();
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}
