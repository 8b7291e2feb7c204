// triad [SECONDS] [THREADS]: a = b + s * c over arrays larger than the caches, on every thread, for
// about that long. Few operations on many bytes: memory is the limit, not the arithmetic.
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

void work(Clock::time_point deadline, double& result, long& rounds) {
  Array a(kElements, 0.0);
  Array b(kElements, 1.0);
  const Array c(kElements, 2.0);
  while (Clock::now() < deadline) {
    triad(a, b, c, 0.5);
    triad(b, a, c, -0.5);
    rounds += 2;
  }
  result = b[kElements / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const long count = argc > 2 ? std::atol(argv[2]) : 2;
  if (seconds <= 0 || count <= 0 || count > 1024) {
    std::fputs("usage: triad [SECONDS] [THREADS]\n", stderr);
    return 2;
  }
  const auto length =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const auto start = Clock::now();
  const auto threads_wanted = static_cast<std::size_t>(count);
  std::vector<double> results(threads_wanted);
  std::vector<long> rounds(threads_wanted);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < threads_wanted; ++i)
    threads.emplace_back(work, start + length, std::ref(results[i]), std::ref(rounds[i]));
  for (std::thread& thread : threads) thread.join();

  long total = 0;
  for (const long n : rounds) total += n;
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  const double bytes = static_cast<double>(total) * kElements * 3 * sizeof(double);
  std::printf("triad: %ld threads, %ld rounds, %.1f GB/s, check %g\n", count, total,
              bytes / elapsed.count() / 1e9, results[0]);
  return 0;
}
