// Hot loops of software that people run, with one bottleneck each; nobody tuned the timing model
// with these.
#include <immintrin.h>

#include <array>
#include <cmath>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;
using kernels::random_number;

// ---- text
namespace {
constexpr std::size_t kText = 640 * kKiB;  // more than a predictor remembers
template <bool kRandom>
void prepare_utf8() {
  auto* at = reinterpret_cast<unsigned char*>(memory(kText));
  for (std::size_t i = 0; i + 4 < kText;) {
    const std::uint64_t kind = kRandom ? random_number() >> 40 & 1 : i / 3 % 2;
    if (kind == 0) {
      at[i++] = 'a';
    } else {
      at[i++] = 0xc3;
      at[i++] = 0xa9;
    }
  }
}
__attribute__((noinline)) void validate_utf8() {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kText));
  std::uint64_t characters = 0, sum = 0;
  for (std::size_t i = 0; i + 8 < kText; ++characters) {
    if (at[i] < 0x80) {
      sum += at[i];
      asm volatile("");
      i += 1;
    } else if ((at[i] & 0xe0) == 0xc0) {
      if ((at[i + 1] & 0xc0) != 0x80) break;
      asm volatile("");
      sum += (at[i] & 31U) << 6 | (at[i + 1] & 63U);
      i += 2;
    } else {
      break;
    }
  }
  g_integer = characters + sum;
}
}  // namespace
KERNEL(utf8_decode, "mispredictions", kText, prepare_utf8<true>) { validate_utf8(); }
RELIEVED(utf8_decode, kText, prepare_utf8<false>) { validate_utf8(); }

namespace {
template <bool kRandom>
void prepare_csv() {
  char* at = memory(kText);
  std::size_t i = 0;
  for (int field = 0; i + 16 < kText; ++field) {
    const std::uint64_t length = kRandom ? 1 + (random_number() >> 40) % 7 : 4;
    for (std::uint64_t k = 0; k < length; ++k) at[i++] = '5';
    at[i++] = field % 8 == 7 ? '\n' : ',';
  }
  for (; i < kText; ++i) at[i] = ',';
}
__attribute__((noinline)) void read_csv() {
  const char* at = memory(kText);
  const char* end = at + kText;
  std::uint64_t rows = 0, sum = 0;
  while (at < end) {
    std::uint64_t value = 0;
    while (*at != ',' && *at != '\n') value = value * 8 + static_cast<unsigned char>(*at++);
    rows += *at++ == '\n' ? 1 : 0;
    sum += value;
  }
  g_integer = rows + sum;
}
}  // namespace
KERNEL(csv_fields, "mispredictions", kText, prepare_csv<true>) { read_csv(); }
RELIEVED(csv_fields, kText, prepare_csv<false>) { read_csv(); }

// The next place to look at is known when the byte has been read and its skip looked up.
namespace {
constexpr std::size_t kHay = 16 * kKiB;
unsigned char g_skip[256];
void prepare_horspool() {
  auto* at = reinterpret_cast<unsigned char*>(memory(kHay));
  for (std::size_t i = 0; i < kHay; ++i)
    at[i] = static_cast<unsigned char>('a' + random_number() % 16);
  std::memset(g_skip, 4, sizeof g_skip);
  for (unsigned char c = 'a'; c < 'a' + 16; ++c) g_skip[c] = static_cast<unsigned char>(3 + c % 3);
}
}  // namespace
KERNEL(horspool, "l1_latency|int_latency", kHay / 4.0, prepare_horspool) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kHay));
  std::size_t i = 0;
  while (i < kHay - 8) {
    if (at[i] == 'z') break;
    i += g_skip[at[i]];
  }
  g_integer = i;
}
RELIEVED(horspool, kHay / 4.0, prepare_horspool) {  // four parts at a time
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kHay));
  std::size_t i = 0, j = kHay / 4, k = kHay / 2, l = kHay * 3 / 4;
  while (l < kHay - 8) {
    if (at[i] == 'z' || at[j] == 'z' || at[k] == 'z' || at[l] == 'z') break;
    i += g_skip[at[i]], j += g_skip[at[j]], k += g_skip[at[k]], l += g_skip[at[l]];
  }
  g_integer = i + j + k + l;
}

namespace {
unsigned char g_class[256];
unsigned char g_next[32 * 16];
void prepare_lexer() {
  auto* at = reinterpret_cast<unsigned char*>(memory(kHay));
  for (std::size_t i = 0; i < kHay; ++i) at[i] = static_cast<unsigned char>(random_number() >> 51);
  for (int i = 0; i < 256; ++i) g_class[i] = static_cast<unsigned char>(i % 16);
  for (auto& next : g_next) next = static_cast<unsigned char>(random_number() >> 40 & 31);
}
}  // namespace
KERNEL(lexer_table, "l1_latency|int_latency", kHay, prepare_lexer) {
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kHay));
  std::uint64_t state = 0;
  for (std::size_t i = 0; i < kHay; ++i) state = g_next[state * 16 + g_class[at[i]]];
  g_integer = state;
}
RELIEVED(lexer_table, kHay, prepare_lexer) {  // four texts
  const auto* at = reinterpret_cast<const unsigned char*>(memory(kHay));
  std::uint64_t a = 0, b = 1, c = 2, d = 3;
  for (std::size_t i = 0; i < kHay / 4; ++i) {
    a = g_next[a * 16 + g_class[at[i]]];
    b = g_next[b * 16 + g_class[at[i + kHay / 4]]];
    c = g_next[c * 16 + g_class[at[i + kHay / 2]]];
    d = g_next[d * 16 + g_class[at[i + kHay * 3 / 4]]];
  }
  g_integer = a + b + c + d;
}

KERNEL(edit_distance, "int_latency", 512.0 * 64, [] {
  prepare_lexer();
  for (int i = 0; i < 513; ++i) reinterpret_cast<int*>(memory(4096))[i] = i;
}) {
  const auto* text = reinterpret_cast<const unsigned char*>(memory(kHay));
  int* row = reinterpret_cast<int*>(memory(4096));
  for (int i = 0; i < 64; ++i) {
    int diagonal = row[0], left = i + 1;
    for (int j = 1; j <= 512; ++j) {
      const int up = row[j];
      const int change = diagonal + (text[j] != text[i] ? 1 : 0);
      const int other = std::min(up + 1, change);
      left = left + 1 < other ? left + 1 : other;
      asm("" : "+r"(left));
      row[j] = left;
      diagonal = up;
    }
  }
}
RELIEVED(edit_distance, 512.0 * 64, [] {
  prepare_lexer();
  for (int i = 0; i < 513; ++i) reinterpret_cast<int*>(memory(4096))[i] = i;
}) {  // the neighbour of the row before instead of that just computed
  const auto* text = reinterpret_cast<const unsigned char*>(memory(kHay));
  int* row = reinterpret_cast<int*>(memory(4096));
  for (int i = 0; i < 64; ++i) {
    int diagonal = row[0];
    for (int j = 1; j <= 512; ++j) {
      const int up = row[j];
      const int change = diagonal + (text[j] != text[i] ? 1 : 0);
      const int other = std::min(up + 1, change);
      int left = diagonal + 1 < other ? diagonal + 1 : other;
      asm("" : "+r"(left));
      row[j] = left;
      diagonal = up;
    }
  }
}

// ---- compression and codes
// A match that lies one byte back repeats the byte just written.
namespace {
std::size_t g_offset;
__attribute__((noinline)) void copy_match(unsigned char* to, std::size_t offset,
                                          std::size_t length) {
  const unsigned char* from = to - offset;
  for (std::size_t i = 0; i < length; ++i) {
    to[i] = from[i];
    asm volatile("" : : : "memory");
  }
}
}  // namespace
KERNEL(lz_match_copy, "store_forwarding", 16384, [] { g_offset = 1; }) {
  copy_match(reinterpret_cast<unsigned char*>(memory(20 * kKiB)) + 2048, g_offset, 16384);
}
RELIEVED(lz_match_copy, 16384, [] { g_offset = 2048; }) {
  copy_match(reinterpret_cast<unsigned char*>(memory(20 * kKiB)) + 2048, g_offset, 16384);
}

// Where the next code starts is known when the length of this one has been looked up.
namespace {
std::array<std::uint16_t, 2048> g_codes;  // symbol and length
void prepare_codes() {
  for (auto& code : g_codes)
    code = static_cast<std::uint16_t>((random_number() >> 40 & 0xff00) | (3 + random_number() % 8));
  auto* at = reinterpret_cast<std::uint64_t*>(memory(16 * kKiB));
  for (int i = 0; i < 2048; ++i) at[i] = random_number();
}
__attribute__((always_inline)) inline std::uint64_t bits_at(const char* at, std::uint64_t bit) {
  std::uint64_t word;
  std::memcpy(&word, at + (bit >> 3), 8);
  return word >> (bit & 7);
}
}  // namespace
KERNEL(huffman_decode, "l1_latency|int_latency", 8192, prepare_codes) {
  const char* from = memory(16 * kKiB);
  std::uint64_t bit = 0, sum = 0;
  for (int i = 0; i < 8192; ++i) {
    const unsigned code = g_codes[bits_at(from, bit) & 2047];
    bit += code & 15;
    sum += code >> 8;
  }
  g_integer = sum;
}
RELIEVED(huffman_decode, 8192, prepare_codes) {  // four streams
  const char* from = memory(16 * kKiB);
  std::uint64_t bit[4] = {}, sum = 0;
  for (int i = 0; i < 2048; ++i)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const unsigned code = g_codes[bits_at(from + 4000 * k, bit[k]) & 2047];
      bit[k] += code & 15;
      sum += code >> 8;
    }
  g_integer = sum;
}

namespace {
char g_digits[64], g_pairs[8192];
void prepare_base64() {
  const char* all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::memcpy(g_digits, all, 64);
  for (int i = 0; i < 4096; ++i) g_pairs[2 * i] = all[i >> 6], g_pairs[2 * i + 1] = all[i & 63];
  prepare_codes();
}
}  // namespace
KERNEL(base64_encode, "width|int_ports|memory_ports|l1_bandwidth", 5000, prepare_base64) {
  const auto* from = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  char* to = memory(24 * kKiB);
  for (int i = 0; i < 5000; ++i, from += 3, to += 4) {
    const unsigned bits = from[0] << 16 | from[1] << 8 | from[2];
    to[0] = g_digits[bits >> 18], to[1] = g_digits[bits >> 12 & 63];
    to[2] = g_digits[bits >> 6 & 63], to[3] = g_digits[bits & 63];
  }
}
RELIEVED(base64_encode, 5000, prepare_base64) {  // two digits at a time
  const auto* from = reinterpret_cast<const unsigned char*>(memory(16 * kKiB));
  char* to = memory(24 * kKiB);
  for (int i = 0; i < 5000; ++i, from += 3, to += 4) {
    std::uint32_t word;
    std::memcpy(&word, from, 4);
    const unsigned bits = __builtin_bswap32(word);
    std::memcpy(to, g_pairs + 2 * (bits >> 20), 2);
    std::memcpy(to + 2, g_pairs + 2 * (bits >> 8 & 4095), 2);
  }
}

// ChaCha's quarter round, one after the other, or four columns side by side as the cipher allows.
namespace {
__attribute__((always_inline)) inline void quarter_round(std::uint32_t* s) {
  const auto rotate = [](std::uint32_t x, int by) { return x << by | x >> (32 - by); };
  s[0] += s[1], s[3] = rotate(s[3] ^ s[0], 16);
  s[2] += s[3], s[1] = rotate(s[1] ^ s[2], 12);
  s[0] += s[1], s[3] = rotate(s[3] ^ s[0], 8);
  s[2] += s[3], s[1] = rotate(s[1] ^ s[2], 7);
}
}  // namespace
KERNEL(chacha_rounds, "int_latency", 8000, nullptr) {
  std::uint32_t s[4] = {static_cast<std::uint32_t>(g_integer), 2, 3, 4};
  for (int i = 0; i < 8000; ++i) quarter_round(s);
  g_integer = s[0] + s[1] + s[2] + s[3];
}
RELIEVED(chacha_rounds, 8000, nullptr) {
  std::uint32_t s[4] = {static_cast<std::uint32_t>(g_integer), 2, 3, 4}, t[4] = {5, 6, 7, s[0]};
  std::uint32_t u[4] = {9, s[0], 6, 4};
  for (int i = 0; i < 8000 / 3; ++i) quarter_round(s), quarter_round(t), quarter_round(u);
  g_integer = s[0] + s[1] + s[2] + s[3] + t[0] + t[1] + t[2] + t[3] + u[0] + u[1] + u[2] + u[3];
}

// ---- numbers
KERNEL(digits_any_base, "divider|int_latency", 512.0 * 11, nullptr) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(512));
  volatile std::uint64_t given = 36;
  const std::uint64_t base = given;
  char* to = memory(12 * kKiB);
  for (int i = 0; i < 512; ++i) {
    std::uint64_t x = from[i] | 1ULL << 62;
    for (int digit = 0; digit < 11; ++digit) to[digit] = static_cast<char>(x % base), x /= base;
    to += 11;
  }
}
RELIEVED(digits_any_base, 512.0 * 11, nullptr) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(512));
  char* to = memory(12 * kKiB);
  for (int i = 0; i < 512; ++i) {
    std::uint64_t x = from[i] | 1ULL << 62;
    for (int digit = 0; digit < 11; ++digit) to[digit] = static_cast<char>(x % 32), x /= 32;
    to += 11;
  }
}

KERNEL(welford, "fp_latency|divider", 4096, nullptr) {
  const double* x = doubles(4096);
  double mean = 0, m2 = 0;
  for (int i = 0; i < 4096; ++i) {
    const double delta = x[i] - mean;
    mean += delta / (i + 1);
    m2 += delta * (x[i] - mean);
  }
  g_double = m2;
}
RELIEVED(welford, 4096, nullptr) {  // four parts, merged afterwards
  const double* x = doubles(4096);
  double mean[4] = {}, m2[4] = {};
  for (int i = 0; i < 1024; ++i)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const double delta = x[i + 1024 * k] - mean[k];
      mean[k] += delta / (i + 1);
      m2[k] += delta * (x[i + 1024 * k] - mean[k]);
    }
  g_double = m2[0] + m2[1] + m2[2] + m2[3];
}

KERNEL(twiddles, "fp_latency", 16384, nullptr) {
  auto* to = reinterpret_cast<double*>(memory(512 * 16));
  double re = 1, im = 0;
  for (int i = 0; i < 16384; ++i) {
    to[2 * (i & 511)] = re, to[2 * (i & 511) + 1] = im;
    const double next = re * 0.9999998 - im * 0.0006;
    im = re * 0.0006 + im * 0.9999998;
    re = next;
  }
}
RELIEVED(twiddles, 16384, nullptr) {
  auto* to = reinterpret_cast<double*>(memory(512 * 16));
  double re[4] = {1, 1, 1, 1}, im[4] = {};
  for (int i = 0; i < 16384; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      to[2 * (i & 511) + 2 * k] = re[k], to[2 * (i & 511) + 2 * k + 1] = im[k];
      const double next = re[k] * 0.9999998 - im[k] * 0.0006;
      im[k] = re[k] * 0.0006 + im[k] * 0.9999998;
      re[k] = next;
    }
}

// Each value is written and read again as the next one's neighbour.
KERNEL(gauss_seidel, "store_forwarding|fp_latency", 2046.0 * 10, nullptr) {
  double* x = doubles(2048);
  for (int round = 0; round < 10; ++round)
    for (int i = 1; i < 2047; ++i) x[i] = 0.5 * (x[i - 1] + x[i + 1]);
}
RELIEVED(gauss_seidel, 2046.0 * 10, nullptr) {  // the neighbour in a register
  double* x = doubles(2048);
  for (int round = 0; round < 10; ++round) {
    double left = x[0];
    for (int i = 1; i < 2047; ++i) x[i] = left = 0.5 * (left + x[i + 1]);
  }
}

namespace {
template <bool kDivides>
__attribute__((always_inline)) inline void option_prices() {
  const double *spot = doubles(4096), *strike = spot + 1024, *years = spot + 2048;
  double* to = const_cast<double*>(spot) + 3072;
  for (int i = 0; i < 1024; ++i) {
    const double root = kDivides ? std::sqrt(years[i]) : 0.5 * years[i];
    const double ratio = kDivides ? spot[i] / strike[i] : spot[i] * strike[i];
    const double d = kDivides ? (ratio - 1 + 0.05 * years[i]) / (0.2 * root)
                              : (ratio - 1 + 0.05 * years[i]) * (0.2 * root);
    const double k = kDivides ? 1 / (1 + 0.23 * d * d) : 1 - 0.23 * d * d;
    to[i] = spot[i] * (k * (0.32 + k * (-0.36 + k * 1.78)));
  }
}
}  // namespace
KERNEL(option_prices_divided, "divider", 1024, nullptr) { option_prices<true>(); }
RELIEVED(option_prices_divided, 1024, nullptr) { option_prices<false>(); }

namespace {
typedef double Four __attribute__((vector_size(32)));
}
KERNEL(nearest_centre, "fp_ports|width", 256.0 * 16, nullptr) {
  const double *points = doubles(1024), *centres = doubles(64);
  double sum = 0;
  for (int i = 0; i < 256; ++i) {
    const double a = points[4 * i], b = points[4 * i + 1], c = points[4 * i + 2];
    double best = 1e30, other = 1e30;
    for (int k = 0; k < 16; k += 2) {
      const double *p = centres + k, *q = centres + k + 1;
      const double x = a - p[0], y = b - p[16], z = c - p[32];
      const double u = a - q[0], v = b - q[16], w = c - q[32];
      best = std::min(x * x + y * y + z * z, best);
      other = std::min(u * u + v * v + w * w, other);
    }
    sum += std::min(best, other);
  }
  g_double = sum;
}
RELIEVED(nearest_centre, 256.0 * 16, nullptr) {  // four centres at a time
  const double *points = doubles(1024), *centres = doubles(64);
  double sum = 0;
  for (int i = 0; i < 256; ++i) {
    const double a = points[4 * i], b = points[4 * i + 1], c = points[4 * i + 2];
    Four best = {1e30, 1e30, 1e30, 1e30};
    for (int k = 0; k < 16; k += 4) {
      const Four x = a - (Four)_mm256_loadu_pd(centres + k);
      const Four y = b - (Four)_mm256_loadu_pd(centres + k + 16);
      const Four z = c - (Four)_mm256_loadu_pd(centres + k + 32);
      best = _mm256_min_pd(best, x * x + y * y + z * z);
    }
    sum += std::min(std::min(best[0], best[1]), std::min(best[2], best[3]));
  }
  g_double = sum;
}

// Four rows by twelve columns of a product in registers.
namespace {
template <int kRows>
__attribute__((always_inline)) inline void micro_kernel() {
  const double *a = doubles(512), *b = doubles(1536);
  Four c[4][3] = {};
  for (int k = 0; k < 128; ++k) {
    const Four b0 = _mm256_loadu_pd(b + 12 * k), b1 = _mm256_loadu_pd(b + 12 * k + 4),
               b2 = _mm256_loadu_pd(b + 12 * k + 8);
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      const Four x = _mm256_broadcast_sd(a + 4 * k + row);
      c[row][0] = _mm256_fmadd_pd(x, b0, c[row][0]);
      c[row][1] = _mm256_fmadd_pd(x, b1, c[row][1]);
      c[row][2] = _mm256_fmadd_pd(x, b2, c[row][2]);
    }
  }
  Four sum = {};
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row) sum += c[row][0] + c[row][1] + c[row][2];
  g_double = sum[0] + sum[1] + sum[2] + sum[3];
}
}  // namespace
KERNEL(gemm_micro, "fp_ports", 128.0 * 20, nullptr) {
  for (int i = 0; i < 20; ++i) micro_kernel<4>();
}
RELIEVED(gemm_micro, 128.0 * 20, nullptr) {
  for (int i = 0; i < 20; ++i) micro_kernel<3>();
}

namespace {
struct Box {
  float low[2], high[2];
};
std::vector<Box> g_boxes;
template <bool kRandom>
void prepare_boxes() {
  g_boxes.clear();
  for (int i = 0; i < 49152; ++i) {
    const float x = kRandom ? static_cast<float>(random_number() % 1000) / 500 - 0.5F : 0.5F;
    const float y = kRandom ? static_cast<float>(random_number() % 1000) / 500 - 0.5F : 0.5F;
    g_boxes.push_back({{x, y}, {x + 0.7F, y + 0.7F}});
  }
}
__attribute__((noinline)) void test_boxes() {
  int hits = 0;
  const float px = 0.75F, py = 0.75F;
  for (const Box& box : g_boxes) {
    if (px < box.low[0]) continue;
    if (py < box.low[1]) continue;
    if (px > box.high[0]) continue;
    if (py > box.high[1]) continue;
    ++hits;
    asm volatile("");
  }
  g_integer = static_cast<std::uint64_t>(hits);
}
}  // namespace
KERNEL(point_in_boxes, "mispredictions", 49152, prepare_boxes<true>) { test_boxes(); }
RELIEVED(point_in_boxes, 49152, prepare_boxes<false>) { test_boxes(); }

// ---- pictures
namespace {
void prepare_picture() {
  auto* at = reinterpret_cast<unsigned char*>(memory(24 * kKiB));
  for (std::size_t i = 0; i < 24 * kKiB; ++i)
    at[i] = static_cast<unsigned char>(random_number() >> 50);
}
}  // namespace
KERNEL(alpha_blend, "int_ports|width", 8192, prepare_picture) {
  const auto* a = reinterpret_cast<const unsigned char*>(memory(24 * kKiB));
  const auto *b = a + 8192, *alpha = a + 16384;
  auto* to = const_cast<unsigned char*>(a);
#pragma GCC unroll 4
  for (int i = 0; i < 8192; ++i) {
    unsigned x = a[i], y = b[i];
    const unsigned by = alpha[i];
    asm("imul %1, %0" : "+r"(x) : "r"(by));
    asm("imul %1, %0" : "+r"(y) : "r"(255 - by));
    unsigned whole = x + y + 128;
    asm("imul $257, %0, %0" : "+r"(whole));
    to[i] = static_cast<unsigned char>(whole >> 16);
  }
}
RELIEVED(alpha_blend, 8192, prepare_picture) {  // as many operations, none of them a product
  const auto* a = reinterpret_cast<const unsigned char*>(memory(24 * kKiB));
  const auto *b = a + 8192, *alpha = a + 16384;
  auto* to = const_cast<unsigned char*>(a);
#pragma GCC unroll 4
  for (int i = 0; i < 8192; ++i) {
    unsigned x = a[i], y = b[i];
    const unsigned by = alpha[i];
    asm("xor %1, %0" : "+r"(x) : "r"(by));
    asm("xor %1, %0" : "+r"(y) : "r"(255 - by));
    unsigned whole = x + y + 128;
    asm("xor $257, %0" : "+r"(whole));
    to[i] = static_cast<unsigned char>(whole >> 16);
  }
}

KERNEL(pixels_to_planes, "memory_ports|l1_bandwidth", 2048, prepare_picture) {
  const char* from = memory(24 * kKiB);
  auto* to = reinterpret_cast<unsigned char*>(memory(24 * kKiB)) + 8192;
#pragma GCC unroll 4
  for (int i = 0; i < 2048; ++i) {
    std::uint32_t pixel;
    std::memcpy(&pixel, from + 4 * i, 4);
    to[i] = static_cast<unsigned char>(pixel);
    to[i + 2048 + 64] = static_cast<unsigned char>(pixel >> 8);
    to[i + 4096 + 128] = static_cast<unsigned char>(pixel >> 16);
    to[i + 6144 + 192] = static_cast<unsigned char>(pixel >> 24);
    asm volatile("" : : : "memory");
  }
}
RELIEVED(pixels_to_planes, 2048, prepare_picture) {  // four pixels in a store
  const char* from = memory(24 * kKiB);
  char* to = memory(24 * kKiB) + 8192;
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int i = 0; i < 2048; i += 4) {
    const __m128i four =
        _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * i)), order);
    const int r = _mm_extract_epi32(four, 0), g = _mm_extract_epi32(four, 1);
    const int b = _mm_extract_epi32(four, 2), a = _mm_extract_epi32(four, 3);
    std::memcpy(to + i, &r, 4), std::memcpy(to + i + 2112, &g, 4);
    std::memcpy(to + i + 4224, &b, 4), std::memcpy(to + i + 6336, &a, 4);
  }
}

LOFT_KERNELS_MAIN
