// Counts itself under the engine.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "counted_work.hpp"
#include "loft/count.h"

namespace {

int g_failures = 0;
bool g_has_signals = false;  // whose handlers are counted, too

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

// Many reads: the engine makes the code anew meanwhile, and no count is lost or doubled.
void check_many_reads() {
  loft_counters* counters = open("flops,instructions,loads,stores");
  loft_counters_start(counters);
  unsigned long long before[4] = {}, after[4] = {};
  unsigned long long overhead = 0;
  for (int i = 0; i < 300; ++i) {
    const long n = 1 + i % 7;
    check(loft_counters_values(counters, before, 4) == 0, "read");
    work(n);
    check(loft_counters_values(counters, after, 4) == 0, "read");
    check(after[0] - before[0] == static_cast<unsigned long long>(n), "operations between reads",
          static_cast<double>(after[0] - before[0]));
    const unsigned long long around = after[1] - before[1] - 4 * static_cast<unsigned long long>(n);
    if (i == 10) overhead = around;
    if (i > 10 && !g_has_signals)
      check(around == overhead, "instructions between reads", static_cast<double>(around));
  }
  loft_counters_close(counters);
}

// Signals come at any moment: between reads and inside of them.
void check_reads_under_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 300}, {0, 300}};
  const itimerval never{};
  g_has_signals = true;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  check_many_reads();
  ::setitimer(ITIMER_REAL, &never, nullptr);
  g_has_signals = false;
}

struct Seen {
  int calls = 0;
  bool is_exact = true;
  unsigned long long last = 0;
  void* address = nullptr;
  loft_counters* counters = nullptr;
};

void on_threshold(loft_counters*, size_t, unsigned long long count, void* address, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  unsigned long long now[2] = {};
  seen.is_exact = seen.is_exact && loft_counters_values(seen.counters, now, 2) == 0 &&
                  now[0] == count && count == seen.last + 1000;
  seen.last = count;
  seen.address = address;
  ++seen.calls;
}

// The callback comes at exactly that count: operations are in the program's loop alone.
void check_thresholds() {
  loft_counters* counters = open("flops,branches_taken");
  Seen seen;
  seen.counters = counters;
  check(loft_counters_threshold(counters, 0, 1000, on_threshold, &seen) == 0, "threshold");
  check(loft_counters_threshold(counters, 1, 10, on_threshold, &seen) == -1,
        "outcomes of branches");
  check(loft_counters_threshold(counters, 2, 10, on_threshold, &seen) == -1, "no such event");
  loft_counters_start(counters);
  work(999);
  check(seen.calls == 0, "a call before the threshold", seen.calls);
  work(1);
  check(seen.calls == 1, "a call at the threshold", seen.calls);
  work(24000);
  loft_counters_stop(counters);
  check(seen.calls == 25, "calls", seen.calls);
  check(seen.is_exact, "counts at the thresholds", static_cast<double>(seen.last));
  check(loft_counters_threshold(counters, 0, 0, nullptr, nullptr) == 0, "no threshold any more");
  loft_counters_start(counters);
  work(5000);
  loft_counters_stop(counters);
  check(seen.calls == 25, "calls without a threshold", seen.calls);
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

loft_counters* open_of(const char* names, long thread) {
  char why[512] = "";
  loft_counters* counters = loft_counters_open_of(names, thread, why, sizeof why);
  if (counters == nullptr) std::printf("failed: %s\n", why), std::exit(2);
  return counters;
}

// Work of another thread, of one that has ended, and of all together.
void check_others() {
  char why[512] = "";
  check(loft_counters_open_of("flops", 1, why, sizeof why) == nullptr && why[0] != 0,
        "a thread of nobody");
  check(loft_counters_open_of("flops", -5, why, sizeof why) == nullptr, "no thread's number");
  loft_counters* all = open_of("flops,task-clock", LOFT_WHOLE_PROCESS);
  loft_counters_start(all);
  std::atomic<long> tid{0};
  std::atomic<int> step{0};
  std::thread other([&] {
    tid = gettid();
    while (step != 1) std::this_thread::yield();
    work(500);
    step = 2;
    while (step != 3) std::this_thread::yield();
  });
  while (tid == 0) std::this_thread::yield();
  loft_counters* one = open_of("flops", tid);
  loft_counters_start(one);
  step = 1;
  while (step != 2) std::this_thread::yield();
  unsigned long long plain = 0;  // without floating point, which would be counted
  check(loft_counters_values(one, &plain, 1) == 0 && plain == 500, "another thread");
  check(loft_counters_threshold(one, 0, 10, on_threshold, nullptr) == -1, "a threshold of others");
  loft_counters_reset(one);
  step = 3;
  other.join();
  work(70);
  check(loft_counters_values(one, &plain, 1) == 0 && plain == 0, "after reset");
  loft_counters_stop(all);
  check(value(all, 0) == 570, "the whole process", value(all, 0));
  check(value(all, 1) == -1, "events of the kernel", value(all, 1));
  loft_counters_close(one);
  loft_counters_close(all);
}

// What a file's events say of work(1000), for a test to compare.
void print_values(const char* file) {
  check(loft_metrics_load(file, nullptr, 0) == 0, "metrics");
  loft_counters* counters = open("Fp_cat,Fp_share");
  rounds(counters, 1000, 0);
  std::printf("%.0f %.17g\n", value(counters, 0), value(counters, 1));
  loft_counters_close(counters);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    print_values(argv[2]);
    return g_failures;
  }
  if (argc > 1) {
    work(1000);
    return 0;
  }
  check_others();
  check_thread();
  check_many_reads();
  check_thresholds();
  check_reads_under_signals();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(check_thread);
  for (int i = 0; i < 4; ++i) threads.emplace_back(check_many_reads);
  for (int i = 0; i < 2; ++i) threads.emplace_back(check_thresholds);
  for (auto& thread : threads) thread.join();
  check_owner();
  check_mixed();
  std::printf("%d failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}
