// Small algorithms with one bottleneck each; nobody tuned the timing model with these.
#include <fcntl.h>
#include <nmmintrin.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::memory;
using kernels::random_number;

// ---- chains of floating point
KERNEL(smooth, "fp_latency", 4096.0 * 8, nullptr) {
  const double* x = doubles(4096);
  double y = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 4096; ++i) y += 0.1 * (x[i] - y);
  g_double = y;
}
RELIEVED(smooth, 4096.0 * 8, nullptr) {  // four signals
  const double* x = doubles(4096);
  double y[4] = {};
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 4096; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) y[k] += 0.1 * (x[i + k] - y[k]);
  g_double = y[0] + y[1] + y[2] + y[3];
}

KERNEL(mandelbrot, "fp_latency", 64.0 * 200, nullptr) {
  double total = 0;
  for (int point = 0; point < 64; ++point) {
    const double cx = -0.1 + 0.001 * point, cy = 0.05;
    double x = 0, y = 0;
    for (int i = 0; i < 200; ++i) {
      const double next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
    }
    total += x + y;
  }
  g_double = total;
}
RELIEVED(mandelbrot, 64.0 * 200, nullptr) {  // four points side by side
  double total = 0;
  for (int point = 0; point < 64; point += 4) {
    double x[4] = {}, y[4] = {}, cx[4];
    for (int k = 0; k < 4; ++k) cx[k] = -0.1 + 0.001 * (point + k);
    for (int i = 0; i < 200; ++i)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const double next = x[k] * x[k] - y[k] * y[k] + cx[k];
        y[k] = 2 * x[k] * y[k] + 0.05;
        x[k] = next;
      }
    total += x[0] + y[0] + x[1] + y[1] + x[2] + y[2] + x[3] + y[3];
  }
  g_double = total;
}

KERNEL(continued_fraction, "divider|fp_latency", 20000, nullptr) {
  double x = 1.5;
  for (int i = 0; i < 20000; ++i) x = 1.0 / (x + 1.0);
  g_double = x;
}
RELIEVED(continued_fraction, 20000, nullptr) {
  double x = 1.5;
  for (int i = 0; i < 20000; ++i) x = 0.4 * (x + 1.0);
  g_double = x;
}

// ---- divider
KERNEL(inverse_lengths, "divider", 1024, nullptr) {
  double* a = doubles(4096);
  for (int i = 0; i < 1024; ++i)
    a[3072 + i] = 1.0 / std::sqrt(a[i] * a[i] + a[1024 + i] * a[1024 + i]);
}
RELIEVED(inverse_lengths, 1024, nullptr) {
  double* a = doubles(4096);
  for (int i = 0; i < 1024; ++i) a[3072 + i] = 0.3 * (a[i] * a[i] + a[1024 + i] * a[1024 + i]);
}

KERNEL(buckets_by_modulo, "divider", 4096, nullptr) {
  const auto* keys = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  volatile std::uint64_t size = 1009;
  const std::uint64_t buckets = size;
  std::uint64_t a = 0, b = 0;
  for (int i = 0; i < 4096; i += 2) a += keys[i] % buckets, b += keys[i + 1] % buckets;
  g_integer = a + b;
}
RELIEVED(buckets_by_modulo, 4096, nullptr) {
  const auto* keys = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  volatile std::uint64_t size = 1024;
  const std::uint64_t mask = size - 1;
  std::uint64_t a = 0, b = 0;
  for (int i = 0; i < 4096; i += 2) a += keys[i] & mask, b += keys[i + 1] & mask;
  g_integer = a + b;
}

// ---- integer chains and ports
KERNEL(congruential, "int_latency", 40000, nullptr) {
  std::uint64_t x = g_integer;
  for (int i = 0; i < 40000; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
  g_integer = x;
}
RELIEVED(congruential, 40000, nullptr) {
  std::uint64_t x = g_integer, y = x + 1, z = x + 2, w = x + 3;
  for (int i = 0; i < 10000; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    y = y * 6364136223846793005ULL + 1442695040888963407ULL;
    z = z * 6364136223846793005ULL + 1442695040888963407ULL;
    w = w * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  g_integer = x + y + z + w;
}

KERNEL(checksum, "int_latency", 2048.0 * 8, nullptr) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(doubles(2048));
  std::uint64_t crc = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 2048; ++i) __asm__("crc32q %1, %0" : "+r"(crc) : "rm"(words[i]));
  g_integer = crc;
}
RELIEVED(checksum, 2048.0 * 8, nullptr) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(doubles(2048));
  std::uint64_t a = 0, b = 0, c = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 2046; i += 3) {
      __asm__("crc32q %1, %0" : "+r"(a) : "rm"(words[i]));
      __asm__("crc32q %1, %0" : "+r"(b) : "rm"(words[i + 1]));
      __asm__("crc32q %1, %0" : "+r"(c) : "rm"(words[i + 2]));
    }
  g_integer = a + b + c;
}

// ---- branches
namespace {
std::vector<std::uint32_t> g_left, g_right;
template <bool kMixed>
void prepare_merge() {
  g_left.clear(), g_right.clear();
  std::uint32_t value = 1;
  for (int i = 0; i < 16384; ++i) {
    value += 1;
    const bool is_left = kMixed ? random_number() & 1 : (i & 1) == 0;
    (is_left ? g_left : g_right).push_back(value);
  }
  g_left.push_back(~0U), g_right.push_back(~0U);
}
__attribute__((noinline)) void merge() {
  auto* to = reinterpret_cast<std::uint32_t*>(memory(65536 + 64));
  const std::uint32_t *a = g_left.data(), *b = g_right.data();
  while (*a != ~0U || *b != ~0U) {
    if (*a < *b) {
      *to++ = *a++;
      __asm__ volatile("" ::: "memory");
    } else {
      *to++ = *b++;
      __asm__ volatile("" ::: "memory");
    }
  }
}
}  // namespace
KERNEL(merge_sorted, "mispredictions", 16384, prepare_merge<true>) { merge(); }
RELIEVED(merge_sorted, 16384, prepare_merge<false>) { merge(); }

namespace {
std::vector<double> g_partition;
template <bool kSorted>
void prepare_partition() {
  g_partition.resize(16384);
  for (std::size_t i = 0; i < g_partition.size(); ++i)
    g_partition[i] = kSorted ? static_cast<double>(i) / 16384
                             : static_cast<double>(random_number() % 16384) / 16384;
}
__attribute__((noinline)) void partition() {
  auto* low = reinterpret_cast<double*>(memory(131072));
  auto* high = low + 16383;
  for (const double value : g_partition) {
    if (value < 0.5) {
      *low++ = value;
      __asm__ volatile("" ::: "memory");
    } else {
      *high-- = value;
      __asm__ volatile("" ::: "memory");
    }
  }
}
}  // namespace
KERNEL(partition_random, "mispredictions", 16384, prepare_partition<false>) { partition(); }
RELIEVED(partition_random, 16384, prepare_partition<true>) { partition(); }

// ---- store forwarding
KERNEL(stack_machine, "store_forwarding", 20000, nullptr) {
  static volatile std::uint64_t stack[64];
  int top = 1;
  for (int i = 0; i < 20000; ++i) {  // push 3, add
    stack[top++] = 3;
    const std::uint64_t right = stack[--top];
    stack[top - 1] = stack[top - 1] + right;
  }
  g_integer = stack[0];
}
RELIEVED(stack_machine, 20000, nullptr) {  // the top of the stack in a register
  static volatile std::uint64_t stack[64];
  std::uint64_t top = stack[0];
  for (int i = 0; i < 20000; ++i) {
    stack[1] = 3;
    top += 3;
    __asm__("" : "+r"(top));
  }
  g_integer = top;
}

KERNEL(fibonacci_table, "store_forwarding|int_latency", 1000.0 * 20, nullptr) {
  auto* table = reinterpret_cast<volatile std::uint64_t*>(memory(8192));
  for (int round = 0; round < 20; ++round)
    for (int i = 2; i < 1000; ++i) table[i] = table[i - 1] + table[i - 2];
}
RELIEVED(fibonacci_table, 1000.0 * 20, nullptr) {
  auto* table = reinterpret_cast<volatile std::uint64_t*>(memory(8192));
  for (int round = 0; round < 20; ++round) {
    std::uint64_t a = table[0], b = table[1];
    for (int i = 2; i < 1000; ++i) {
      const std::uint64_t c = a + b;
      table[i] = c, a = b, b = c;
    }
  }
}

// ---- levels of memory
namespace {
template <std::size_t kCount>
__attribute__((noinline)) void triad(int rounds) {
  double* a = doubles(3 * kCount);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kCount; ++i) a[i] = a[kCount + i] + 0.3 * a[2 * kCount + i];
}
template <std::size_t kCount>
__attribute__((noinline)) void sum_words(int rounds) {
  const auto* a = reinterpret_cast<const std::uint64_t*>(memory(kCount * 8));
  std::uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kCount; i += 4)
      s0 += a[i], s1 += a[i + 1], s2 += a[i + 2], s3 += a[i + 3];
  g_integer = s0 + s1 + s2 + s3;
}
std::vector<std::uint32_t> g_where;
template <std::uint32_t kCount>
void prepare_where() {
  g_where.resize(8192);
  for (auto& where : g_where) where = static_cast<std::uint32_t>(random_number() % kCount);
  memory(std::size_t{kCount} * 8);
}
template <std::uint32_t kCount>
__attribute__((noinline)) void add_at() {
  auto* table = reinterpret_cast<std::uint64_t*>(memory(std::size_t{kCount} * 8));
  for (const std::uint32_t where : g_where) table[where] += 1;
}
}  // namespace
KERNEL(triad_dram, "dram_bandwidth", 4194304, [] { doubles(3 * 4194304); }) { triad<4194304>(1); }
RELIEVED(triad_dram, 1024.0 * 400, [] { doubles(3 * 1024); }) { triad<1024>(400); }

KERNEL(triad_l2, "l2_bandwidth|l2_latency", 12288.0 * 10, [] { doubles(3 * 12288); }) {
  triad<12288>(10);
}
RELIEVED(triad_l2, 1024.0 * 100, [] { doubles(3 * 1024); }) { triad<1024>(100); }

KERNEL(sum_dram, "dram_bandwidth|dram_latency", 16777216, [] { memory(16777216 * 8); }) {
  sum_words<16777216>(1);
}
RELIEVED(sum_dram, 2048.0 * 200, [] { memory(2048 * 8); }) { sum_words<2048>(200); }

KERNEL(add_at_random, "dram_latency|tlb|dram_bandwidth", 8192, prepare_where<(1U << 24)>) {
  add_at<(1U << 24)>();
}
RELIEVED(add_at_random, 8192, prepare_where<2048>) { add_at<2048>(); }

namespace {
void** g_at;
template <std::size_t kCount, std::size_t kStride>
void prepare_walk() {
  g_at = kernels::random_cycle(kCount, kStride);
}
__attribute__((noinline)) void walk(int steps) {
  void** at = g_at;
  std::uint64_t sum = 0;
  for (int i = 0; i < steps; ++i) {
    at = static_cast<void**>(*at);
    sum += reinterpret_cast<std::uint64_t>(at[1]);
  }
  g_at = at;
  g_integer = sum;
}
}  // namespace
KERNEL(walk_pages, "tlb", 50000, (prepare_walk<6000, 4160>)) { walk(50000); }
RELIEVED(walk_pages, 50000, (prepare_walk<6000, 64>)) { walk(50000); }

KERNEL(walk_l2, "l2_latency", 50000, (prepare_walk<6000, 64>)) { walk(50000); }
RELIEVED(walk_l2, 50000, (prepare_walk<300, 64>)) { walk(50000); }

KERNEL(walk_dram, "dram_latency|tlb", 20000, (prepare_walk<3000000, 64>)) { walk(20000); }
RELIEVED(walk_dram, 20000, (prepare_walk<3000, 64>)) { walk(20000); }

namespace {
constexpr int kRows = 2048;
}
KERNEL(transpose, "dram_latency|tlb|dram_bandwidth|l2_latency|l3_latency|l3_bandwidth|l2_bandwidth",
       1.0 * kRows * kRows, [] { doubles(2 * kRows * kRows); }) {
  double *a = doubles(2 * kRows * kRows), *b = a + kRows * kRows;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) b[j * kRows + i] = a[i * kRows + j];
}
RELIEVED(transpose, 1.0 * kRows * kRows, [] { doubles(2 * kRows * kRows); }) {
  double *a = doubles(2 * kRows * kRows), *b = a + kRows * kRows;
  for (int i = 0; i < kRows; i += 8)
    for (int j = 0; j < kRows; j += 8)
      for (int y = i; y < i + 8; ++y)
        for (int x = j; x < j + 8; ++x) b[x * kRows + y] = a[y * kRows + x];
}

// ---- ports
KERNEL(moving_average, "fp_ports|memory_ports", 1016.0 * 4, nullptr) {
  const double* a = doubles(2048);
  double* to = const_cast<double*>(a) + 1024;
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 1016; ++i)
      to[i] = ((a[i] + a[i + 1]) + (a[i + 2] + a[i + 3])) +
              ((a[i + 4] + a[i + 5]) + (a[i + 6] + a[i + 7]));
}
RELIEVED(moving_average, 1016.0 * 4, nullptr) {  // four at a time
  const double* a = doubles(2048);
  double* to = const_cast<double*>(a) + 1024;
  typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
  const auto at = [&](int i) { return *reinterpret_cast<const Four*>(a + i); };
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 1016; i += 4)
      *reinterpret_cast<Four*>(to + i) = ((at(i) + at(i + 1)) + (at(i + 2) + at(i + 3))) +
                                         ((at(i + 4) + at(i + 5)) + (at(i + 6) + at(i + 7)));
}

KERNEL(scatter_l1, "memory_ports|l1_bandwidth", 1024.0 * 8, nullptr) {
  auto* to = reinterpret_cast<volatile std::uint32_t*>(memory(16384));
  for (int round = 0; round < 8; ++round)
    for (std::uint32_t i = 0; i < 1024; i += 4)
      for (std::uint32_t part = 0; part < 4096; part += 1024) to[part + i] = 7;
}
RELIEVED(scatter_l1, 1024.0 * 8, nullptr) {
  auto* to = reinterpret_cast<volatile std::uint64_t*>(memory(16384));
  for (int round = 0; round < 8; ++round)
    for (std::uint32_t i = 0; i < 1024; i += 4) to[i] = 7;
}

// ---- front end: much code with a few instructions each, one after another
KERNEL(unrolled_code, "front_end", 20000, nullptr) {
  std::uint64_t x = g_integer;
  __asm__ volatile(".rept 20000\n movabs $0x123456789abcdef, %0\n .endr" : "=r"(x));
  g_integer = x;
}
RELIEVED(unrolled_code, 20000, nullptr) {
  std::uint64_t x = g_integer;
  for (int i = 0; i < 200; ++i)
    __asm__ volatile(".rept 100\n movabs $0x123456789abcdef, %0\n .endr" : "=r"(x));
  g_integer = x;
}

// ---- threads and atomics
namespace {
std::atomic<bool> g_stop{false};
alignas(4096) std::uint32_t g_slots[1024];
template <int kOther>
void start_writer() {
  std::thread([] {
    auto* slot = const_cast<volatile std::uint32_t*>(&g_slots[kOther]);
    while (!g_stop) *slot = *slot + 1;
  }).detach();
}
}  // namespace
KERNEL(neighbour_slots, "sharing", 50000, start_writer<3>) {
  auto* slot = const_cast<volatile std::uint32_t*>(&g_slots[2]);
  for (int i = 0; i < 50000; ++i) *slot = *slot + 1;
}
RELIEVED(neighbour_slots, 50000, start_writer<512>) {
  auto* slot = const_cast<volatile std::uint32_t*>(&g_slots[2]);
  for (int i = 0; i < 50000; ++i) *slot = *slot + 1;
}

KERNEL(reference_counts, "atomics", 20000, nullptr) {
  static std::atomic<int> count{1};
  for (int i = 0; i < 20000; ++i) {
    count.fetch_add(1);
    count.fetch_sub(1);
  }
}
RELIEVED(reference_counts, 20000, nullptr) {
  static volatile int count = 1;
  for (int i = 0; i < 20000; ++i) {
    count = count + 1;
    count = count - 1;
  }
}

// ---- the system
KERNEL(fresh_buffers, "system", 50, nullptr) {
  for (int i = 0; i < 50; ++i) {
    char* buffer = static_cast<char*>(std::malloc(1 << 20));
    for (int at = 0; at < 1 << 20; at += 512) buffer[at] = 1;
    __asm__ volatile("" ::"r"(buffer) : "memory");
    std::free(buffer);
  }
}
RELIEVED(fresh_buffers, 50, nullptr) {
  char* buffer = memory(1 << 20);
  for (int i = 0; i < 50; ++i) {
    for (int at = 0; at < 1 << 20; at += 512) buffer[at] = 1;
    __asm__ volatile("" ::"r"(buffer) : "memory");
  }
}

KERNEL(open_and_close, "system", 400, nullptr) {
  for (int i = 0; i < 400; ++i) close(open("/dev/null", O_RDONLY));
}
RELIEVED(open_and_close, 400, nullptr) {
  const int file = open("/dev/null", O_RDONLY);
  for (int i = 0; i < 400; ++i) g_integer = g_integer + static_cast<std::uint64_t>(file);
  close(file);
}

namespace {
int g_there[2], g_back[2];
void prepare_echo() {
  if (pipe(g_there) != 0 || pipe(g_back) != 0) std::abort();
  std::thread([] {
    char buffer[64];
    while (read(g_there[0], buffer, sizeof buffer) > 0)
      if (write(g_back[1], buffer, 1) < 0) break;
  }).detach();
}
}  // namespace
KERNEL(ask_and_wait, "waiting|system", 100, prepare_echo) {
  char c = 1;
  for (int i = 0; i < 100; ++i)
    if (write(g_there[1], &c, 1) < 0 || read(g_back[0], &c, 1) < 0) std::abort();
}
RELIEVED(ask_and_wait, 100, prepare_echo) {  // one question for a hundred
  char c = 1;
  if (write(g_there[1], &c, 1) < 0 || read(g_back[0], &c, 1) < 0) std::abort();
}

LOFT_KERNELS_MAIN
