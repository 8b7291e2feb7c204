// Programs of numerical mathematics as people write them: `programs NAME SIZE ROUNDS`.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<double>;

Vector numbers(std::size_t count) {
  Vector values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.5 + static_cast<double>(i % 7);
  return values;
}

__attribute__((noinline)) void product_ijk(const double* a, const double* b, double* c,
                                           std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] += sum;
    }
}

__attribute__((noinline)) void product_ikj(const double* a, const double* b, double* c,
                                           std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
    }
}

__attribute__((noinline)) void triad(double* a, const double* b, const double* c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
}

__attribute__((noinline)) double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

using Complex = std::complex<double>;

// One pass of butterflies; `n` is a power of two.
__attribute__((noinline)) void butterflies(Complex* x, const Complex* roots, std::size_t n,
                                           std::size_t half) {
  const std::size_t step = n / (2 * half);
  for (std::size_t start = 0; start < n; start += 2 * half)
    for (std::size_t k = 0; k < half; ++k) {
      const Complex a = x[start + k], b = x[start + k + half], w = roots[k * step];
      const Complex t{b.real() * w.real() - b.imag() * w.imag(),
                      b.real() * w.imag() + b.imag() * w.real()};
      x[start + k] = a + t;
      x[start + k + half] = a - t;
    }
}

void fft(std::size_t n, std::size_t rounds) {
  std::vector<Complex> x(n, {1, 0}), roots(n);
  for (std::size_t i = 0; i < n; ++i)
    roots[i] =
        std::polar(1.0, -6.283185307179586 * static_cast<double>(i) / static_cast<double>(n));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t half = 1; half < n; half *= 2) butterflies(x.data(), roots.data(), n, half);
    for (Complex& value : x) value *= 1e-9;
  }
}

// A matrix with seven entries a row: its neighbours, and two that lie anywhere.
struct Sparse {
  std::vector<std::uint32_t> columns;
  Vector values;
};

__attribute__((noinline)) void multiply(const Sparse& m, const double* x, double* y,
                                        std::size_t n) {
  for (std::size_t row = 0; row < n; ++row) {
    double sum = 0;
    for (std::size_t i = 7 * row; i < 7 * row + 7; ++i) sum += m.values[i] * x[m.columns[i]];
    y[row] = sum;
  }
}

__attribute__((noinline)) void add_scaled(double* y, double factor, const double* x,
                                          std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// Conjugate gradients, `rounds` steps.
void cg(std::size_t n, std::size_t rounds) {
  Sparse m{std::vector<std::uint32_t>(7 * n), Vector(7 * n, -0.1)};
  std::uint64_t state = 88172645463325252ULL;
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t i = 0; i < 7; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::size_t column = i < 5 ? (row + n + i - 2) % n : (state >> 33) % n;
      m.columns[7 * row + i] = static_cast<std::uint32_t>(column);
      if (i == 2) m.values[7 * row + i] = 4;
    }
  Vector x(n), r = numbers(n), p = r, q(n);
  double rho = dot(r.data(), r.data(), n);
  for (std::size_t round = 0; round < rounds; ++round) {
    multiply(m, p.data(), q.data(), n);
    const double alpha = rho / (dot(p.data(), q.data(), n) + 1e-30);
    add_scaled(x.data(), alpha, p.data(), n);
    add_scaled(r.data(), -alpha, q.data(), n);
    const double next = dot(r.data(), r.data(), n);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / (rho + 1e-30) * p[i];
    rho = next;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string name = argv[1];
  const auto n = static_cast<std::size_t>(std::atol(argv[2]));
  const auto rounds = static_cast<std::size_t>(std::atol(argv[3]));
  if (name == "fft" || name == "cg") {
    (name == "fft" ? fft : cg)(n, rounds);
    return 0;
  }
  const std::size_t count = name == "triad" || name == "dot" ? n : n * n;
  Vector a = numbers(count), b = numbers(count), c = numbers(count);
  double sum = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (name == "ijk") product_ijk(a.data(), b.data(), c.data(), n);
    if (name == "ikj") product_ikj(a.data(), b.data(), c.data(), n);
    if (name == "triad") triad(a.data(), b.data(), c.data(), n);
    if (name == "dot") sum += dot(a.data(), b.data(), n);
  }
  std::fprintf(stderr, "%g\n", sum + a[count / 2] + c[count / 2]);
}
