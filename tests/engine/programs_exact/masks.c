// Kernels whose remainders are masked lanes, and gathers and scatters: what they count depends on
// the masks. Prints "expect FUNCTION EVENT VALUE" as kernels.c does, for what this processor has.
#include <immintrin.h>

#include "expect.h"

#define AVX2 __attribute__((noinline, noipa, target("avx2,fma")))
#define AVX512 __attribute__((noinline, noipa, target("avx512f,avx512vl,avx512bw,avx512dq")))

static double a[512], b[512], c[512];
static int column[512];

// --- AVX2: vmaskmovpd, vgatherdpd ---

AVX2 void triad_maskmov(int n, double* x, const double* y, const double* z) {
  const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
  for (int i = 0; i < n; i += 4) {
    const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n - i), lane);
    const __m256d left = _mm256_maskload_pd(y + i, mask), right = _mm256_maskload_pd(z + i, mask);
    _mm256_maskstore_pd(x + i, mask, _mm256_add_pd(left, right));
  }
}

AVX2 void gather_add(int n, double* x, const double* y, const int* at) {
  const __m128i lane = _mm_setr_epi32(0, 1, 2, 3);
  for (int i = 0; i < n; i += 4) {
    const __m128i narrow = _mm_cmpgt_epi32(_mm_set1_epi32(n - i), lane);
    const __m256i mask = _mm256_cvtepi32_epi64(narrow);
    const __m128i index = _mm_maskload_epi32(at + i, narrow);
    const __m256d found =
        _mm256_mask_i32gather_pd(_mm256_setzero_pd(), y, index, _mm256_castsi256_pd(mask), 8);
    _mm256_maskstore_pd(x + i, mask, _mm256_add_pd(found, found));
  }
}

static void run_avx2(void) {
  const long n = 103, vectors = (n + 3) / 4;
  triad_maskmov((int)n, a, b, c);
  expect("triad_maskmov", "flops_dp", 4 * vectors);  // the sum itself is not masked
  expect("triad_maskmov", "loads_masked", 2 * vectors);
  expect("triad_maskmov", "load_bytes_masked", 16 * n);
  expect("triad_maskmov", "stores_masked", vectors);
  expect("triad_maskmov", "store_bytes_masked", 8 * n);
  gather_add((int)n, a, b, column);
  expect("gather_add", "loads_vector", n);
  expect("gather_add", "load_bytes_vector", 8 * n);
  expect("gather_add", "load_bytes_masked", 4 * n);
  expect("gather_add", "store_bytes_masked", 8 * n);
  expect("gather_add", "class_gather", vectors);
}

// --- AVX-512: opmasks ---

AVX512 void triad_opmask(int n, double* x, const double* y, const double* z, double s) {
  const __m512d factor = _mm512_set1_pd(s);
  for (int i = 0; i < n; i += 8) {
    const __mmask8 mask = (__mmask8)(n - i >= 8 ? 0xFF : (1u << (n - i)) - 1);
    const __m512d left = _mm512_maskz_loadu_pd(mask, y + i),
                  right = _mm512_maskz_loadu_pd(mask, z + i);
    _mm512_mask_storeu_pd(x + i, mask, _mm512_mask_fmadd_pd(right, mask, factor, left));
  }
}

AVX512 void sparse_opmask(int n, double* x, const double* y, const int* at) {
  for (int i = 0; i < n; i += 8) {
    const __mmask8 mask = (__mmask8)(n - i >= 8 ? 0xFF : (1u << (n - i)) - 1);
    const __m256i index = _mm256_maskz_loadu_epi32(mask, at + i);
    const __m512d found = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, index, y, 8);
    _mm512_mask_i32scatter_pd(x, mask, index, _mm512_maskz_add_pd(mask, found, found), 8);
  }
}

// Keeps what is above five: as many as there are, packed.
AVX512 long compress(int n, double* x, const double* y) {
  long kept = 0;
  for (int i = 0; i < n; i += 8) {
    const __m512d values = _mm512_loadu_pd(y + i);
    const __mmask8 mask = _mm512_cmp_pd_mask(values, _mm512_set1_pd(5), _CMP_GT_OQ);
    _mm512_mask_compressstoreu_pd(x + kept, mask, values);
    kept += __builtin_popcount(mask);
  }
  return kept;
}

AVX512 void no_lanes(double* x, const double* y, __mmask8 mask) {
  for (int i = 0; i < 10; ++i)
    _mm512_mask_storeu_pd(x, mask,
                          _mm512_mask_add_pd(_mm512_setzero_pd(), mask,
                                             _mm512_maskz_loadu_pd(mask, y), _mm512_set1_pd(1)));
}

// Copies of four numbers: of each mask, the numbers that have a copy in it.
AVX512 void broadcast_opmask(float* x, const float* y) {
  __m512 sum = _mm512_setzero_ps();
  asm volatile(
      "kmovw %2, %%k1; vbroadcastf32x4 (%1), %0%{%%k1%}%{z%};"
      "kmovw %3, %%k1; vbroadcastf32x4 (%1), %0%{%%k1%}"
      : "+v"(sum)
      : "r"(y), "r"(0x1001), "r"(0x0021)
      : "k1", "memory");
  _mm512_storeu_ps(x, sum);
}

static void run_avx512(void) {
  const long n = 103, vectors = (n + 7) / 8;
  triad_opmask((int)n, a, b, c, 3);
  expect("triad_opmask", "flops_dp", 2 * n);
  expect("triad_opmask", "fp_512_dp", vectors);
  expect("triad_opmask", "load_bytes_masked", 16 * n);
  expect("triad_opmask", "store_bytes_masked", 8 * n);
  sparse_opmask((int)n, a, b, column);
  expect("sparse_opmask", "flops_dp", n);
  expect("sparse_opmask", "loads_vector", n);
  expect("sparse_opmask", "stores_vector", n);
  expect("sparse_opmask", "store_bytes_vector", 8 * n);
  const long kept = compress(104, a, b);
  expect("compress", "store_bytes_masked", 8 * kept);
  expect("compress", "loads_64", 104 / 8);
  broadcast_opmask((float*)a, (const float*)b);
  expect("broadcast_opmask", "loads_masked", 2);
  expect("broadcast_opmask", "load_bytes_masked", 4 + 8);
  no_lanes(a, b, 0);
  expect("no_lanes", "flops_dp", 0);
  expect("no_lanes", "loads_masked", 0);
  expect("no_lanes", "stores_masked", 0);
}

int main(void) {
  for (int i = 0; i < 512; ++i) {
    b[i] = i % 11;
    c[i] = i % 7;
    column[i] = (i * 37) % 512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) run_avx2();
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    run_avx512();
  return say_expectations();
}
