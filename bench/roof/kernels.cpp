// KERNEL BYTES ROUNDS: loops that should stand on a roof of the machine, for the level into which
// BYTES fit. What they do is written out, so that no compiler does it otherwise.
//   triad   two loads, a multiply-add and a store: what a first-level cache is best at
//   sum     loads and additions: outer caches
//   scale   a load, a product and a store past the caches: memory
#include <immintrin.h>
#include <sys/mman.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kLane = 4;  // doubles of 256 bits
constexpr std::size_t kHugePage = 2u << 20;

double* filled(std::size_t count) {
  const std::size_t alignment = count * 8 >= kHugePage ? kHugePage : 4096;
  const std::size_t bytes = (count * 8 + alignment - 1) / alignment * alignment;
  auto* array = static_cast<double*>(std::aligned_alloc(alignment, bytes));
  ::madvise(array, bytes, MADV_HUGEPAGE);
  for (std::size_t i = 0; i < count; ++i) array[i] = 1.0 / static_cast<double>(i + 1);
  return array;
}

}  // namespace

// Each is one flat loop over all rounds, since the end of a short inner loop would be mispredicted
// once a round. `n` is a power of two.
extern "C" {

__attribute__((noinline)) void triad(double* a, const double* b, const double* c, std::size_t n,
                                     long rounds) {
  const __m256d s = _mm256_set1_pd(0.5);
  const std::size_t steps = static_cast<std::size_t>(rounds) * n / (8 * kLane);
  for (std::size_t step = 0, i = 0; step < steps; ++step, i = (i + 8 * kLane) & (n - 1)) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8 * kLane; k += kLane)
      _mm256_store_pd(a + i + k,
                      _mm256_fmadd_pd(s, _mm256_load_pd(c + i + k), _mm256_load_pd(b + i + k)));
  }
}

__attribute__((noinline)) double sum(const double* a, std::size_t n, long rounds) {
  __m256d sums[8] = {};
  const std::size_t steps = static_cast<std::size_t>(rounds) * n / (8 * kLane);
  for (std::size_t step = 0, i = 0; step < steps; ++step, i = (i + 8 * kLane) & (n - 1)) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k)
      sums[k] = _mm256_add_pd(sums[k], _mm256_load_pd(a + i + k * kLane));
  }
  double all = 0;
  for (const __m256d& each : sums) all += each[0] + each[1] + each[2] + each[3];
  return all;
}

// In two places at once: one stream alone does not keep memory busy.
__attribute__((noinline)) void scale(double* a, const double* b, std::size_t n, long rounds) {
  const __m256d s = _mm256_set1_pd(0.5);
  const std::size_t half = n / 2;
  const std::size_t steps = static_cast<std::size_t>(rounds) * half / (2 * kLane);
  for (std::size_t step = 0, i = 0; step < steps; ++step, i = (i + 2 * kLane) & (half - 1)) {
#pragma GCC unroll 2
    for (std::size_t place = 0; place < 2; ++place)
#pragma GCC unroll 2
      for (std::size_t k = 0; k < 2 * kLane; k += kLane)
        _mm256_stream_pd(a + place * half + i + k,
                         _mm256_mul_pd(s, _mm256_load_pd(b + place * half + i + k)));
  }
}
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[2]));
  const long rounds = std::atol(argv[3]);
  const auto elements = [&](std::size_t arrays) { return std::bit_floor(bytes / 8 / arrays); };
  double check = 0;
  if (std::strcmp(argv[1], "triad") == 0) {
    const std::size_t n = elements(3);
    double* a = filled(3 * n);  // one after the other
    triad(a, a + n, a + 2 * n, n, rounds);
    check = a[n / 2];
  } else if (std::strcmp(argv[1], "sum") == 0) {
    check = sum(filled(elements(1)), elements(1), rounds);
  } else {
    const std::size_t n = elements(2);
    double* a = filled(n);
    scale(a, filled(n), n, rounds);
    check = a[n / 2];
  }
  std::printf("%g\n", check);
  return 0;
}
