// kernels dgemm|triad|threads|nothing [AMOUNT] [THREADS]
//
// The numerical and the threaded programs of bench/engine: fixed work, a checksum as output.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

double dgemm(int rounds) {
  constexpr int kSize = 240;
  std::vector<double> a(kSize * kSize, 1.5);
  std::vector<double> b(kSize * kSize, 0.25);
  std::vector<double> c(kSize * kSize);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < kSize; ++i)
      for (int k = 0; k < kSize; ++k) {
        const double factor = a[i * kSize + k];
        for (int j = 0; j < kSize; ++j) c[i * kSize + j] += factor * b[k * kSize + j];
      }
  return c[kSize + 1];
}

double triad(int rounds) {
  constexpr int kSize = 4096;  // in the caches: the instructions cost, not the memory
  std::vector<double> a(kSize);
  std::vector<double> b(kSize, 1);
  std::vector<double> c(kSize, 2);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kSize; ++i) a[i] = b[i] + 0.5 * c[i];
    std::swap(a, b);
  }
  return b[1];
}

// Sorting, hashing and virtual-looking control flow, as a C++ program has it.
std::uint64_t work(std::uint64_t seed, int rounds) {
  std::uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::uint32_t> values(20000);
    for (auto& value : values) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<std::uint32_t>(seed >> 40);
    }
    std::sort(values.begin(), values.end());
    std::unordered_map<std::uint32_t, std::uint32_t> seen;
    for (const auto value : values) ++seen[value & 1023];
    for (const auto& [key, count] : seen) sum += key * count;
  }
  return sum;
}

std::uint64_t threads(int rounds, int count) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(count));
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < sums.size(); ++i)
    running.emplace_back([&, i] { sums[i] = work(i, rounds / count); });
  for (auto& thread : running) thread.join();
  std::uint64_t sum = 0;
  for (const auto value : sums) sum += value;
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string which = count > 1 ? arguments[1] : "nothing";
  const int amount = count > 2 ? std::atoi(arguments[2]) : 1;
  if (which == "dgemm") std::printf("%g\n", dgemm(amount));
  if (which == "triad") std::printf("%g\n", triad(amount));
  if (which == "threads")
    std::printf("%llu\n", static_cast<unsigned long long>(
                              threads(amount, count > 3 ? std::atoi(arguments[3]) : 2)));
  return 0;
}
