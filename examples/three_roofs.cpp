// three_roofs [ROUNDS] [THREADS]: three kernels, each under a roof of its own. One walks through
// memory, one stays in the first-level cache, one computes far more than it loads.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Array = std::vector<double>;

constexpr std::size_t kLarge = 2'000'000;  // 16 MB an array: larger than the caches
constexpr std::size_t kSmall = 1'000;      // 8 kB an array: three fit into the first level
constexpr int kTerms = 32;

// 2 operations and 24 bytes an element, from memory.
__attribute__((noinline)) void triad_in_memory(Array& a, const Array& b, const Array& c) {
  for (std::size_t i = 0; i < kLarge; ++i) a[i] = b[i] + 0.5 * c[i];
}

// The same from the first-level cache.
__attribute__((noinline)) void triad_in_cache(Array& a, const Array& b, const Array& c) {
  for (std::size_t i = 0; i < kSmall; ++i) a[i] = b[i] + 0.5 * c[i];
}

// A polynomial of each element: 64 operations and 16 bytes.
__attribute__((noinline)) void polynomial(Array& a, const Array& b) {
  for (std::size_t i = 0; i < kSmall; ++i) {
    double value = 1;
    for (int term = 0; term < kTerms; ++term) value = value * b[i] + 0.25;
    a[i] = value;
  }
}

void work(long rounds, double& result) {
  Array a(kLarge, 0.0);
  Array b(kLarge, 0.5);
  const Array c(kLarge, 2.0);
  for (long i = 0; i < rounds; ++i) triad_in_memory(a, b, c);
  for (long i = 0; i < rounds * 9000; ++i) triad_in_cache(a, b, c);
  for (long i = 0; i < rounds * 200; ++i) polynomial(a, b);
  result = a[kSmall / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 200;
  const long count = argc > 2 ? std::atol(argv[2]) : 2;
  if (rounds <= 0 || count <= 0 || count > 1024) {
    std::fputs("usage: three_roofs [ROUNDS] [THREADS]\n", stderr);
    return 2;
  }
  std::vector<double> results(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (double& result : results) threads.emplace_back(work, rounds, std::ref(result));
  for (std::thread& thread : threads) thread.join();
  std::printf("three_roofs: %ld rounds on %ld threads, check %g\n", rounds, count, results[0]);
  return 0;
}
