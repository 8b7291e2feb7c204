// Inner loops of systems, fourth part: as fast as the units are.
#include <immintrin.h>

#include <algorithm>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;
using kernels::random_number;

namespace {
typedef double Four __attribute__((vector_size(32)));
typedef float Eight __attribute__((vector_size(32)));
}  // namespace

KERNEL(perspective, "divider", 512.0 * 16, nullptr) {
  const double* from = doubles(2048);
  double* to = doubles(2049);
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 512; ++i) {
      const double w = from[4 * i + 3];
      to[4 * i] = from[4 * i] / w, to[4 * i + 1] = from[4 * i + 1] / w;
      to[4 * i + 2] = from[4 * i + 2] / w;
    }
}
RELIEVED(perspective, 512.0 * 16, nullptr) {  // the table has 1 / w
  const double* from = doubles(2048);
  double* to = doubles(2049);
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 512; ++i) {
      const double w = from[4 * i + 3];
      to[4 * i] = from[4 * i] * w, to[4 * i + 1] = from[4 * i + 1] * w;
      to[4 * i + 2] = from[4 * i + 2] * w;
    }
}

// Seconds to days, hours and minutes, by what the user says these are.
namespace {
volatile std::uint32_t g_units[3] = {60, 24, 7};
template <bool kKnown>
__attribute__((always_inline)) inline void split_times() {
  const auto* from = reinterpret_cast<const std::uint32_t*>(doubles(1024));
  auto* to = reinterpret_cast<std::uint32_t*>(memory(12 * kKiB));
  const std::uint32_t sixty = kKnown ? 60 : g_units[0], day = kKnown ? 24 : g_units[1];
  for (int i = 0; i < 1024; ++i) {
    const std::uint32_t minutes = from[2 * i + 1] / sixty, hours = from[2 * i + 1] / (sixty + 4);
    to[i & 511] = minutes % sixty + hours % day;
  }
}
}  // namespace
KERNEL(split_seconds, "divider", 1024.0 * 8, nullptr) {
  for (int i = 0; i < 8; ++i) split_times<false>();
}
RELIEVED(split_seconds, 1024.0 * 8, nullptr) {
  for (int i = 0; i < 8; ++i) split_times<true>();
}

// Rays against boxes, by slabs.
namespace {
void prepare_slabs() {
  auto* at = reinterpret_cast<float*>(memory(24 * kKiB));
  for (int i = 0; i < 6144; ++i) at[i] = static_cast<float>(random_number() % 1000) / 500 - 1;
}
}  // namespace
KERNEL(ray_boxes, "fp_ports|width", 1024.0 * 16, prepare_slabs) {
  const auto* at = reinterpret_cast<const float*>(memory(24 * kKiB));
  const float ox = 0.1F, oy = 0.2F, oz = 0.3F;
  std::uint64_t hits = 0;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; ++i) {
      const float a = (at[i] - ox) * 1.5F, b = (at[i + 1024] - ox) * 1.5F;
      const float c = (at[i + 2048] - oy) * 1.25F, d = (at[i + 3072] - oy) * 1.25F;
      const float e = (at[i + 4096] - oz) * 0.75F, f = (at[i + 5120] - oz) * 0.75F;
      const float near = std::max(std::min(a, b), std::max(std::min(c, d), std::min(e, f)));
      const float far = std::min(std::max(a, b), std::min(std::max(c, d), std::max(e, f)));
      hits += near <= far ? 1 : 0;
    }
  g_integer = hits;
}
RELIEVED(ray_boxes, 1024.0 * 16, prepare_slabs) {  // eight boxes at a time
  const auto* at = reinterpret_cast<const float*>(memory(24 * kKiB));
  const float ox = 0.1F, oy = 0.2F, oz = 0.3F;
  std::uint64_t hits = 0;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; i += 8) {
      const auto load = [&](int plane) { return (Eight)_mm256_loadu_ps(at + i + 1024 * plane); };
      const Eight a = (load(0) - ox) * 1.5F, b = (load(1) - ox) * 1.5F;
      const Eight c = (load(2) - oy) * 1.25F, d = (load(3) - oy) * 1.25F;
      const Eight e = (load(4) - oz) * 0.75F, f = (load(5) - oz) * 0.75F;
      const Eight near = _mm256_max_ps(_mm256_min_ps(a, b),
                                       _mm256_max_ps(_mm256_min_ps(c, d), _mm256_min_ps(e, f)));
      const Eight far = _mm256_min_ps(_mm256_max_ps(a, b),
                                      _mm256_min_ps(_mm256_max_ps(c, d), _mm256_max_ps(e, f)));
      hits += static_cast<std::uint64_t>(
          __builtin_popcount(_mm256_movemask_ps(_mm256_cmp_ps(near, far, _CMP_LE_OQ))));
    }
  g_integer = hits;
}

// exp(x) for small x, by its series, in softmax.
namespace {
template <class T>
__attribute__((always_inline)) inline T series(T x) {
  return 1 + x * (1 + x * (0.5F + x * (0.16666667F + x * (0.041666667F + x * 0.0083333F))));
}
}  // namespace
KERNEL(softmax_series, "fp_ports|width", 2048.0 * 8, prepare_slabs) {
  auto* at = reinterpret_cast<float*>(memory(24 * kKiB));
  for (int round = 0; round < 8; ++round)
#pragma GCC unroll 2
    for (int i = 0; i < 2048; ++i) {
      const float half = series(at[i]);
      at[i + 2048] = half * half * series(at[i] * 0.125F);
    }
}
RELIEVED(softmax_series, 2048.0 * 8, prepare_slabs) {
  auto* at = reinterpret_cast<float*>(memory(24 * kKiB));
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 2048; i += 8) {
      const Eight x = (Eight)_mm256_loadu_ps(at + i), half = series(x);
      _mm256_storeu_ps(at + i + 2048, half * half * series(x * 0.125F));
    }
}

// Butterflies of an FFT in L1.
KERNEL(fft_butterflies, "fp_ports|memory_ports|l1_bandwidth|width", 256.0 * 64, nullptr) {
  double *re = doubles(512), *im = doubles(513), *w = doubles(514);
  for (int round = 0; round < 64; ++round)
    for (int i = 0; i < 256; ++i) {
      const double a = re[i + 256] * w[i] - im[i + 256] * w[i + 256];
      const double b = re[i + 256] * w[i + 256] + im[i + 256] * w[i];
      const double c = re[i], d = im[i];
      re[i] = 0.5 * (c + a), im[i] = 0.5 * (d + b);
      re[i + 256] = 0.5 * (c - a), im[i + 256] = 0.5 * (d - b);
    }
}
RELIEVED(fft_butterflies, 256.0 * 64, nullptr) {  // four at a time
  double *re = doubles(512), *im = doubles(513), *w = doubles(514);
  const auto load = [](const double* at) { return (Four)_mm256_loadu_pd(at); };
  for (int round = 0; round < 64; ++round)
    for (int i = 0; i < 256; i += 4) {
      const Four x = load(re + i + 256), y = load(im + i + 256), u = load(w + i),
                 v = load(w + i + 256);
      const Four a = x * u - y * v, b = x * v + y * u, c = load(re + i), d = load(im + i);
      _mm256_storeu_pd(re + i, 0.5 * (c + a)), _mm256_storeu_pd(im + i, 0.5 * (d + b));
      _mm256_storeu_pd(re + i + 256, 0.5 * (c - a)), _mm256_storeu_pd(im + i + 256, 0.5 * (d - b));
    }
}

// Bits of words, counted byte by byte.
namespace {
unsigned char g_ones[256];
void prepare_ones() {
  for (int i = 0; i < 256; ++i) g_ones[i] = static_cast<unsigned char>(__builtin_popcount(i));
}
}  // namespace
KERNEL(popcount_table, "int_ports|width|memory_ports", 1024.0 * 16, prepare_ones) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(1024));
  std::uint64_t sum = 0;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; ++i) {
      const std::uint64_t x = from[i];
      unsigned ones = g_ones[x & 255] + g_ones[x >> 8 & 255] + g_ones[x >> 16 & 255];
      ones += g_ones[x >> 24 & 255] + g_ones[x >> 32 & 255] + g_ones[x >> 40 & 255];
      sum += ones + g_ones[x >> 48 & 255] + g_ones[x >> 56];
    }
  g_integer = sum;
}
RELIEVED(popcount_table, 1024.0 * 16, prepare_ones) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(1024));
  std::uint64_t sum = 0;
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 1024; ++i) {
      std::uint64_t ones;
      asm("popcnt %1, %0" : "=r"(ones) : "r"(from[i]));
      sum += ones;
    }
  g_integer = sum;
}

// Differences with their sign in the lowest bit, made into numbers.
KERNEL(zigzag, "width|int_ports|memory_ports", 2048.0 * 16, nullptr) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(doubles(1024));
  auto* to = reinterpret_cast<std::uint32_t*>(memory(12 * kKiB));
  for (int round = 0; round < 16; ++round)
#pragma GCC unroll 4
    for (int i = 0; i < 2048; ++i) {
      const std::uint32_t x = from[i];
      to[i] = ((x >> 1) ^ (0U - (x & 1))) + (x >> 7);
    }
}
RELIEVED(zigzag, 2048.0 * 16, nullptr) {  // eight at a time
  const auto* from = reinterpret_cast<const __m256i*>(doubles(1024));
  auto* to = reinterpret_cast<__m256i*>(memory(12 * kKiB));
  for (int round = 0; round < 16; ++round)
    for (int i = 0; i < 256; ++i) {
      const __m256i x = _mm256_loadu_si256(from + i);
      const __m256i sign =
          _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(x, _mm256_set1_epi32(1)));
      _mm256_storeu_si256(to + i, _mm256_add_epi32(_mm256_xor_si256(_mm256_srli_epi32(x, 1), sign),
                                                   _mm256_srli_epi32(x, 7)));
    }
}

// Sums of differences of blocks, as a video encoder looks for motion.
namespace {
template <bool kKept>
__attribute__((always_inline)) inline void search_motion() {
  const auto* a = reinterpret_cast<const __m256i*>(doubles(1024));
  const auto* b = reinterpret_cast<const __m256i*>(doubles(2048));
  const __m256i kept = _mm256_loadu_si256(b);
  __m256i sums[4] = {};
  for (int i = 0; i < 256; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const __m256i other = kKept ? kept : _mm256_loadu_si256(b + i + k);
      sums[k] = _mm256_add_epi64(sums[k], _mm256_sad_epu8(_mm256_loadu_si256(a + i + k), other));
    }
  const __m256i sum =
      _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
  g_integer = static_cast<std::uint64_t>(_mm256_extract_epi64(sum, 0));
}
}  // namespace
KERNEL(motion_search, "memory_ports|l1_bandwidth", 256.0 * 128, nullptr) {
  for (int i = 0; i < 128; ++i) search_motion<false>();
}
RELIEVED(motion_search, 256.0 * 128, nullptr) {
  for (int i = 0; i < 128; ++i) search_motion<true>();
}
