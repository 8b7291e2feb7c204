// Calls a function that does next to nothing, and says what one call took: the best of many short
// batches, since the machine has other things to do, and their median. With an argument, a child of
// known length in a parent of known length: what both took by the program's own clock.
//
//   bench_calls [BATCHES]        bench_calls nested
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

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

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "nested") == 0) {
    run_nested();
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
