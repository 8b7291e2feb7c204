// A fast Fourier transform (radix 2, Stockham, real and imaginary parts apart), which compilers can
// make SIMD instructions of.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPoints = 4096, kTransforms = 40 };

static double re[2][kPoints], im[2][kPoints];

static void transform(void) {
  int from = 0;
  for (int half = kPoints / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    const double* restrict a = re[from];
    const double* restrict b = im[from];
    double* restrict x = re[1 - from];
    double* restrict y = im[1 - from];
    for (int p = 0; p < half; ++p) {
      const double angle = -acos(-1.0) * p / half;
      const double c = cos(angle);
      const double s = sin(angle);
      for (int q = 0; q < stride; ++q) {
        const double ar = a[q + stride * p], ai = b[q + stride * p];
        const double br = a[q + stride * (p + half)], bi = b[q + stride * (p + half)];
        const double dr = ar - br, di = ai - bi;
        x[q + stride * 2 * p] = ar + br;
        y[q + stride * 2 * p] = ai + bi;
        x[q + stride * (2 * p + 1)] = dr * c - di * s;
        y[q + stride * (2 * p + 1)] = dr * s + di * c;
      }
    }
    from = 1 - from;
  }
  if (from == 1)
    for (int i = 0; i < kPoints; ++i) re[0][i] = re[1][i], im[0][i] = im[1][i];
}

int main(void) {
  for (int i = 0; i < kPoints; ++i) re[0][i] = i % 17, im[0][i] = 0;
  for (int i = 0; i < kTransforms; ++i) {
    transform();
    for (int j = 0; j < kPoints; ++j) re[0][j] /= kPoints, im[0][j] /= kPoints;
  }
  printf("%.6f\n", re[0][1]);
  return EXIT_SUCCESS;
}
