// Code of everyday programs with one bottleneck each; nobody tuned the timing model with these.
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::kMiB;
using kernels::memory;
using kernels::random_number;

// ---- chains of floating point
KERNEL(running_sum, "fp_latency", 2048.0 * 20, nullptr) {
  const double* from = doubles(4096);
  double* to = const_cast<double*>(from) + 2048;
  double sum = 0;
  for (int round = 0; round < 20; ++round)
    for (int i = 0; i < 2048; ++i) {
      sum += from[i] * 1e-9;
      to[i] = sum + 1.5;
    }
  g_double = sum;
}
RELIEVED(running_sum, 2048.0 * 20, nullptr) {  // four parts side by side
  const double* from = doubles(4096);
  double* to = const_cast<double*>(from) + 2048;
  double a = 0, b = 0, c = 0, d = 0;
  for (int round = 0; round < 20; ++round)
    for (int i = 0; i < 512; ++i) {
      a += from[i] * 1e-9, b += from[i + 512] * 1e-9, c += from[i + 1024] * 1e-9,
          d += from[i + 1536] * 1e-9;
      to[i] = a + 1.5, to[i + 512] = b + 1.5, to[i + 1024] = c + 1.5, to[i + 1536] = d + 1.5;
    }
  g_double = a + b + c + d;
}

KERNEL(biquad, "fp_latency", 1024.0 * 16, nullptr) {
  const double* x = doubles(1024);
  double z1 = 0, z2 = 0, y = 0;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; ++i) {
      y = 0.2 * x[i] + z1;
      z1 = 0.4 * x[i] - 0.3 * y + z2;
      z2 = 0.2 * x[i] - 0.1 * y;
    }
  g_double = y;
}
RELIEVED(biquad, 1024.0 * 16, nullptr) {  // four channels
  const double* x = doubles(1024);
  double z1[4] = {}, z2[4] = {}, y[4] = {};
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        y[k] = 0.2 * x[i + k] + z1[k];
        z1[k] = 0.4 * x[i + k] - 0.3 * y[k] + z2[k];
        z2[k] = 0.2 * x[i + k] - 0.1 * y[k];
      }
  g_double = y[0] + y[1] + y[2] + y[3];
}

namespace {
constexpr int kSide = 48;
}
KERNEL(product_ijk, "fp_latency", 1.0 * kSide * kSide * kSide, nullptr) {
  double *a = doubles(3 * kSide * kSide), *b = a + kSide * kSide, *c = b + kSide * kSide;
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) {
      double sum = 0;
      for (int k = 0; k < kSide; ++k) sum += a[i * kSide + k] * b[k * kSide + j];
      c[i * kSide + j] = sum;
    }
}
RELIEVED(product_ijk, 1.0 * kSide * kSide * kSide, nullptr) {
  double *a = doubles(3 * kSide * kSide), *b = a + kSide * kSide, *c = b + kSide * kSide;
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; j += 4) {
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (int k = 0; k < kSide; ++k) {
        const double x = a[i * kSide + k];
        const double* row = b + k * kSide + j;
        s0 += x * row[0], s1 += x * row[1], s2 += x * row[2], s3 += x * row[3];
      }
      double* to = c + i * kSide + j;
      to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
}

// ---- divider
KERNEL(scale_by_sum, "divider", 1024.0, nullptr) {
  double* a = doubles(2048);
  volatile double total = 3.7;
  const double by = total;
  for (int i = 0; i < 1024; ++i) a[1024 + i] = a[i] / by;
}
RELIEVED(scale_by_sum, 1024.0, nullptr) {
  double* a = doubles(2048);
  volatile double total = 3.7;
  const double by = 1.0 / total;
  for (int i = 0; i < 1024; ++i) a[1024 + i] = a[i] * by;
}

KERNEL(distances, "divider", 1024.0, nullptr) {
  const double* a = doubles(4096);
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int i = 0; i < 4096; i += 16) {
    s0 += std::sqrt(a[i] * a[i] + a[i + 1] * a[i + 1]);
    s1 += std::sqrt(a[i + 4] * a[i + 4] + a[i + 5] * a[i + 5]);
    s2 += std::sqrt(a[i + 8] * a[i + 8] + a[i + 9] * a[i + 9]);
    s3 += std::sqrt(a[i + 12] * a[i + 12] + a[i + 13] * a[i + 13]);
  }
  g_double = s0 + s1 + s2 + s3;
}
RELIEVED(distances, 1024.0, nullptr) {
  const double* a = doubles(4096);
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int i = 0; i < 4096; i += 16) {
    s0 += a[i] * a[i] + a[i + 1] * a[i + 1];
    s1 += a[i + 4] * a[i + 4] + a[i + 5] * a[i + 5];
    s2 += a[i + 8] * a[i + 8] + a[i + 9] * a[i + 9];
    s3 += a[i + 12] * a[i + 12] + a[i + 13] * a[i + 13];
  }
  g_double = s0 + s1 + s2 + s3;
}

KERNEL(modular_power, "int_latency|divider", 4096, nullptr) {
  volatile std::uint64_t modulus = 1000003;
  const std::uint64_t m = modulus;
  std::uint64_t x = 12345;
  for (int i = 0; i < 4096; ++i) x = x * 48271 % m;
  g_integer = x;
}
RELIEVED(modular_power, 4096, nullptr) {  // Mersenne prime: no division
  std::uint64_t x = 12345;
  for (int i = 0; i < 4096; ++i) {
    x *= 48271;
    x = (x & 0x7fffffff) + (x >> 31);
  }
  g_integer = x;
}

// ---- integers
namespace {
std::uint32_t g_crc[256];
void prepare_crc() {
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
    g_crc[i] = c;
  }
  char* text = memory(16 * kKiB);
  for (std::size_t i = 0; i < 16 * kKiB; ++i) text[i] = static_cast<char>(random_number() >> 50);
}
}  // namespace
KERNEL(crc_bytes, "l1_latency|int_latency", 16384, prepare_crc) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  std::uint32_t c = ~0U;
  for (int i = 0; i < 16384; ++i) c = g_crc[(c ^ at[i]) & 255] ^ (c >> 8);
  g_integer = c;
}
RELIEVED(crc_bytes, 16384, prepare_crc) {  // four parts
  const auto* at = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  std::uint32_t a = ~0U, b = ~0U, c = ~0U, d = ~0U;
  for (int i = 0; i < 4096; ++i) {
    a = g_crc[(a ^ at[i]) & 255] ^ (a >> 8);
    b = g_crc[(b ^ at[i + 4096]) & 255] ^ (b >> 8);
    c = g_crc[(c ^ at[i + 8192]) & 255] ^ (c >> 8);
    d = g_crc[(d ^ at[i + 12288]) & 255] ^ (d >> 8);
  }
  g_integer = a ^ b ^ c ^ d;
}

KERNEL(read_digits, "int_latency", 8192.0 * 2,
       [] { std::memset(memory(8 * kKiB), '7', 8 * kKiB); }) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(8 * kKiB));
  std::uint64_t value = 0;
  volatile std::uint64_t base = 10;
  const std::uint64_t b = base;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 8192; ++i) value = value * b + (at[i] - '0');
  g_integer = value;
}
RELIEVED(read_digits, 8192.0 * 2, [] { std::memset(memory(8 * kKiB), '7', 8 * kKiB); }) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(8 * kKiB));
  std::uint64_t v[4] = {};
  volatile std::uint64_t base = 10;
  const std::uint64_t b = base;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 2048; ++i)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) v[k] = v[k] * b + (at[i + 2048 * k] - '0');
  g_integer = v[0] + v[1] + v[2] + v[3];
}

KERNEL(mix_words, "int_ports", 1024.0 * 8,
       nullptr) {  // multiplications that need each other little
  const auto* at = reinterpret_cast<const std::uint64_t*>(memory(8 * kKiB));
  std::uint64_t sum = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 1024; ++i) {
      const std::uint64_t x = at[i] + static_cast<std::uint64_t>(round);
      sum +=
          (x * 0x9E3779B97F4A7C15ULL) ^ (x * 0xC2B2AE3D27D4EB4FULL) ^ (x * 0x165667B19E3779F9ULL);
    }
  g_integer = sum;
}
RELIEVED(mix_words, 1024.0 * 8, nullptr) {
  const auto* at = reinterpret_cast<const std::uint64_t*>(memory(8 * kKiB));
  std::uint64_t sum = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 1024; ++i) {
      const std::uint64_t x = at[i] + static_cast<std::uint64_t>(round);
      sum += (x + 0x1E3779B9ULL) ^ (x * 0xC2B2AE3D27D4EB4FULL) ^ (x + 0x165667B1ULL);
    }
  g_integer = sum;
}

// ---- through memory
KERNEL(sum_in_memory, "store_forwarding", 1024.0 * 8, nullptr) {
  const double* from = doubles(1024);
  static double total;
  double* volatile where = &total;
  double* to = where;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 1024; ++i) {
      *to += from[i];
      asm volatile("" : : : "memory");
    }
}
RELIEVED(sum_in_memory, 1024.0 * 8, nullptr) {
  const double* from = doubles(1024);
  double total = 0;
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 1024; ++i) {
      total += from[i];
      asm volatile("" : : : "memory");
    }
  g_double = total;
}

namespace {
template <bool kSame>
void prepare_bins() {
  auto* text = reinterpret_cast<unsigned char*>(memory(16 * kKiB));
  for (std::size_t i = 0; i < 16 * kKiB; ++i)
    text[i] = kSame ? 65 : static_cast<unsigned char>(i * 7);
}
__attribute__((always_inline)) inline void count_bytes() {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  static std::uint64_t bins[256];
  for (std::size_t i = 0; i < 16 * kKiB; ++i) ++bins[at[i]];
  g_integer = bins[65];
}
}  // namespace
KERNEL(histogram_equal, "store_forwarding", 16384, prepare_bins<true>) { count_bytes(); }
RELIEVED(histogram_equal, 16384, prepare_bins<false>) { count_bytes(); }

// ---- branches
namespace {
constexpr std::size_t kText = 768 * kKiB;  // more than a predictor remembers
template <bool kRandom>
void prepare_varints() {
  auto* at = reinterpret_cast<unsigned char*>(memory(kText));
  for (std::size_t i = 0; i < kText; ++i)
    at[i] = static_cast<unsigned char>(kRandom ? random_number() >> 51 : (i % 2 ? 0x11 : 0x91));
}
__attribute__((always_inline)) inline void read_varints() {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kText));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kText - 64;) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const unsigned char byte = at[i++];
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if ((byte & 128) == 0) break;
    }
    sum += value;
  }
  g_integer = sum;
}
}  // namespace
KERNEL(varints, "mispredictions", kText - 64, prepare_varints<true>) { read_varints(); }
RELIEVED(varints, kText - 64, prepare_varints<false>) { read_varints(); }

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  double a = 1.25;
};
template <int kKind>
struct ShapeOf : Shape {
  double area() const override { return a * kKind + 1; }
};
std::vector<Shape*> g_shapes;
template <bool kShuffled>
void prepare_shapes() {
  for (int i = 0; i < 8192; ++i) {
    const auto kind = kShuffled ? random_number() >> 40 & 3 : static_cast<std::uint64_t>(i / 2048);
    g_shapes.push_back(kind == 0   ? static_cast<Shape*>(new ShapeOf<1>)
                       : kind == 1 ? new ShapeOf<2>
                       : kind == 2 ? static_cast<Shape*>(new ShapeOf<3>)
                                   : new ShapeOf<4>);
  }
}
__attribute__((always_inline)) inline void add_areas() {
  double sum = 0;
  for (const Shape* shape : g_shapes) sum += shape->area();
  g_double = sum;
}
}  // namespace
KERNEL(virtual_calls, "mispredictions", 8192, prepare_shapes<true>) { add_areas(); }
RELIEVED(virtual_calls, 8192, prepare_shapes<false>) { add_areas(); }

namespace {
template <bool kRandom>
void prepare_words() {
  char* at = memory(kText);
  for (std::size_t i = 0; i < kText; ++i)
    at[i] = (kRandom ? random_number() >> 45 & 3 : i & 3) == 0 ? ' ' : 'x';
}
__attribute__((always_inline)) inline void count_words() {
  const char* at = memory(kText);
  std::uint64_t words = 0, inside = 0;
  for (std::size_t i = 0; i < kText; ++i) {
    if (at[i] == ' ') {
      asm volatile("");
      inside = 0;
    } else if (inside == 0) {
      asm volatile("");
      inside = 1;
      ++words;
    }
  }
  g_integer = words;
}
}  // namespace
KERNEL(word_count, "mispredictions", kText, prepare_words<true>) { count_words(); }
RELIEVED(word_count, kText, prepare_words<false>) { count_words(); }

// ---- memory
KERNEL(next_in_table, "l1_latency", 50000, [] { kernels::random_cycle(256, 16); }) {
  void** at = reinterpret_cast<void**>(memory(256 * 16));
  for (int i = 0; i < 50000; ++i) at = static_cast<void**>(*at);
  g_integer = reinterpret_cast<std::uint64_t>(at);
}
RELIEVED(next_in_table, 50000, [] { kernels::random_cycle(256, 16); }) {
  char* base = memory(256 * 16);
  void **a = reinterpret_cast<void**>(base), **b = reinterpret_cast<void**>(base + 64);
  void **c = reinterpret_cast<void**>(base + 1024), **d = reinterpret_cast<void**>(base + 2048);
  for (int i = 0; i < 12500; ++i) {
    a = static_cast<void**>(*a), b = static_cast<void**>(*b);
    c = static_cast<void**>(*c), d = static_cast<void**>(*d);
  }
  g_integer = reinterpret_cast<std::uint64_t>(a) ^ reinterpret_cast<std::uint64_t>(b) ^
              reinterpret_cast<std::uint64_t>(c) ^ reinterpret_cast<std::uint64_t>(d);
}

namespace {
std::size_t g_key = 1;
template <std::size_t kLevels>
void prepare_tree() {
  doubles(std::size_t{1} << kLevels);
}
template <std::size_t kLevels>
__attribute__((always_inline)) inline void descend() {  // the way down depends on what was read
  const auto* tree = reinterpret_cast<const std::uint64_t*>(doubles(std::size_t{1} << kLevels));
  std::size_t at = 0;
  for (int i = 0; i < 16384; ++i) {
    const std::uint64_t read = tree[at];
    g_key = g_key * 6364136223846793005ULL + 1442695040888963407ULL;
    at = ((g_key >> 33) + (read & 1)) & ((std::size_t{1} << kLevels) - 1);
  }
  g_integer = at;
}
}  // namespace
KERNEL(descend_dram, "dram_latency|tlb", 16384, prepare_tree<25>) { descend<25>(); }
RELIEVED(descend_dram, 16384, prepare_tree<11>) { descend<11>(); }

namespace {
struct Entry {
  std::uint64_t key, value;
};
template <std::size_t kBits>
__attribute__((always_inline)) inline void look_up() {
  const auto* table = reinterpret_cast<const Entry*>(doubles(std::size_t{2} << kBits));
  std::uint64_t sum = 0, key = g_key;
  for (int i = 0; i < 16384; ++i) {
    key = key * 6364136223846793005ULL + 1442695040888963407ULL;
    sum += table[key >> (64 - kBits)].value;
  }
  g_key = key | 1;
  g_integer = sum;
}
}  // namespace
KERNEL(look_up_dram, "dram_latency|tlb|dram_bandwidth", 16384,
       [] { doubles(std::size_t{2} << 24); }) {
  look_up<24>();
}
RELIEVED(look_up_dram, 16384, [] { doubles(std::size_t{2} << 10); }) { look_up<10>(); }

namespace {
template <std::size_t kCount>
__attribute__((always_inline)) inline void copy_words(int rounds) {
  double *from = doubles(2 * kCount), *to = from + kCount;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kCount; i += 8) {
      _mm256_storeu_pd(to + i, _mm256_loadu_pd(from + i));
      _mm256_storeu_pd(to + i + 4, _mm256_loadu_pd(from + i + 4));
    }
}
}  // namespace
KERNEL(copy_dram, "dram_bandwidth", 4194304, [] { doubles(8388608); }) { copy_words<4194304>(1); }
RELIEVED(copy_dram, 4194304, [] { doubles(1024); }) { copy_words<512>(8192); }

namespace {
template <std::size_t kRows, std::size_t kColumns>
__attribute__((always_inline)) inline void smooth() {
  double *from = doubles(2 * kRows * kColumns), *to = from + kRows * kColumns;
  const __m256d quarter = _mm256_set1_pd(0.25);
  for (std::size_t row = 1; row + 1 < kRows; ++row)
    for (std::size_t i = row * kColumns + 4; i + 8 < (row + 1) * kColumns; i += 4)
      _mm256_storeu_pd(
          to + i,
          quarter * (_mm256_loadu_pd(from + i - 1) + _mm256_loadu_pd(from + i + 1) +
                     _mm256_loadu_pd(from + i - kColumns) + _mm256_loadu_pd(from + i + kColumns)));
}
}  // namespace
KERNEL(stencil_dram, "dram_bandwidth", 2046.0 * 2036, [] { doubles(2 * 2048 * 2048); }) {
  smooth<2048, 2048>();
}
RELIEVED(stencil_dram, 2046.0 * 52, [] { doubles(2 * 32 * 64); }) {
  for (int i = 0; i < 2046 / 30; ++i) smooth<32, 64>();
}

// Lines one page apart (each in its own set), or side by side: only the pages differ.
namespace {
std::vector<std::uint32_t> g_lines;
template <std::size_t kStride>
void prepare_lines() {
  memory(4096 * std::size_t{4096 + 64});
  g_lines.resize(4096);
  for (std::size_t i = 0; i < 4096; ++i) g_lines[i] = static_cast<std::uint32_t>(i * kStride);
  for (std::size_t i = 4096; i > 1; --i) std::swap(g_lines[i - 1], g_lines[random_number() % i]);
}
__attribute__((always_inline)) inline void touch_lines() {
  const char* base = memory(4096 * std::size_t{4096 + 64});
  std::uint64_t at = 0;
  for (const std::uint32_t line : g_lines) at += static_cast<std::uint64_t>(base[line + (at & 1)]);
  g_integer = at;
}
}  // namespace
KERNEL(one_line_a_page, "tlb", 4096, prepare_lines<4096 + 64>) { touch_lines(); }
RELIEVED(one_line_a_page, 4096, prepare_lines<64>) { touch_lines(); }

namespace {
template <std::size_t kCount>
__attribute__((always_inline)) inline void largest(int rounds) {
  const double* x = doubles(kCount);
  __m256d a = _mm256_setzero_pd(), b = a, c = a, d = a;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kCount; i += 16) {
      a = _mm256_max_pd(a, _mm256_loadu_pd(x + i));
      b = _mm256_max_pd(b, _mm256_loadu_pd(x + i + 4));
      c = _mm256_max_pd(c, _mm256_loadu_pd(x + i + 8));
      d = _mm256_max_pd(d, _mm256_loadu_pd(x + i + 12));
    }
  g_double = _mm256_cvtsd_f64(_mm256_max_pd(_mm256_max_pd(a, b), _mm256_max_pd(c, d)));
}
}  // namespace
KERNEL(largest_l2, "l2_bandwidth|l2_latency", 32768.0 * 10, [] { doubles(32768); }) {
  largest<32768>(10);
}
RELIEVED(largest_l2, 32768.0 * 10, [] { doubles(2048); }) { largest<2048>(160); }

// ---- units of the core
namespace {
template <int kTerms>
__attribute__((always_inline)) inline void polynomials() {
  const double* x = doubles(1024);
  __m256d sum = _mm256_setzero_pd();
  for (int i = 0; i < 1024; i += 32) {
    __m256d y[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) y[k] = _mm256_set1_pd(0.5);
#pragma GCC unroll 24
    for (int t = 0; t < kTerms; ++t)
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k)
        y[k] = _mm256_fmadd_pd(y[k], _mm256_loadu_pd(x + i + 4 * k), _mm256_set1_pd(0.1));
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) sum += y[k];
  }
  g_double = _mm256_cvtsd_f64(sum);
}
}  // namespace
KERNEL(polynomials_16, "fp_ports", 256, nullptr) { polynomials<16>(); }
RELIEVED(polynomials_16, 256, nullptr) { polynomials<8>(); }

KERNEL(table_sums, "memory_ports", 4096.0 * 4, nullptr) {
  const auto* t = reinterpret_cast<const std::uint64_t*>(memory(8 * kKiB));
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t* at = t + (i & 511);
    a += at[0], b += at[64], c += at[128], d += at[192];
    a ^= at[256], b ^= at[320], c ^= at[384], d ^= at[448];
  }
  g_integer = a + b + c + d;
}
RELIEVED(table_sums, 4096.0 * 4, nullptr) {  // as many additions, a quarter of the loads
  const auto* t = reinterpret_cast<const std::uint64_t*>(memory(8 * kKiB));
  std::uint64_t a = 0, b = 0, c = 0, d = 0, x = 3, y = 5;
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t* at = t + (i & 511);
    a += at[0], b += at[64], c += x, d += y;
    a ^= x, b ^= y, c ^= y, d ^= x;  // not what was added: it would all be 0
    asm volatile("" : "+r"(x), "+r"(y));
  }
  g_integer = a + b + c + d;
}

KERNEL(fill_words, "memory_ports|l1_bandwidth", 1024.0 * 16, nullptr) {
  auto* to = reinterpret_cast<std::uint64_t*>(memory(8 * kKiB));
  for (int round = 0; round < 16; ++round)
#pragma GCC unroll 16
    for (int i = 0; i < 1024; ++i) {
      to[i] = static_cast<std::uint64_t>(round);
      asm volatile("" : : : "memory");
    }
}
RELIEVED(fill_words, 1024.0 * 16, nullptr) {
  auto* to = memory(8 * kKiB);
  for (int round = 0; round < 16; ++round)
#pragma GCC unroll 16
    for (int i = 0; i < 8192; i += 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_set1_epi64x(round));
}

namespace {
template <int kNumber>
__attribute__((noinline)) std::uint64_t step(std::uint64_t x) {
  asm volatile("");
  x += kNumber * 0x10001;
  return ((x >> (kNumber % 13 + 1)) ^ (x + kNumber * 0x2003)) + (x >> 3) +
         ((x + kNumber) ^ 0x55555);
}
template <int... kNumbers>
__attribute__((always_inline)) inline std::uint64_t all_steps(
    std::uint64_t x, std::integer_sequence<int, kNumbers...>) {
  std::uint64_t sum = 0;
  ((sum += step<kNumbers>(x)), ...);
  return sum;
}
}  // namespace
KERNEL(many_functions, "front_end", 3000, nullptr) {
  g_integer = all_steps(g_integer, std::make_integer_sequence<int, 3000>());
}
RELIEVED(many_functions, 3000, nullptr) {
  for (int i = 0; i < 30; ++i)
    g_integer = all_steps(g_integer, std::make_integer_sequence<int, 100>());
}

// ---- between threads, and outside the program
KERNEL(spin_lock, "atomics", 10000, nullptr) {
  static std::atomic<int> lock{0};
  static std::uint64_t value;
  for (int i = 0; i < 10000; ++i) {
    while (lock.exchange(1, std::memory_order_acquire) != 0) _mm_pause();
    ++value;
    lock.store(0, std::memory_order_release);
  }
  g_integer = value;
}
RELIEVED(spin_lock, 10000, nullptr) {
  static std::uint64_t value;
  volatile int lock = 0;
  for (int i = 0; i < 10000; ++i) {
    lock = 1;
    ++value;
    lock = 0;
  }
  g_integer = value;
}

KERNEL(small_reads, "system", 2000, nullptr) {
  static const int from = open("/dev/zero", O_RDONLY);
  char byte = 0;
  for (int i = 0; i < 2000; ++i)
    if (read(from, &byte, 1) != 1) std::abort();
}
RELIEVED(small_reads, 2000, nullptr) {
  static const int from = open("/dev/zero", O_RDONLY);
  static char bytes[2000];
  if (read(from, bytes, 2000) != 2000) std::abort();
}

KERNEL(new_pages, "system", 512, nullptr) {
  char* at = static_cast<char*>(
      mmap(nullptr, 512 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 512; ++i) at[i * 4096] = 1;
  munmap(at, 512 * 4096);
}
RELIEVED(new_pages, 512, nullptr) {
  char* at = memory(512 * 4096);
  for (int i = 0; i < 512; ++i) at[i * 4096] = 1;
}

KERNEL(brief_sleeps, "waiting", 20, nullptr) {
  for (int i = 0; i < 20; ++i) {
    const timespec time{0, 200000};
    nanosleep(&time, nullptr);
    for (int k = 0; k < 20000; ++k) asm volatile("" : : : "memory");
  }
}
RELIEVED(brief_sleeps, 20, nullptr) {
  for (int i = 0; i < 20; ++i)
    for (int k = 0; k < 20000; ++k) asm volatile("" : : : "memory");
}

LOFT_KERNELS_MAIN
