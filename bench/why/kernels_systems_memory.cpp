// Inner loops of systems, fifth part: where data lies.
#include <immintrin.h>

#include <vector>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_integer;
using kernels::kKiB;
using kernels::kMiB;
using kernels::memory;
using kernels::random_number;

// ---- far away
// Four bits of a Bloom filter for each key.
namespace {
template <std::size_t kBytes>
__attribute__((always_inline)) inline void ask_bloom() {
  const auto* filter = reinterpret_cast<const std::uint64_t*>(memory(kBytes));
  std::uint64_t key = g_integer | 1, found = 0;
  for (int i = 0; i < 4096; ++i) {
    key += 0x9e3779b97f4a7c15ULL;
    std::uint64_t hash = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ULL, all = ~0ULL;
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      all &= filter[hash >> 20 & (kBytes / 8 - 1)] >> (hash & 63);
      hash = hash * 0x94d049bb133111ebULL + 1;
    }
    found += all & 1;
  }
  g_integer = key + found;
}
}  // namespace
KERNEL(bloom_filter, "dram_latency|tlb|dram_bandwidth", 4096, [] { memory(128 * kMiB); }) {
  ask_bloom<128 * kMiB>();
}
RELIEVED(bloom_filter, 4096, [] { memory(16 * kKiB); }) { ask_bloom<16 * kKiB>(); }

// A walk along random edges: where the edges of a node start, then one of them.
namespace {
template <std::uint32_t kNodes>
void prepare_graph() {
  auto* starts = reinterpret_cast<std::uint32_t*>(memory(std::size_t{kNodes} * 4));
  auto* edges = reinterpret_cast<std::uint32_t*>(memory(std::size_t{kNodes} * 32));
  for (std::uint32_t i = 0; i < kNodes; ++i) starts[i] = i * 8;
  for (std::uint32_t i = 0; i < kNodes * 8; ++i)
    edges[i] = static_cast<std::uint32_t>(random_number() >> 32) % kNodes;
}
template <std::uint32_t kNodes>
__attribute__((always_inline)) inline void walk_graph() {
  const auto* starts = reinterpret_cast<const std::uint32_t*>(memory(std::size_t{kNodes} * 4));
  const auto* edges = reinterpret_cast<const std::uint32_t*>(memory(std::size_t{kNodes} * 32));
  std::uint64_t state = g_integer | 1;
  auto node = static_cast<std::uint32_t>(state % kNodes);
  for (int i = 0; i < 4096; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    node = edges[starts[node] + (state >> 61)];
  }
  g_integer = state + node;
}
}  // namespace
KERNEL(graph_walk, "dram_latency|tlb", 4096, prepare_graph<4000000>) { walk_graph<4000000>(); }
RELIEVED(graph_walk, 4096, prepare_graph<400>) { walk_graph<400>(); }

// The inverse of the Burrows-Wheeler transform.
namespace {
template <std::uint32_t kCount>
void prepare_bwt() {
  auto* next = reinterpret_cast<std::uint32_t*>(memory(std::size_t{kCount} * 4));
  std::vector<std::uint32_t> order(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) order[i] = i;
  for (std::uint32_t i = kCount; i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::uint32_t>(random_number() >> 33) % i]);
  for (std::uint32_t i = 0; i < kCount; ++i)
    next[order[i]] = order[(i + 1) % kCount] << 8 | static_cast<unsigned char>(i);
}
template <std::uint32_t kCount>
__attribute__((always_inline)) inline void invert_bwt() {
  const auto* next = reinterpret_cast<const std::uint32_t*>(memory(std::size_t{kCount} * 4));
  char* to = memory(4 * kKiB);
  auto at = static_cast<std::uint32_t>(g_integer % kCount);
  for (int i = 0; i < 16384; ++i) {
    const std::uint32_t entry = next[at];
    to[i & 4095] = static_cast<char>(entry);
    at = entry >> 8;
  }
  g_integer = at;
}
}  // namespace
KERNEL(bwt_inverse_l3, "l3_latency|tlb", 16384, prepare_bwt<900000>) { invert_bwt<900000>(); }
RELIEVED(bwt_inverse_l3, 16384, prepare_bwt<5000>) { invert_bwt<5000>(); }

KERNEL(bwt_inverse_l2, "l2_latency", 16384, prepare_bwt<60000>) { invert_bwt<60000>(); }
RELIEVED(bwt_inverse_l2, 16384, prepare_bwt<5000>) { invert_bwt<5000>(); }

// Colours by palette, one after the other; none needs the last.
namespace {
template <std::uint32_t kColours>
void prepare_palette() {
  memory(std::size_t{kColours} * 16);
  auto* pixels = reinterpret_cast<std::uint16_t*>(memory(12 * kKiB));
  for (int i = 0; i < 6144; ++i)
    pixels[i] = static_cast<std::uint16_t>((random_number() >> 33) % kColours);
}
template <std::uint32_t kColours>
__attribute__((always_inline)) inline void look_up_colours() {
  const char* palette = memory(std::size_t{kColours} * 16);
  const auto* pixels = reinterpret_cast<const std::uint16_t*>(memory(12 * kKiB));
  static std::uint32_t turn = 0;
  turn += 7919;
  std::uint64_t a = 0, b = 0;
  for (int i = 0; i < 6144; i += 2) {
    a += *reinterpret_cast<const std::uint64_t*>(palette + (pixels[i] + turn) % kColours * 16);
    b += *reinterpret_cast<const std::uint64_t*>(palette + (pixels[i + 1] + turn) % kColours * 16);
  }
  g_integer = a + b;
}
}  // namespace
KERNEL(palette_l2, "l2_latency|l2_bandwidth", 6144, prepare_palette<32768>) {
  look_up_colours<32768>();
}
RELIEVED(palette_l2, 6144, prepare_palette<1024>) { look_up_colours<1024>(); }

// Columns of a square whose rows are a power of two long lie in two sets of L1.
namespace {
template <std::size_t kStride>
__attribute__((always_inline)) inline void transpose_square() {
  const double* from = doubles(256 * 264);
  double* to = doubles(256 * 8);
  for (std::size_t column = 0; column < 256; ++column)
    for (std::size_t row = 0; row < 256; row += 4) {
      double* at = to + (column & 7) * 256 + row;
      at[0] = from[row * kStride + column], at[1] = from[(row + 1) * kStride + column];
      at[2] = from[(row + 2) * kStride + column], at[3] = from[(row + 3) * kStride + column];
    }
}
}  // namespace
KERNEL(power_of_two_rows, "l2_latency|l2_bandwidth", 65536, [] { doubles(256 * 264); }) {
  transpose_square<256>();
}
RELIEVED(power_of_two_rows, 65536, [] { doubles(256 * 264); }) { transpose_square<264>(); }

// A field of each record; the records fill a page and a line each.
namespace {
constexpr std::size_t kRecords = 12000;
char* g_records;
template <bool kHuge>
void prepare_records() {
  const std::size_t bytes = kRecords * 4160;
  char* base = static_cast<char*>(
      mmap(nullptr, bytes + 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  base += (2 * kMiB - reinterpret_cast<std::uintptr_t>(base) % (2 * kMiB)) % (2 * kMiB);
  madvise(base, bytes, kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(base, 0, bytes);
  g_records = base;
}
__attribute__((noinline)) void update_records() {
  for (std::size_t i = 0; i < kRecords; ++i) {
    auto* field = reinterpret_cast<std::uint64_t*>(g_records + i * 4160);
    *field = *field + i;
  }
}
}  // namespace
KERNEL(page_records, "tlb", kRecords, prepare_records<false>) { update_records(); }
RELIEVED(page_records, kRecords, prepare_records<true>) { update_records(); }

// Slots of a hash table that fits into L3, the next one known when the last was read.
namespace {
std::uint64_t* g_slots;
constexpr std::size_t kSlots = 10000;  // one in a page each
template <bool kHuge>
void prepare_slots() {
  const std::size_t bytes = kSlots * 4160;
  char* base = static_cast<char*>(
      mmap(nullptr, bytes + 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  base += (2 * kMiB - reinterpret_cast<std::uintptr_t>(base) % (2 * kMiB)) % (2 * kMiB);
  madvise(base, bytes, kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(base, 0, bytes);
  g_slots = reinterpret_cast<std::uint64_t*>(base);
  std::vector<std::uint64_t> order(kSlots);
  for (std::size_t i = 0; i < kSlots; ++i) order[i] = i * (4160 / 8);
  for (std::size_t i = kSlots; i > 1; --i) std::swap(order[i - 1], order[random_number() % i]);
  for (std::size_t i = 0; i < kSlots; ++i) g_slots[order[i]] = order[(i + 1) % kSlots];
}
__attribute__((noinline)) void follow_slots() {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < kSlots; ++i) at = g_slots[at];
  g_integer = at;
}
}  // namespace
KERNEL(far_slots, "tlb", kSlots, prepare_slots<false>) { follow_slots(); }
RELIEVED(far_slots, kSlots, prepare_slots<true>) { follow_slots(); }

// ---- streams
// A column of a table is filtered.
namespace {
template <std::size_t kBytes>
__attribute__((always_inline)) inline void filter_column(int rounds) {
  const auto* column = reinterpret_cast<const __m256i*>(memory(kBytes));
  __m256i counts[4] = {};
  const __m256i limit = _mm256_set1_epi32(5);
  for (int round = 0; round < rounds; ++round)
    for (const __m256i *at = column, *end = column + kBytes / 32; at < end; at += 8)
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k)
        counts[k & 3] =
            _mm256_sub_epi32(counts[k & 3], _mm256_cmpgt_epi32(_mm256_loadu_si256(at + k), limit));
  g_integer = static_cast<std::uint64_t>(
      _mm256_extract_epi32(_mm256_add_epi32(_mm256_add_epi32(counts[0], counts[1]),
                                            _mm256_add_epi32(counts[2], counts[3])),
                           0));
}
}  // namespace
KERNEL(filter_dram, "dram_bandwidth|dram_latency", 128.0 * 1024 * 32, [] { memory(128 * kMiB); }) {
  filter_column<128 * kMiB>(1);
}
RELIEVED(filter_dram, 128.0 * 1024 * 32, [] { memory(16 * kKiB); }) {
  filter_column<16 * kKiB>(8192);
}

KERNEL(filter_l3, "l3_bandwidth|l3_latency", 5.0 * 1024 * 32, [] { memory(5 * kMiB); }) {
  filter_column<5 * kMiB>(1);
}
RELIEVED(filter_l3, 5.0 * 1024 * 32, [] { memory(16 * kKiB); }) { filter_column<16 * kKiB>(320); }

KERNEL(memcpy_l2, "l2_bandwidth|l2_latency", 320.0 * 8, [] { memory(640 * kKiB); }) {
  char* at = memory(640 * kKiB);
  for (int i = 0; i < 8; ++i) {
    std::memcpy(at + 320 * kKiB, at, 320 * kKiB);
    asm volatile("" : : : "memory");
  }
}
RELIEVED(memcpy_l2, 320.0 * 8, [] { memory(16 * kKiB); }) {
  char* at = memory(16 * kKiB);
  for (int i = 0; i < 320; ++i) {
    std::memcpy(at + 8 * kKiB, at, 8 * kKiB);
    asm volatile("" : : : "memory");
  }
}

// A picture is cleared past the caches.
KERNEL(clear_past_caches, "dram_bandwidth", 2.0 * 1048576, [] { memory(64 * kMiB); }) {
  auto* at = reinterpret_cast<__m256i*>((reinterpret_cast<std::uintptr_t>(memory(64 * kMiB)) + 31) /
                                        32 * 32);
  const __m256i grey = _mm256_set1_epi8(static_cast<char>(g_integer));
  for (int i = 0; i < 2 * 1048576; ++i) _mm256_stream_si256(at + i, grey);
  _mm_sfence();
}
RELIEVED(clear_past_caches, 2.0 * 1048576, [] { memory(16 * kKiB); }) {
  auto* at = reinterpret_cast<__m256i*>(memory(16 * kKiB));
  const __m256i grey = _mm256_set1_epi8(static_cast<char>(g_integer));
  for (int round = 0; round < 4096; ++round)
    for (int i = 0; i < 512; ++i) {
      _mm256_store_si256(at + i, grey);
      asm volatile("" : : : "memory");
    }
}

// One pass of a radix sort: keys go to 256 places, whose distance is a power of two, so that their
// lines lie in few sets of L1 and L2; or the places are some lines apart.
namespace {
constexpr std::uint32_t kKeys = 4194304, kPlaces = 256;
void prepare_keys() {
  auto* keys = reinterpret_cast<std::uint64_t*>(memory(kKeys * 8));
  for (std::size_t i = 0; i < kKeys; ++i) keys[i] = random_number();
  memory(kKeys * 8 + 65536);
}
template <std::uint32_t kApart>
__attribute__((always_inline)) inline void scatter_keys() {
  const auto* keys = reinterpret_cast<const std::uint64_t*>(memory(kKeys * 8));
  auto* to = reinterpret_cast<std::uint64_t*>(memory(kKeys * 8 + 65536));
  constexpr std::uint32_t kPlace = kKeys / kPlaces;
  std::uint32_t ends[kPlaces];
  for (std::uint32_t i = 0; i < kPlaces; ++i) ends[i] = i * kPlace + i * kApart % kPlace;
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    const std::uint64_t key = keys[i];
    std::uint32_t& end = ends[key & (kPlaces - 1)];
    to[end] = key;
    end = (end & ~(kPlace - 1)) | ((end + 1) & (kPlace - 1));
  }
}
}  // namespace
KERNEL(radix_scatter, "l3_latency|l3_bandwidth|dram_latency|dram_bandwidth", kKeys, prepare_keys) {
  scatter_keys<0>();
}
RELIEVED(radix_scatter, kKeys, prepare_keys) { scatter_keys<8>(); }
