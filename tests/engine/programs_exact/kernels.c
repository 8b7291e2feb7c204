// Kernels with analytic operation counts and traffic. Each prints what must be counted inside it:
//   expect FUNCTION EVENT VALUE
// Odd sizes leave remainders behind every vector length. Implicit stack traffic (calls, saved
// registers) is the compiler's affair and subtracted.
#include <math.h>

#include "expect.h"

#define KERNEL __attribute__((noinline, noipa))
#define WIDE __attribute__((noinline, noipa, target("avx2,fma")))

enum { kTriad = 203, kMatrix = 11, kSide = 13, kFft = 32, kRows = 30, kMost = 256 };

static double a[kMost], b[kMost], c[kMost];
static float fa[kMost], fb[kMost], fc[kMost];

static void expect_bytes(const char* function, long loaded, long stored) {
  expect(function, "load_bytes-load_bytes_stack", loaded);
  expect(function, "store_bytes-store_bytes_stack", stored);
}

KERNEL void triad(int n, double* restrict x, const double* restrict y, const double* restrict z,
                  double s) {
  for (int i = 0; i < n; ++i) x[i] = y[i] + s * z[i];
}

WIDE void triad_wide(int n, double* restrict x, const double* restrict y, const double* restrict z,
                     double s) {
  for (int i = 0; i < n; ++i) x[i] = y[i] + s * z[i];
}

WIDE void triad_wide_single(int n, float* restrict x, const float* restrict y,
                            const float* restrict z, float s) {
  for (int i = 0; i < n; ++i) x[i] = y[i] + s * z[i];
}

// One row of a product of matrices: the inner loop, which holds all operations and all traffic.
KERNEL void dgemm_row(int n, double left, const double* restrict y, double* restrict z) {
  for (int j = 0; j < n; ++j) z[j] += left * y[j];
}

WIDE void dgemm_row_wide(int n, double left, const double* restrict y, double* restrict z) {
  for (int j = 0; j < n; ++j) z[j] += left * y[j];
}

static void dgemm(int n, void (*row)(int, double, const double* restrict, double* restrict),
                  const double* x, const double* y, double* z) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) row(n, x[i * n + k], y + k * n, z + i * n);
}

// Five points: four sums and a product for each inner point.
KERNEL void stencil_row(int n, const double* restrict above, const double* restrict here,
                        const double* restrict below, double* restrict out, double factor) {
  for (int j = 1; j < n - 1; ++j)
    out[j] = factor * (here[j] + here[j - 1] + here[j + 1] + above[j] + below[j]);
}

// Radix 2, decimation in time: ten operations for each of n/2 log2(n) butterflies.
KERNEL void fft(int n, double* restrict re, double* restrict im, const double* restrict wr,
                const double* restrict wi) {
  for (int half = 1, step = n / 2; half < n; half *= 2, step /= 2)
    for (int start = 0; start < n; start += 2 * half)
      for (int k = 0; k < half; ++k) {
        const int p = start + k, q = p + half;
        const double tr = wr[k * step] * re[q] - wi[k * step] * im[q];
        const double ti = wr[k * step] * im[q] + wi[k * step] * re[q];
        const double ur = re[p], ui = im[p];
        re[p] = ur + tr;
        im[p] = ui + ti;
        re[q] = ur - tr;
        im[q] = ui - ti;
      }
}

// A product and a sum for each element that is not zero.
KERNEL void sparse(int rows, const int* restrict start, const int* restrict column,
                   const double* restrict value, const double* restrict x, double* restrict y) {
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

// A sum of n numbers in the order they stand: n additions, no others.
KERNEL double sum(int n, const double* restrict x) {
  double total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  return total;
}

KERNEL void roots(int n, double* restrict x, const double* restrict y) {
  for (int i = 0; i < n; ++i) x[i] = __builtin_sqrt(y[i]) / y[i];
}

static void run_triads(void) {
  const long n = kTriad;
  triad(kTriad, a, b, c, 3.0);
  expect("triad", "flops_dp", 2 * n);
  expect("triad", "flops", 2 * n);
  expect_bytes("triad", 16 * n, 8 * n);
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) return;
  triad_wide(kTriad, a, b, c, 3.0);
  expect("triad_wide", "flops_dp", 2 * n);
  expect("triad_wide", "flops_256_dp", 2 * (n / 4 * 4));
  expect("triad_wide", "fp_fma_256_dp", n / 4);
  expect_bytes("triad_wide", 16 * n, 8 * n);
  triad_wide_single(kTriad, fa, fb, fc, 3.0f);
  expect("triad_wide_single", "flops_sp", 2 * n);
  expect("triad_wide_single", "flops", 2 * n);
  expect_bytes("triad_wide_single", 8 * n, 4 * n);
}

static void run_dgemm(void) {
  const long n = kMatrix;
  dgemm(kMatrix, dgemm_row, a, b, c);
  expect("dgemm_row", "flops_dp", 2 * n * n * n);
  expect("dgemm_row", "flops_sp", 0);
  expect_bytes("dgemm_row", 16 * n * n * n, 8 * n * n * n);
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) return;
  dgemm(kMatrix, dgemm_row_wide, a, b, c);
  expect("dgemm_row_wide", "flops_dp", 2 * n * n * n);
  expect_bytes("dgemm_row_wide", 16 * n * n * n, 8 * n * n * n);
}

static void run_stencil(void) {
  for (int i = 1; i < kSide - 1; ++i)
    stencil_row(kSide, a + (i - 1) * kSide, a + i * kSide, a + (i + 1) * kSide, c + i * kSide, 0.2);
  const long inner = (kSide - 2) * (kSide - 2);
  expect("stencil_row", "flops_dp", 5 * inner);
  expect_bytes("stencil_row", 40 * inner, 8 * inner);
}

static void run_fft(void) {
  static double re[kFft], im[kFft], wr[kFft / 2], wi[kFft / 2];
  for (int i = 0; i < kFft; ++i) re[i] = i % 7, im[i] = i % 5;
  for (int i = 0; i < kFft / 2; ++i) {
    wr[i] = cos(2 * M_PI * i / kFft);
    wi[i] = -sin(2 * M_PI * i / kFft);
  }
  fft(kFft, re, im, wr, wi);
  long levels = 0;
  while (1 << levels < kFft) ++levels;
  expect("fft", "flops_dp", 5 * kFft * levels);
}

static void run_sparse(void) {
  static int start[kRows + 1], column[kRows * 8];
  long count = 0;
  for (int i = 0; i < kRows; ++i) {
    start[i] = (int)count;
    for (int k = 0; k < (i * 7) % 9; ++k) column[count++] = (i * 31 + k * 17) % kMost;
  }
  start[kRows] = (int)count;
  sparse(kRows, start, column, a, b, c);
  expect("sparse", "flops_dp", 2 * count);
  expect("sparse", "store_bytes-store_bytes_stack", 8 * kRows);
}

int main(void) {
  for (int i = 0; i < kMost; ++i) {
    a[i] = fa[i] = (float)(i % 17);
    b[i] = fb[i] = (float)(i % 13 + 1);
    c[i] = fc[i] = (float)(i % 11);
  }
  run_triads();
  run_dgemm();
  run_stencil();
  run_fft();
  run_sparse();
  volatile double total = sum(kTriad, b);
  (void)total;
  expect("sum", "flops_dp", kTriad);
  expect_bytes("sum", 8 * kTriad, 0);
  roots(101, a, b);
  expect("roots", "flops_dp", 2 * 101);
  return say_expectations();
}
