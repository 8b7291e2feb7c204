// Marked regions of a program that runs natively.
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "loft/region.h"

namespace {

void work() {
  volatile double value = 1;
  for (int i = 0; i < 200; ++i) value = value * 1.5;
}

void inner() {
  const loft::Region region("inner");
  work();
}

void outer(int times) {
  for (int i = 0; i < times; ++i) {
    const loft::Region region("outer");
    inner();
    inner();
  }
}

void in_fork() {
  LOFT_REGION_BEGIN("outer");
  const pid_t child = fork();
  inner();
  LOFT_REGION_END("outer");
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int, char** argv) {
  const std::string way = argv[1] != nullptr ? argv[1] : "nothing";
  if (way == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(outer, 20);
    for (auto& thread : threads) thread.join();
  }
  if (way == "fork") in_fork();
  if (way == "wrong") {
    LOFT_REGION_END("never begun");
    LOFT_REGION_BEGIN("outer");
  }
  return 0;
}
