// Inner loops of systems, third part: each step needs the last, in registers or through memory.
#include <vector>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;
using kernels::random_number;

namespace {
std::uint64_t rotate(std::uint64_t x, int by) { return x << by | x >> (64 - by); }
}  // namespace

// ---- chains of integers
namespace {
__attribute__((always_inline)) inline void sip_round(std::uint64_t* v) {
  v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
  v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
  v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
  v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}
}  // namespace
KERNEL(siphash, "int_latency", 4096, nullptr) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  std::uint64_t v[4] = {g_integer, 1, 2, 3};
  for (int i = 0; i < 4096; ++i) {
    v[3] ^= from[i];
    sip_round(v), sip_round(v);
    v[0] ^= from[i];
  }
  g_integer = v[0] ^ v[1] ^ v[2] ^ v[3];
}
RELIEVED(siphash, 4096, nullptr) {  // two messages
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  std::uint64_t v[4] = {g_integer, 1, 2, 3}, w[4] = {5, g_integer, 7, 8};
  for (int i = 0; i < 2048; ++i) {
    v[3] ^= from[i], w[3] ^= from[i + 2048];
    sip_round(v), sip_round(w), sip_round(v), sip_round(w);
    v[0] ^= from[i], w[0] ^= from[i + 2048];
  }
  g_integer = v[0] ^ v[1] ^ v[2] ^ v[3] ^ w[0] ^ w[1] ^ w[2] ^ w[3];
}

namespace {
__attribute__((always_inline)) inline std::uint64_t xx_round(std::uint64_t sum, std::uint64_t in) {
  return rotate(sum + in * 0xc2b2ae3d27d4eb4fULL, 31) * 0x9e3779b185ebca87ULL;
}
}  // namespace
KERNEL(xxhash_one_lane, "int_latency", 4096, nullptr) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  std::uint64_t sum = g_integer;
  for (int i = 0; i < 4096; ++i) sum = xx_round(sum, from[i]);
  g_integer = sum;
}
RELIEVED(xxhash_one_lane, 4096, nullptr) {  // four lanes, as the hash has them
  const auto* from = reinterpret_cast<const std::uint64_t*>(doubles(4096));
  std::uint64_t a = g_integer, b = 1, c = 2, d = 3;
  for (int i = 0; i < 4096; i += 4) {
    a = xx_round(a, from[i]), b = xx_round(b, from[i + 1]);
    c = xx_round(c, from[i + 2]), d = xx_round(d, from[i + 3]);
  }
  g_integer = a + b + c + d;
}

// Products modulo a large prime, as in signatures.
namespace {
__attribute__((always_inline)) inline std::uint64_t montgomery(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kPrime = 0xffffffffffffffc5ULL, kInverse = 0xcbeea4e1a08ad8f3ULL;
  const auto whole = static_cast<unsigned __int128>(a) * b;
  const std::uint64_t factor = static_cast<std::uint64_t>(whole) * kInverse;
  const auto reduced = static_cast<unsigned __int128>(factor) * kPrime;
  return static_cast<std::uint64_t>(whole >> 64) + static_cast<std::uint64_t>(reduced >> 64) + 1;
}
}  // namespace
KERNEL(montgomery_power, "int_latency", 8192, nullptr) {
  std::uint64_t a = g_integer | 3;
  for (int i = 0; i < 8192; ++i) a = montgomery(a, a);
  g_integer = a;
}
RELIEVED(montgomery_power, 8192, nullptr) {  // three numbers
  std::uint64_t a = g_integer | 3, b = a + 5, c = a * 7;
  for (int i = 0; i < 8192 / 3; ++i) {
    a = montgomery(a, a);
    b = montgomery(b, b);
    c = montgomery(c, c);
  }
  g_integer = a + b + c;
}

// Exponential Golomb codes: zeros tell how many bits follow.
namespace {
void prepare_golomb() {
  auto* at = reinterpret_cast<std::uint64_t*>(memory(16 * kKiB));
  for (int i = 0; i < 2048; ++i) at[i] = random_number();
}
__attribute__((always_inline)) inline unsigned golomb(const char* from, std::uint64_t& bit) {
  std::uint64_t word;
  std::memcpy(&word, from + (bit >> 3), 8);
  word = __builtin_bswap64(word) << (bit & 7);
  const int zeros = __builtin_clzll(word | 1ULL << 50);
  bit += 2 * static_cast<unsigned>(zeros) + 1;
  return static_cast<unsigned>(word >> (63 - 2 * zeros));
}
}  // namespace
KERNEL(golomb_decode, "int_latency|l1_latency", 8192, prepare_golomb) {
  const char* from = memory(16 * kKiB);
  std::uint64_t bit = 0, sum = 0;
  for (int i = 0; i < 8192; ++i) sum += golomb(from, bit);
  g_integer = sum + bit;
}
RELIEVED(golomb_decode, 8192, prepare_golomb) {  // four slices of the picture
  const char* from = memory(16 * kKiB);
  std::uint64_t a = 0, b = 0, c = 0, d = 0, sum = 0;
  for (int i = 0; i < 2048; ++i) {
    sum += golomb(from, a) + golomb(from + 4000, b);
    sum += golomb(from + 8000, c) + golomb(from + 12000, d);
  }
  g_integer = sum + a + b + c + d;
}

// A Feistel cipher in CBC mode: each block needs the last.
namespace {
std::uint32_t g_boxes[4][256];
void prepare_boxes() {
  for (auto& box : g_boxes)
    for (auto& word : box) word = static_cast<std::uint32_t>(random_number() >> 20);
}
__attribute__((always_inline)) inline std::uint32_t feistel(std::uint32_t x) {
  return ((g_boxes[0][x >> 24] + g_boxes[1][x >> 16 & 255]) ^ g_boxes[2][x >> 8 & 255]) +
         g_boxes[3][x & 255];
}
}  // namespace
KERNEL(feistel_cbc, "l1_latency|int_latency", 16384, prepare_boxes) {
  std::uint32_t left = static_cast<std::uint32_t>(g_integer), right = 7;
  for (int i = 0; i < 8192; ++i) {
    right ^= feistel(left);
    left ^= feistel(right);
  }
  g_integer = left + right;
}
RELIEVED(feistel_cbc, 16384, prepare_boxes) {  // three streams
  std::uint32_t left[3] = {static_cast<std::uint32_t>(g_integer), 1, 2}, right[3] = {7, 8, 9};
  for (int i = 0; i < 8192 / 3; ++i) {
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) right[k] ^= feistel(left[k]);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) left[k] ^= feistel(right[k]);
  }
  g_integer = left[0] + left[1] + left[2] + right[0] + right[1] + right[2];
}

// ---- chains of floating point
KERNEL(kahan_sum, "fp_latency", 4096, nullptr) {
  const double* x = doubles(4096);
  double sum = 0, lost = 0;
  for (int i = 0; i < 4096; ++i) {
    const double y = x[i] - lost;
    const double next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  g_double = sum;
}
RELIEVED(kahan_sum, 4096, nullptr) {  // four sums
  const double* x = doubles(4096);
  double sum[4] = {}, lost[4] = {};
  for (int i = 0; i < 4096; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const double y = x[i + k] - lost[k];
      const double next = sum[k] + y;
      lost[k] = (next - sum[k]) - y;
      sum[k] = next;
    }
  g_double = sum[0] + sum[1] + sum[2] + sum[3];
}

// Lorenz' equations, a small step at a time.
namespace {
__attribute__((always_inline)) inline void lorenz(double* s) {
  const double x = s[0], y = s[1], z = s[2], step = 0.001;
  const auto slope = [](double u, double v, double w, double* to) {
    to[0] = 10 * (v - u), to[1] = u * (28 - w) - v, to[2] = u * v - 2.6667 * w;
  };
  double a[3], b[3];
  slope(x, y, z, a);
  slope(x + step * a[0], y + step * a[1], z + step * a[2], b);
  s[0] = x + 0.5 * step * (a[0] + b[0]);
  s[1] = y + 0.5 * step * (a[1] + b[1]);
  s[2] = z + 0.5 * step * (a[2] + b[2]);
}
}  // namespace
KERNEL(lorenz_steps, "fp_latency", 4000, nullptr) {
  double s[3] = {1, 1.1, 1.2};
  for (int i = 0; i < 4000; ++i) lorenz(s);
  g_double = s[0] + s[1] + s[2];
}
RELIEVED(lorenz_steps, 4000, nullptr) {  // two trajectories
  double s[3] = {1, 1.1, 1.2}, t[3] = {2, 2.1, 2.2};
  for (int i = 0; i < 2000; ++i) lorenz(s), lorenz(t);
  g_double = s[0] + s[1] + s[2] + t[0] + t[1] + t[2];
}

// A tile of a product of matrices. Sums need each other four cycles later.
namespace {
template <int kRows, int kColumns>
__attribute__((always_inline)) inline void product_tile() {
  const double *a = doubles(1024), *b = doubles(1536);
  double sums[kRows][kColumns] = {};
  for (int k = 0; k < 256; ++k)
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 4
      for (int column = 0; column < kColumns; ++column)
        sums[row][column] += a[4 * k + row] * b[4 * k + column];
  double sum = 0;
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 4
    for (int column = 0; column < kColumns; ++column) sum += sums[row][column];
  g_double = sum;
}
}  // namespace
KERNEL(tile_two_by_one, "fp_latency", 256.0 * 2 * 16, nullptr) {
  for (int i = 0; i < 16; ++i) product_tile<2, 1>();
}
RELIEVED(tile_two_by_one, 256.0 * 8 * 16, nullptr) {
  for (int i = 0; i < 16; ++i) product_tile<4, 2>();
}

// ---- values that go through memory
// Edges of a graph add to their target; edges to a hub lie side by side, or apart.
namespace {
std::vector<std::uint32_t> g_targets;
template <bool kSorted>
void prepare_edges() {
  g_targets.clear();
  for (std::uint32_t i = 0; i < 8192; ++i) g_targets.push_back(kSorted ? i / 128 : i % 64);
}
__attribute__((noinline)) void push_ranks() {
  double *rank = doubles(64), *weight = doubles(1024);
  std::size_t i = 0;
  for (const std::uint32_t target : g_targets) rank[target] += weight[i++ & 1023];
}
}  // namespace
KERNEL(push_to_hubs, "store_forwarding|fp_latency", 8192, prepare_edges<true>) { push_ranks(); }
RELIEVED(push_to_hubs, 8192, prepare_edges<false>) { push_ranks(); }

// A virtual machine for formulas, whose registers are an array.
namespace {
struct Operation {
  std::uint8_t to, a, b;
};
std::vector<Operation> g_operations;
template <bool kSerial>
void prepare_operations() {
  g_operations.clear();
  for (int i = 0; i < 4096; ++i) {
    const auto at = static_cast<std::uint8_t>(i % 16),
               last = static_cast<std::uint8_t>((i + 15) % 16);
    g_operations.push_back({at, kSerial ? last : at, 20});
  }
}
__attribute__((noinline)) void run_operations() {
  double* registers = doubles(64);
  for (const Operation& operation : g_operations) {
    registers[operation.to] = 0.5 * registers[operation.a] + registers[operation.b];
    asm volatile("" : : : "memory");
  }
}
}  // namespace
KERNEL(register_machine, "store_forwarding|fp_latency", 4096, prepare_operations<true>) {
  run_operations();
}
RELIEVED(register_machine, 4096, prepare_operations<false>) { run_operations(); }

// A header is written field by field and summed up word by word.
namespace {
template <class Field>
__attribute__((always_inline)) inline void send_headers() {
  char* header = memory(4096);
  std::uint64_t sum = 0;
  for (int i = 0; i < 2048; ++i) {
    for (std::size_t at = 0; at < 16; at += sizeof(Field)) {
      const Field field = static_cast<Field>(sum + at);
      std::memcpy(header + at, &field, sizeof field);
    }
    asm volatile("" : : : "memory");
    std::uint64_t words[2];
    std::memcpy(words, header, 16);
    asm volatile("" : "+r"(words[0]), "+r"(words[1]));
    sum += words[0] + words[1];
  }
  g_integer = sum;
}
}  // namespace
KERNEL(header_fields, "store_forwarding", 2048, nullptr) { send_headers<std::uint16_t>(); }
RELIEVED(header_fields, 2048, nullptr) { send_headers<std::uint64_t>(); }
