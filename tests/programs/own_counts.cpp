// Counts itself under the engine.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "counted_work.hpp"
#include "loft/count.h"

namespace {

int g_failures = 0;

void check(bool is_good, const char* what, double found = 0) {
  if (is_good) return;
  std::printf("failed: %s (%.0f)\n", what, found);
  ++g_failures;
}

loft_counters* open(const char* names) {
  char why[512] = "";
  loft_counters* counters = loft_counters_open(names, why, sizeof why);
  if (counters == nullptr) std::printf("failed: %s\n", why), std::exit(2);
  return counters;
}

double value(loft_counters* counters, std::size_t index) {
  loft_count count{};
  loft_counters_read(counters, index, &count);
  return count.kind == LOFT_COUNTED ? count.value : -1;
}

double rounds(loft_counters* counters, long n, std::size_t index) {
  loft_counters_reset(counters);
  loft_counters_start(counters);
  work(n);
  loft_counters_stop(counters);
  return value(counters, index);
}

void check_thread() {
  loft_counters* counters = open("instructions,flops,flops_dp");
  rounds(counters, 10, 0);
  const double few = rounds(counters, 1000, 0), many = rounds(counters, 101000, 0);
  check(many - few == 400000, "instructions of 100,000 rounds", many - few);
  check(rounds(counters, 777, 1) == 777, "operations", value(counters, 1));
  check(value(counters, 2) == 777, "operations of double precision", value(counters, 2));
  loft_counters_start(counters);  // goes on from where it was
  work(23);
  unsigned long long plain[3] = {};
  check(loft_counters_values(counters, plain, 3) == 0, "plain values");
  check(plain[1] == 800, "operations so far", static_cast<double>(plain[1]));
  check(loft_counters_values(counters, plain, 2) == -1, "too little room");
  loft_counters_stop(counters);
  loft_counters_close(counters);
}

void check_owner() {
  loft_counters* counters = open("flops");
  std::thread([&] {
    check(loft_counters_start(counters) == -1, "another thread starts");
    check(loft_counters_update(counters) == -1, "another thread reads");
  }).join();
  check(loft_counters_start(counters) == 0, "its own thread starts");
  const pid_t child = fork();
  if (child == 0) _exit(loft_counters_stop(counters) == -1 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "a child of fork");
  loft_counters_close(counters);
}

// A set of the engine's events and the kernel's.
void check_mixed() {
  loft_counters* counters = open("flops,task-clock,page-faults");
  loft_counters_start(counters);
  work(1000);
  loft_counters_stop(counters);
  check(value(counters, 0) == 1000, "operations beside the kernel's events", value(counters, 0));
  check(value(counters, 1) > 0, "time", value(counters, 1));
  loft_counters_reset(counters);
  loft_counters_update(counters);
  check(value(counters, 0) == 0 && value(counters, 1) == 0, "reset", value(counters, 1));
  loft_counters_close(counters);
}

}  // namespace

int main() {
  check_thread();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(check_thread);
  for (auto& thread : threads) thread.join();
  check_owner();
  check_mixed();
  std::printf("%d failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}
