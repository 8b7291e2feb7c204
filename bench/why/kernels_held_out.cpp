// Kernels that nobody tuned the timing model with: code as people write it, not one unit at a time.
#include <fcntl.h>
#include <immintrin.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::kMiB;
using kernels::memory;
using kernels::random_number;

// ---- dot product as a compiler leaves it without -ffast-math
KERNEL(dot_in_order, "fp_latency", 1024.0 * 50, nullptr) {
  const double *a = doubles(1024), *b = a + 0;
  double sum = 0;
  for (int round = 0; round < 50; ++round)
    for (int i = 0; i < 1024; ++i) sum += a[i] * b[i];
  g_double = sum;
}
RELIEVED(dot_in_order, 1024.0 * 50, nullptr) {
  const double *a = doubles(1024), *b = a + 0;
  double s[8] = {};
  for (int round = 0; round < 50; ++round)
    for (int i = 0; i < 1024; i += 8)
      for (int k = 0; k < 8; ++k) s[k] += a[i + k] * b[i + k];
  g_double = std::accumulate(s, s + 8, 0.0);
}

// ---- Horner's scheme, one argument at a time, each the result of the last
KERNEL(horner, "fp_latency", 16.0 * 4000, nullptr) {
  double x = 0.3;
  for (int i = 0; i < 4000; ++i) {
    double y = 1;
    for (int k = 0; k < 16; ++k) y = y * x + 0.25;
    x = y * 0.1;
    asm volatile("" : "+x"(x));
  }
  g_double = x;
}
RELIEVED(horner, 16.0 * 4000, nullptr) {
  double x[8] = {0.3, 0.31, 0.32, 0.33, 0.34, 0.35, 0.36, 0.37};
  for (int i = 0; i < 500; ++i) {
    double y[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 8; ++n) y[n] = y[n] * x[n] + 0.25;
    for (int n = 0; n < 8; ++n) x[n] = y[n] * 0.1;
    asm volatile("" : : "r"(x) : "memory");
  }
  g_double = x[0];
}

// ---- a root found by Newton's method: each division needs the last
KERNEL(newton, "fp_latency|divider", 20000, nullptr) {
  double x = 3;
  for (int i = 0; i < 20000; ++i) x = 0.5 * (x + 2.0 / x);
  g_double = x;
}
RELIEVED(newton, 20000, nullptr) {
  double x[8] = {3, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7};
  for (int i = 0; i < 2500; ++i)
    for (double& y : x) y = 0.5 * (y + 2.0 / y);
  g_double = x[0];
}

// ---- normalising vectors: square roots and divisions that do not need each other
KERNEL(normalise, "divider", 1024.0, nullptr) {
  double* a = doubles(4096);
  for (int i = 0; i < 4096; i += 4) {
    const double length = std::sqrt(a[i] * a[i] + a[i + 1] * a[i + 1] + 1.0);
    a[i + 2] = a[i] / length;
    a[i + 3] = a[i + 1] / length;
  }
}
RELIEVED(normalise, 1024.0, nullptr) {
  double* a = doubles(4096);
  for (int i = 0; i < 4096; i += 4) {
    const double length = a[i] * a[i] + a[i + 1] * a[i + 1] + 1.0;
    a[i + 2] = a[i] * length;
    a[i + 3] = a[i + 1] * length;
  }
}

// ---- integers
KERNEL(xorshift, "int_latency", 50000, nullptr) {
  std::uint64_t x = 88172645463325252ULL;
  for (int i = 0; i < 50000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  g_integer = x;
}
RELIEVED(xorshift, 50000, nullptr) {
  std::uint64_t a = 88172645463325252ULL, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < 12500; ++i) {
    a ^= a << 13, b ^= b << 13, c ^= c << 13, d ^= d << 13;
    a ^= a >> 7, b ^= b >> 7, c ^= c >> 7, d ^= d >> 7;
    a ^= a << 17, b ^= b << 17, c ^= c << 17, d ^= d << 17;
  }
  g_integer = a + b + c + d;
}

namespace {
std::uint64_t fnv(const unsigned char* at, std::size_t count, std::uint64_t hash) {
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ at[i]) * 1099511628211ULL;
  return hash;
}
}  // namespace
KERNEL(hash_bytes, "int_latency", 8192.0 * 4, nullptr) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(8 * kKiB));
  std::uint64_t hash = 14695981039346656037ULL;
  for (int i = 0; i < 4; ++i) hash = fnv(at, 8192, hash);
  g_integer = hash;
}
RELIEVED(hash_bytes, 8192.0 * 4, nullptr) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(8 * kKiB));
  std::uint64_t h[4] = {1, 2, 3, 4};
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 8192; i += 4)
      for (int k = 0; k < 4; ++k) h[k] = (h[k] ^ at[i + k]) * 1099511628211ULL;
  g_integer = h[0] + h[1] + h[2] + h[3];
}

KERNEL(remainders, "divider|int_ports", 4096, nullptr) {
  std::uint64_t sum = 0;
  volatile std::uint64_t divisor = 97;
  const std::uint64_t by = divisor;
  for (std::uint64_t i = 0; i < 4096; ++i) sum += (i * 1000003) % by;
  g_integer = sum;
}
RELIEVED(remainders, 4096, nullptr) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) sum += (i * 1000003) & 63;
  g_integer = sum;
}

// ---- branches
namespace {
std::vector<int> g_values;
template <bool kIsSorted>
void prepare_values() {
  g_values.resize(32768);
  for (int& value : g_values) value = static_cast<int>(random_number() >> 33);
  if (kIsSorted) std::sort(g_values.begin(), g_values.end());
}
__attribute__((always_inline)) inline void add_large() {
  std::int64_t sum = 0;
  for (const int value : g_values) {
    if (value > 1 << 30) {
      asm volatile("");  // keeps the branch
      sum += value;
    }
  }
  g_integer = static_cast<std::uint64_t>(sum);
}
}  // namespace
KERNEL(add_if_large, "mispredictions", 32768, prepare_values<false>) { add_large(); }
RELIEVED(add_if_large, 32768, prepare_values<true>) { add_large(); }

namespace {
std::vector<int> g_sorted, g_wanted;
void prepare_search() {
  g_sorted.resize(2048);
  std::iota(g_sorted.begin(), g_sorted.end(), 0);
  g_wanted.resize(1024);
  for (int& value : g_wanted) value = static_cast<int>(random_number() % 2048);
}
}  // namespace
KERNEL(binary_search, "mispredictions", 1024, prepare_search) {
  std::uint64_t sum = 0;
  for (const int wanted : g_wanted) {
    int low = 0, high = 2048;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (g_sorted[static_cast<std::size_t>(middle)] <= wanted) {
        asm volatile("");
        low = middle;
      } else {
        asm volatile("");
        high = middle;
      }
    }
    sum += static_cast<std::uint64_t>(low);
  }
  g_integer = sum;
}
RELIEVED(binary_search, 1024, prepare_search) {  // conditional moves
  std::uint64_t sum = 0;
  for (const int wanted : g_wanted) {
    const int* base = g_sorted.data();
    for (int length = 1024; length > 0; length /= 2) {
      const int* next = base + length;
      asm("cmpl %2, %3; cmovge %1, %0" : "+r"(base) : "r"(next), "m"(*next), "r"(wanted) : "cc");
    }
    sum += static_cast<std::uint64_t>(base - g_sorted.data());
  }
  g_integer = sum;
}

namespace {
std::vector<unsigned char> g_program;
template <bool kIsRandom>
void prepare_program() {
  g_program.resize(16384);
  for (std::size_t i = 0; i < g_program.size(); ++i)
    g_program[i] = kIsRandom ? random_number() >> 40 & 15 : static_cast<unsigned char>(i & 3);
}
__attribute__((always_inline)) inline void interpret() {
  std::int64_t stack[4] = {1, 2, 3, 4};
  for (const unsigned char op : g_program) {
    switch (op) {
      case 0:
        stack[0] += stack[1];
        break;
      case 1:
        stack[1] -= stack[2];
        break;
      case 2:
        stack[2] ^= stack[3];
        break;
      case 3:
        stack[3] += 1;
        break;
      case 4:
        stack[0] *= 3;
        break;
      case 5:
        stack[1] |= 1;
        break;
      case 6:
        stack[2] <<= 1;
        break;
      case 7:
        stack[3] >>= 1;
        break;
      case 8:
        stack[0] = stack[3];
        break;
      case 9:
        stack[1] = stack[0];
        break;
      case 10:
        stack[2] += stack[0];
        break;
      case 11:
        stack[3] ^= stack[1];
        break;
      case 12:
        stack[0] -= 7;
        break;
      case 13:
        stack[1] += 9;
        break;
      case 14:
        stack[2] ^= 5;
        break;
      default:
        stack[3] -= stack[2];
        break;
    }
    asm volatile("" : : "r"(stack) : "memory");
  }
  g_integer = static_cast<std::uint64_t>(stack[0]);
}
}  // namespace
KERNEL(interpreter, "mispredictions", 16384, prepare_program<true>) { interpret(); }
RELIEVED(interpreter, 16384, prepare_program<false>) { interpret(); }

// ---- memory
namespace {
struct Node {
  Node* next;
  double value;
  char rest[112];
};
Node* g_list;
template <std::size_t kCount>
void prepare_list() {
  g_list = reinterpret_cast<Node*>(kernels::random_cycle(kCount, sizeof(Node)));
}
__attribute__((always_inline)) inline void walk_list(int steps) {
  double sum = 0;
  const Node* at = g_list;
  for (int i = 0; i < steps; ++i) {
    sum += at->value;
    at = at->next;
  }
  g_double = sum + static_cast<double>(at == g_list);
}
}  // namespace
KERNEL(list_in_dram, "dram_latency", 20000, prepare_list<2000000>) { walk_list(20000); }
RELIEVED(list_in_dram, 20000, prepare_list<200>) { walk_list(20000); }
KERNEL(list_in_l2, "l2_latency", 50000, prepare_list<2500>) { walk_list(50000); }
RELIEVED(list_in_l2, 50000, prepare_list<200>) { walk_list(50000); }
KERNEL(list_in_l3, "l3_latency", 50000, prepare_list<24000>) { walk_list(50000); }
RELIEVED(list_in_l3, 50000, prepare_list<200>) { walk_list(50000); }

namespace {
std::vector<std::uint32_t> g_index;
template <std::uint32_t kRange>
void prepare_index() {
  g_index.resize(8192);
  for (auto& index : g_index) index = static_cast<std::uint32_t>(random_number() % kRange);
  doubles(kRange);
}
}  // namespace
KERNEL(gather_dram, "dram_latency|tlb|dram_bandwidth", 8192, prepare_index<(1 << 24)>) {
  const double* from = doubles(1 << 24);
  static std::uint32_t shift;
  shift = (shift + 7919) & ((1 << 24) - 1);
  double sum = 0;
  for (const std::uint32_t index : g_index) sum += from[(index + shift) & ((1 << 24) - 1)];
  g_double = sum;
}
RELIEVED(gather_dram, 8192, prepare_index<1024>) {
  const double* from = doubles(1024);
  static std::uint32_t shift;
  shift = (shift + 7919) & 1023;
  double sum = 0;
  for (const std::uint32_t index : g_index) sum += from[(index + shift) & 1023];
  g_double = sum;
}

KERNEL(daxpy_dram, "dram_bandwidth", 4194304, [] { doubles(8388608); }) {
  double *x = doubles(8388608), *y = x + 4194304;
  for (std::size_t i = 0; i < 4194304; i += 4)
    _mm256_storeu_pd(y + i, _mm256_fmadd_pd(_mm256_loadu_pd(x + i), _mm256_set1_pd(0.5),
                                            _mm256_loadu_pd(y + i)));
}
RELIEVED(daxpy_dram, 4194304, [] { doubles(1024); }) {
  double *x = doubles(1024), *y = x + 512;
  for (int round = 0; round < 8192; ++round)
    for (std::size_t i = 0; i < 512; i += 4)
      _mm256_storeu_pd(y + i, _mm256_fmadd_pd(_mm256_loadu_pd(x + i), _mm256_set1_pd(0.5),
                                              _mm256_loadu_pd(y + i)));
}

KERNEL(scale_l2, "l2_bandwidth", 16384.0 * 10, [] { doubles(32768); }) {
  double *x = doubles(32768), *y = x + 16384;
  for (int round = 0; round < 10; ++round)
    for (std::size_t i = 0; i < 16384; i += 4)
      _mm256_storeu_pd(y + i, _mm256_mul_pd(_mm256_loadu_pd(x + i), _mm256_set1_pd(0.5)));
}
RELIEVED(scale_l2, 16384.0 * 10, [] { doubles(1024); }) {
  double *x = doubles(1024), *y = x + 512;
  for (int round = 0; round < 320; ++round)
    for (std::size_t i = 0; i < 512; i += 4)
      _mm256_storeu_pd(y + i, _mm256_mul_pd(_mm256_loadu_pd(x + i), _mm256_set1_pd(0.5)));
}

KERNEL(sum_l3, "l3_bandwidth|l3_latency", 327680, [] { doubles(327680); }) {
  const double* x = doubles(327680);
  __m256d a = _mm256_setzero_pd(), b = a, c = a, d = a;
  for (std::size_t i = 0; i < 327680; i += 16) {
    a = _mm256_add_pd(a, _mm256_loadu_pd(x + i));
    b = _mm256_add_pd(b, _mm256_loadu_pd(x + i + 4));
    c = _mm256_add_pd(c, _mm256_loadu_pd(x + i + 8));
    d = _mm256_add_pd(d, _mm256_loadu_pd(x + i + 12));
  }
  g_double = _mm256_cvtsd_f64(a + b + c + d);
}
RELIEVED(sum_l3, 327680, [] { doubles(1024); }) {
  const double* x = doubles(1024);
  __m256d a = _mm256_setzero_pd(), b = a, c = a, d = a;
  for (int round = 0; round < 320; ++round)
    for (std::size_t i = 0; i < 1024; i += 16) {
      a = _mm256_add_pd(a, _mm256_loadu_pd(x + i));
      b = _mm256_add_pd(b, _mm256_loadu_pd(x + i + 4));
      c = _mm256_add_pd(c, _mm256_loadu_pd(x + i + 8));
      d = _mm256_add_pd(d, _mm256_loadu_pd(x + i + 12));
    }
  g_double = _mm256_cvtsd_f64(a + b + c + d);
}

// A column of a matrix: a page a step, and more pages than the TLB has.
KERNEL(columns, "tlb|l2_latency|l3_latency|l3_bandwidth|l2_bandwidth", 4096.0 * 8,
       [] { doubles(4096 * 520); }) {
  const double* m = doubles(4096 * 520);
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (std::size_t column = 0; column < 8; ++column)
    for (std::size_t row = 0; row < 4096; row += 4) {
      s0 += m[row * 520 + column];
      s1 += m[(row + 1) * 520 + column];
      s2 += m[(row + 2) * 520 + column];
      s3 += m[(row + 3) * 520 + column];
    }
  g_double = s0 + s1 + s2 + s3;
}
RELIEVED(columns, 4096.0 * 8, [] { doubles(4096 * 520); }) {
  const double* m = doubles(4096 * 520);
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (std::size_t i = 0; i < 4096 * 8; i += 4)
    s0 += m[i], s1 += m[i + 1], s2 += m[i + 2], s3 += m[i + 3];
  g_double = s0 + s1 + s2 + s3;
}

// ---- results that go through memory
KERNEL(same_bucket, "store_forwarding|int_latency", 16384, nullptr) {
  static double histogram[256];
  const auto* at = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));  // all zero
  for (int i = 0; i < 16384; ++i) histogram[at[i]] += 1.0;
  g_double = histogram[0];
}
namespace {
void prepare_bytes() {
  auto* at = reinterpret_cast<unsigned char*>(memory(16 * kKiB));
  for (int i = 0; i < 16384; ++i) at[i] = static_cast<unsigned char>(i * 37);
}
}  // namespace
RELIEVED(same_bucket, 16384, prepare_bytes) {
  static double histogram[256];
  const auto* at = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  for (int i = 0; i < 16384; ++i) histogram[at[i]] += 1.0;
  g_double = histogram[0];
}

KERNEL(recurrence_in_memory, "store_forwarding|fp_latency", 4096.0 * 4, [] { doubles(4096); }) {
  volatile double* a = doubles(4096);
  for (int round = 0; round < 4; ++round)
    for (int i = 1; i < 4096; ++i) a[i] = a[i - 1] * 0.5 + 1.0;
}
RELIEVED(recurrence_in_memory, 4096.0 * 4, [] { doubles(4096); }) {
  volatile double* a = doubles(4096);
  for (int round = 0; round < 4; ++round)
    for (int i = 1; i < 4096; ++i) a[i] = a[i] * 0.5 + 1.0;
}

// ---- units
KERNEL(complex_products, "fp_ports|width", 1024.0 * 10, nullptr) {
  const double* x = doubles(4096);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4096; i += 4) {
      const __m256d a = _mm256_load_pd(x + i);
      const __m256d b = _mm256_mul_pd(a, a), c = _mm256_mul_pd(a, _mm256_set1_pd(0.5));
      const __m256d d = _mm256_fmadd_pd(b, c, a), e = _mm256_fmadd_pd(c, b, b);
      const __m256d f = _mm256_mul_pd(d, e), g = _mm256_fmadd_pd(d, d, e);
      asm volatile("" : : "x"(f), "x"(g));
    }
  }
}
RELIEVED(complex_products, 1024.0 * 10, nullptr) {
  const double* x = doubles(4096);
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < 4096; i += 4) {
      const __m256d a = _mm256_load_pd(x + i);
      const __m256d b = _mm256_mul_pd(a, a), c = _mm256_fmadd_pd(a, a, b);
      asm volatile("" : : "x"(b), "x"(c));
    }
}

KERNEL(copy_l1, "memory_ports|l1_bandwidth|width", 1024.0 * 16, nullptr) {
  char *from = memory(16 * kKiB), *to = from + 8 * kKiB;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 8192; i += 64)
      for (int k = 0; k < 64; k += 8)
        asm volatile("mov (%0), %%rax; mov %%rax, (%1)"
                     :
                     : "r"(from + i + k), "r"(to + i + k)
                     : "rax", "memory");
}
RELIEVED(copy_l1, 1024.0 * 16, nullptr) {
  char *from = memory(16 * kKiB), *to = from + 8 * kKiB;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 8192; i += 64)
      for (int k = 0; k < 64; k += 32)
        asm volatile("vmovups (%0), %%ymm0; vmovups %%ymm0, (%1)"
                     :
                     : "r"(from + i + k), "r"(to + i + k)
                     : "xmm0", "memory");
}

KERNEL(plain_integers, "width|int_ports", 40000, nullptr) {
  for (int i = 0; i < 40000; i += 8)
    asm volatile(
        "mov %%rdi, %%rax; add $3, %%rax; mov %%rdi, %%rcx; xor $5, %%rcx; lea 7(%%rdi), %%rdx; "
        "mov %%rdi, %%rsi; sub $9, %%rsi; lea 1(%%rdi,%%rdi), %%r8"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "r8", "cc");
}
RELIEVED(plain_integers, 40000, nullptr) {
  for (int i = 0; i < 40000; i += 8)
    asm volatile("mov %%rdi, %%rax; lea 7(%%rdi), %%rdx; mov %%rdi, %%rsi; lea 1(%%rdi,%%rdi), %%r8"
                 :
                 :
                 : "rax", "rdx", "rsi", "r8", "cc");
}

// ---- code
namespace {
using Small = void (*)();
template <int kNumber>
__attribute__((noinline, aligned(64))) void small() {
  asm volatile(
      ".rept 40\n lea 0x11223344(%%rsi,%%rdi,2), %%rax\n lea 0x55667788(%%rsi,%%rdi,4), %%rcx\n "
      ".endr"
      :
      :
      : "rax", "rcx");
}
template <int... kNumbers>
constexpr std::array<Small, sizeof...(kNumbers)> smalls(std::integer_sequence<int, kNumbers...>) {
  return {small<kNumbers>...};
}
const auto g_smalls = smalls(std::make_integer_sequence<int, 800>());
}  // namespace
KERNEL(many_functions, "front_end|mispredictions", 800.0 * 80, nullptr) {
  for (const Small function : g_smalls) function();
}
RELIEVED(many_functions, 800.0 * 80, nullptr) {
  for (int i = 0; i < 800; ++i) g_smalls[static_cast<std::size_t>(i & 3)]();
}

// ---- threads
namespace {
alignas(128) std::atomic<std::uint64_t> g_shared;
alignas(128) std::atomic<std::uint64_t> g_own;
alignas(128) std::atomic<std::uint64_t> g_other;
std::jthread g_helper;
template <std::atomic<std::uint64_t>& kCounter>
void prepare_helper() {
  g_helper = std::jthread([](const std::stop_token& stop) {
    while (!stop.stop_requested())
      for (int i = 0; i < 1000; ++i) kCounter.fetch_add(1);
  });
}
}  // namespace
KERNEL(shared_counter, "sharing|atomics", 20000, prepare_helper<g_shared>) {
  for (int i = 0; i < 20000; ++i) g_shared.fetch_add(1);
}
RELIEVED(shared_counter, 20000, prepare_helper<g_other>) {
  for (int i = 0; i < 20000; ++i) g_own.fetch_add(1);
}

KERNEL(uncontended_lock, "atomics", 20000, nullptr) {
  static std::atomic<int> lock;
  static std::uint64_t count;
  for (int i = 0; i < 20000; ++i) {
    while (lock.exchange(1) != 0) {
    }
    ++count;
    lock.store(0, std::memory_order_release);
  }
  g_integer = count;
}
RELIEVED(uncontended_lock, 20000, nullptr) {
  static volatile int lock;
  static std::uint64_t count;
  for (int i = 0; i < 20000; ++i) {
    while (lock != 0) {
    }
    lock = 1;
    ++count;
    lock = 0;
  }
  g_integer = count;
}

// ---- the system
KERNEL(small_writes, "system", 500, nullptr) {
  static const int file = open("/dev/null", O_WRONLY);
  for (int i = 0; i < 500; ++i)
    if (write(file, "x", 1) != 1) abort();
}
RELIEVED(small_writes, 500, nullptr) {
  static const int file = open("/dev/null", O_WRONLY);
  static char text[500];
  for (int i = 0; i < 500; ++i) text[i] = 'x';
  if (write(file, text, 500) != 500) abort();
}

KERNEL(short_sleeps, "waiting", 20, nullptr) {
  for (int i = 0; i < 20; ++i) {
    const timespec pause{0, 100000};
    nanosleep(&pause, nullptr);
  }
}
RELIEVED(short_sleeps, 20, nullptr) {
  for (int i = 0; i < 20; ++i) g_integer = g_integer + 1;
}

LOFT_KERNELS_MAIN
