// lab_family threads|forks COUNT ROUNDS: COUNT threads or children, each of which executes a loop
// of 2 * ROUNDS instructions. The start of threads and children costs some thousands more.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void loop(long rounds) {
  asm volatile(
      "1: subs %0, %0, #1\n"
      "   b.ne 1b\n"
      : "+r"(rounds)
      :
      : "cc");
}

int run_threads(long count, long rounds) {
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) threads.emplace_back(loop, rounds);
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int run_children(long count, long rounds) {
  for (long i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) {
      loop(rounds);
      ::_exit(0);
    }
  }
  int status = 0;
  while (::wait(&status) > 0) {
    if (status != 0) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long count = std::atol(argv[2]);
  const long rounds = std::atol(argv[3]);
  if (count <= 0 || rounds <= 0) return 2;
  return std::strcmp(argv[1], "threads") == 0 ? run_threads(count, rounds)
                                              : run_children(count, rounds);
}
