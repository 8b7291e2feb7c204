// Kernels whose operations and bytes are known: KERNEL ROUNDS runs one of them so often.
//   triad    2 operations and 24 bytes an element
//   dot      2 operations and 16 bytes
//   mean     3 operations and 32 bytes
// An element more or less would show: the sizes leave no remainder for any vector length.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kElements = 4096;

alignas(64) double a[kElements + 64];
alignas(64) double b[kElements + 64];
alignas(64) double c[kElements + 64];
alignas(64) double d[kElements + 64];

}  // namespace

extern "C" {

__attribute__((noinline)) void triad_kernel(double s) {
  for (int i = 0; i < kElements; ++i) a[i] = b[i] + s * c[i];
}

__attribute__((noinline)) double dot_kernel() {
  double sum = 0;
  for (int i = 0; i < kElements; ++i) sum += b[i] * c[i];
  return sum;
}

__attribute__((noinline)) void mean_kernel(double s) {
  for (int i = 0; i < kElements; ++i) a[i] = s * (b[i] + c[i] + d[i]);
}
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long rounds = std::atol(argv[2]);
  for (int i = 0; i < kElements + 64; ++i) {
    b[i] = 1.0 / (i + 1);
    c[i] = d[i] = i;
  }
  double sum = 0;
  for (long round = 0; round < rounds; ++round) {
    const double s = 1.0 / static_cast<double>(round + 1);
    if (std::strcmp(argv[1], "triad") == 0) triad_kernel(s);
    if (std::strcmp(argv[1], "dot") == 0) sum += dot_kernel();
    if (std::strcmp(argv[1], "mean") == 0) mean_kernel(s);
  }
  std::printf("%g %g\n", a[7], sum);
  return 0;
}
