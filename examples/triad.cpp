// triad [ROUNDS] [THREADS]: a = b + s * c and back over arrays larger than the caches, on every
// thread. Few operations on many bytes: memory is the limit, not the arithmetic.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Array = std::vector<double>;

constexpr std::size_t kElements = 2'000'000;  // 16 MB an array

void triad(Array& a, const Array& b, const Array& c, double s) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + s * c[i];
}

void work(long rounds, double& result) {
  Array a(kElements, 0.0);
  Array b(kElements, 1.0);
  const Array c(kElements, 2.0);
  for (long i = 0; i < rounds; ++i) {
    triad(a, b, c, 0.5);
    triad(b, a, c, -0.5);
  }
  result = b[kElements / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 250;
  const long count = argc > 2 ? std::atol(argv[2]) : 2;
  if (rounds <= 0 || count <= 0 || count > 1024) {
    std::fputs("usage: triad [ROUNDS] [THREADS]\n", stderr);
    return 2;
  }
  const auto start = Clock::now();
  std::vector<double> results(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (double& result : results) threads.emplace_back(work, rounds, std::ref(result));
  for (std::thread& thread : threads) thread.join();

  const std::chrono::duration<double> elapsed = Clock::now() - start;
  const double bytes = static_cast<double>(rounds * count) * kElements * 6 * sizeof(double);
  std::printf("triad: %ld rounds on %ld threads, %.1f GB/s, check %g\n", rounds, count,
              bytes / elapsed.count() / 1e9, results[0]);
  return 0;
}
