// Calls a function that does next to nothing, and says what one call took: the best of many short
// batches, since the machine has other things to do, and their median. With an argument, a child of
// known length in a parent of known length: what both took by the program's own clock.
//
//   bench_calls [BATCHES]        bench_calls nested
//   bench_calls churn            8 threads that call, end and are replaced, until its input ends
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCallsOfABatch = 20'000;

double nanoseconds(Clock::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

}  // namespace

extern "C" {

KEPT int leaf(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

KEPT double nested_child(double length_ns) {
  const auto begin = Clock::now();
  double taken = 0;
  while ((taken = nanoseconds(Clock::now() - begin)) < length_ns) {
  }
  return taken;
}

KEPT double nested_parent(double length_ns, double& in_child) {
  const auto begin = Clock::now();
  in_child += nested_child(1'000);
  double taken = 0;
  while ((taken = nanoseconds(Clock::now() - begin)) < length_ns) {
  }
  return taken;
}

}  // extern "C"

namespace {

void run_nested() {
  double in_child = 0;
  double in_parent = 0;
  for (int i = 0; i < 2'000; ++i) in_parent += nested_parent(100'000, in_child);
  std::printf("%.0f %.0f\n", in_parent, in_child);
}

// Each thread lives for some milliseconds.
void run_churn() {
  std::atomic<bool> is_over = false;
  std::vector<std::thread> places;
  for (int place = 0; place < 8; ++place)
    places.emplace_back([&is_over] {
      while (!is_over)
        std::thread([] {
          for (int i = 0; i < 5; ++i) {
            for (int k = 0; k < 1'000; ++k) leaf(k);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }).join();
    });
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  is_over = true;
  for (std::thread& place : places) place.join();
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "nested") == 0) {
    run_nested();
    return 0;
  }
  if (count > 1 && std::strcmp(arguments[1], "churn") == 0) {
    run_churn();
    return 0;
  }
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  std::vector<double> results;
  int sum = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const auto begin = Clock::now();
    for (int i = 0; i < kCallsOfABatch; ++i) sum += leaf(i);
    results.push_back(nanoseconds(Clock::now() - begin) / kCallsOfABatch);
  }
  std::sort(results.begin(), results.end());
  std::printf("%.2f %.2f\n", results.front(), results[results.size() / 2]);
  return sum == 1 ? 1 : 0;
}
