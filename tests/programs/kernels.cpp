// Kernels whose operations and bytes are known: KERNEL ROUNDS runs one of them so often.
//   triad    2 operations and 24 bytes an element
//   dot      2 operations and 16 bytes
//   mean     3 operations and 32 bytes
//   made     1 operation and 0 bytes: code that is made while it runs, named in /tmp/perf-PID.map
//   nameless the same, named nowhere
// An element more or less would show: the sizes leave no remainder for any vector length.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

#ifdef __x86_64__
// addsd %xmm0, %xmm0 so many times as rdi says.
static int run_made(long additions, bool is_named) {
  static const unsigned char code[] = {0xF2, 0x0F, 0x58, 0xC0, 0x48, 0xFF, 0xCF, 0x75, 0xF7, 0xC3};
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(memory, code, sizeof code);
  if (memory == MAP_FAILED || ::mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  if (is_named) {
    std::FILE* map = std::fopen(path.c_str(), "w");
    if (map == nullptr) return 1;
    std::fprintf(map, "%lx %zx made_kernel\n", reinterpret_cast<unsigned long>(memory),
                 sizeof code);
    std::fclose(map);
  }
  reinterpret_cast<void (*)(long)>(memory)(additions);
  return 0;
}
#endif

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long rounds = std::atol(argv[2]);
#ifdef __x86_64__
  if (std::strcmp(argv[1], "made") == 0) return run_made(rounds * kElements, true);
  if (std::strcmp(argv[1], "nameless") == 0) return run_made(rounds * kElements, false);
#endif
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
