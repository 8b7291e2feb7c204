// Hot loops of software that people run, second part: tables, streams, code, threads, the system.
#include <immintrin.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::kMiB;
using kernels::memory;
using kernels::random_number;

// ---- tables and trees
// Two halves are written, the whole is read at once: the store buffer cannot forward it.
KERNEL(key_from_halves, "store_forwarding", 4096, nullptr) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(doubles(4096));
  static std::uint32_t key[2];
  std::uint64_t hash = 0;
  for (int i = 0; i < 4096; ++i) {
    key[0] = from[i], key[1] = static_cast<std::uint32_t>(hash);
    asm volatile("" : : : "memory");
    std::uint64_t whole;
    std::memcpy(&whole, key, 8);
    asm volatile("" : "+r"(whole));
    hash = whole ^ (whole >> 29);
  }
  g_integer = hash;
}
RELIEVED(key_from_halves, 4096, nullptr) {  // put together in a register
  const auto* from = reinterpret_cast<const std::uint32_t*>(doubles(4096));
  static std::uint32_t key[2];
  std::uint64_t hash = 0;
  for (int i = 0; i < 4096; ++i) {
    std::uint64_t whole = from[i] | hash << 32;
    std::memcpy(key, &whole, 8);
    asm volatile("" : "+r"(whole) : : "memory");
    hash = whole ^ (whole >> 29);
  }
  g_integer = hash;
}

namespace {
struct Node {
  std::uint32_t keys[15];
  std::uint32_t first_child;
};
std::vector<Node> g_tree;
std::vector<std::uint32_t> g_asked;
template <bool kRandom>
void prepare_btree() {  // one root and its 16 children
  g_tree.resize(17);
  for (std::uint32_t k = 0; k < 15; ++k) g_tree[0].keys[k] = (k + 1) * 4096;
  g_tree[0].first_child = 1;
  for (std::uint32_t child = 0; child < 16; ++child)
    for (std::uint32_t k = 0; k < 15; ++k) g_tree[1 + child].keys[k] = child * 4096 + (k + 1) * 256;
  g_asked.resize(8192);
  for (std::size_t i = 0; i < g_asked.size(); ++i)
    g_asked[i] =
        kRandom ? static_cast<std::uint32_t>(random_number() >> 48) : 7 * 4096 + 7 * 256 + 3;
}
__attribute__((noinline)) void find_all() {
  std::uint64_t sum = 0;
  for (const std::uint32_t key : g_asked) {
    const Node* node = g_tree.data();
    for (int level = 0; level < 2; ++level) {
      std::uint32_t k = 0;
      while (k < 15 && node->keys[k] <= key) ++k;
      sum += k;
      if (level == 0) node = g_tree.data() + node->first_child + k;
    }
  }
  g_integer = sum;
}
}  // namespace
KERNEL(btree_find, "mispredictions", 8192, prepare_btree<true>) { find_all(); }
RELIEVED(btree_find, 8192, prepare_btree<false>) { find_all(); }

namespace {
std::vector<std::uint64_t> g_bits;
template <bool kRandom>
void prepare_bits() {
  g_bits.resize(65536);
  for (auto& word : g_bits)
    word = kRandom ? random_number() & random_number() & random_number() & random_number()
                   : 0x1001001000000ULL | 1;
}
__attribute__((noinline)) void list_bits() {
  auto* to = reinterpret_cast<std::uint32_t*>(memory(8 * kKiB));
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < 65536; ++i)
    for (std::uint64_t word = g_bits[i]; word != 0; word &= word - 1) {
      to[count & 1023] = i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(word));
      ++count;
    }
  g_integer = count;
}
}  // namespace
KERNEL(bit_positions, "mispredictions", 65536, prepare_bits<true>) { list_bits(); }
RELIEVED(bit_positions, 65536, prepare_bits<false>) { list_bits(); }

// Rows that hang on their bucket: the bucket, then two rows, each wherever it was allocated.
namespace {
struct Row {
  std::uint32_t next;
  std::uint32_t value;
};
template <std::uint32_t kRows>
void prepare_join() {
  auto* rows = reinterpret_cast<Row*>(memory(std::size_t{kRows} * sizeof(Row)));
  for (std::uint32_t i = 0; i < kRows; ++i)
    rows[i] = {static_cast<std::uint32_t>(random_number() >> 32) & (kRows - 1), i};
}
template <std::uint32_t kRows>
__attribute__((always_inline)) inline void probe() {
  const auto* rows = reinterpret_cast<const Row*>(memory(std::size_t{kRows} * sizeof(Row)));
  std::uint64_t key = g_integer | 1, sum = 0;
  for (int i = 0; i < 4096; ++i) {
    key = key * 6364136223846793005ULL + 1442695040888963407ULL;
    std::uint32_t at = static_cast<std::uint32_t>(key >> 40) & (kRows - 1);
    for (int depth = 0; depth < 3; ++depth) {
      sum += rows[at].value;
      at = rows[at].next;
    }
  }
  g_integer = key + sum;
}
}  // namespace
KERNEL(join_probe, "dram_latency|tlb|dram_bandwidth", 4096, prepare_join<(1U << 24)>) {
  probe<(1U << 24)>();
}
RELIEVED(join_probe, 4096, prepare_join<2048>) { probe<2048>(); }

// Parents up to the root, six steps; the next set to ask for depends on the root found.
namespace {
template <std::uint32_t kCount>
void prepare_sets() {
  auto* parent = reinterpret_cast<std::uint32_t*>(memory(std::size_t{kCount} * 4));
  for (std::uint32_t i = 0; i < kCount; ++i)  // a sixth of the elements on each level
    parent[i] = i < kCount / 6 ? i
                               : static_cast<std::uint32_t>(random_number() >> 32) % (kCount / 6) +
                                     (i / (kCount / 6) - 1) * (kCount / 6);
}
template <std::uint32_t kCount>
__attribute__((always_inline)) inline void find_roots() {
  const auto* parent = reinterpret_cast<const std::uint32_t*>(memory(std::size_t{kCount} * 4));
  std::uint32_t at = kCount / 6 * 5 + static_cast<std::uint32_t>(g_integer) % (kCount / 6);
  for (int i = 0; i < 1000; ++i) {
    while (parent[at] != at) at = parent[at];
    at = kCount / 6 * 5 + ((at + static_cast<std::uint32_t>(i)) * 2654435761U) % (kCount / 6);
  }
  g_integer = at * 2654435761U + 12345;  // other sets next time
}
}  // namespace
KERNEL(union_find, "dram_latency|tlb", 1000, prepare_sets<6U * 5000000>) {
  find_roots<6U * 5000000>();
}
RELIEVED(union_find, 1000, prepare_sets<6U * 512>) { find_roots<6U * 512>(); }

// The child's number lies in its parent.
namespace {
constexpr std::size_t kWords = 16 * kKiB;
template <std::uint32_t kNodes>
void prepare_trie() {
  auto* trie = reinterpret_cast<std::uint32_t*>(memory(std::size_t{kNodes} * 64));
  for (std::size_t i = 0; i < std::size_t{kNodes} * 16; ++i)
    trie[i] = static_cast<std::uint32_t>(random_number() >> 32) % kNodes;
  char* text = memory(kWords);
  for (std::size_t i = 0; i < kWords; ++i) text[i] = static_cast<char>(random_number() >> 51);
}
template <std::uint32_t kNodes>
__attribute__((always_inline)) inline void walk_trie() {
  const auto* trie = reinterpret_cast<const std::uint32_t*>(memory(std::size_t{kNodes} * 64));
  const auto* text = reinterpret_cast<const unsigned char*>(memory(kWords));
  std::uint32_t at =
      static_cast<std::uint32_t>((g_integer * 6364136223846793005ULL >> 33) % kNodes);
  for (std::size_t i = 0; i < kWords; ++i) at = trie[std::size_t{at} * 16 + (text[i] & 15)];
  g_integer = g_integer + at + 1;  // another word next time
}
}  // namespace
KERNEL(trie_walk_l3, "l3_latency", kWords, prepare_trie<90000>) { walk_trie<90000>(); }
RELIEVED(trie_walk_l3, kWords, prepare_trie<240>) { walk_trie<240>(); }

KERNEL(trie_walk_l2, "l2_latency", kWords, prepare_trie<7000>) { walk_trie<7000>(); }
RELIEVED(trie_walk_l2, kWords, prepare_trie<240>) { walk_trie<240>(); }

// Headers at the start of pages lie in one set of L1.
namespace {
template <std::size_t kStride>
void prepare_headers() {
  char* base = memory(40 * 4096 + 40 * 64);
  base += (4096 - reinterpret_cast<std::uintptr_t>(base) % 4096) % 4096;
  for (std::size_t i = 0; i < 32; ++i)
    *reinterpret_cast<void**>(base + i * kStride) = base + (i + 1) % 32 * kStride;
  g_integer = reinterpret_cast<std::uint64_t>(base);
}
__attribute__((noinline)) void walk_headers() {
  void** at = reinterpret_cast<void**>(g_integer);
  for (int i = 0; i < 32 * 500; ++i) at = static_cast<void**>(*at);
  g_integer = reinterpret_cast<std::uint64_t>(at);
}
}  // namespace
KERNEL(page_headers, "l2_latency", 16000, prepare_headers<4096>) { walk_headers(); }
RELIEVED(page_headers, 16000, prepare_headers<4096 + 64>) { walk_headers(); }

// One line in each page, in random order; huge pages take away the walks and nothing else.
namespace {
constexpr std::size_t kPages = 8192;
std::vector<std::uint32_t> g_probes;
char* g_area;
template <bool kHuge>
void prepare_probes() {
  const std::size_t bytes = kPages * 4160;
  char* base = static_cast<char*>(
      mmap(nullptr, bytes + 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  base += (2 * kMiB - reinterpret_cast<std::uintptr_t>(base) % (2 * kMiB)) % (2 * kMiB);
  madvise(base, bytes, kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(base, 0, bytes);
  g_area = base;
  g_probes.resize(kPages);
  for (std::size_t i = 0; i < kPages; ++i) g_probes[i] = static_cast<std::uint32_t>(i * 4160);
  for (std::size_t i = kPages; i > 1; --i)
    std::swap(g_probes[i - 1], g_probes[random_number() % i]);
}
__attribute__((noinline)) void probe_pages() {
  std::uint64_t sum = 0;
  for (const std::uint32_t probe : g_probes) sum += static_cast<std::uint64_t>(g_area[probe]);
  g_integer = sum;
}
}  // namespace
KERNEL(page_probes, "tlb", kPages, prepare_probes<false>) { probe_pages(); }
RELIEVED(page_probes, kPages, prepare_probes<true>) { probe_pages(); }

// ---- streams
namespace {
template <std::size_t kCount>
__attribute__((always_inline)) inline void parity(int rounds) {  // of three disks
  char* base = memory(4 * kCount);
  const auto at = [&](std::size_t disk, std::size_t i) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(base + disk * kCount + i));
  };
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kCount; i += 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(base + 3 * kCount + i),
                          _mm256_xor_si256(_mm256_xor_si256(at(0, i), at(1, i)), at(2, i)));
}
}  // namespace
KERNEL(parity_l2, "l2_bandwidth|l2_latency", 131072.0 * 4 / 32, [] { memory(4 * 131072); }) {
  parity<131072>(4);
}
RELIEVED(parity_l2, 131072.0 * 4 / 32, [] { memory(4 * 4096); }) { parity<4096>(128); }

KERNEL(parity_dram, "dram_bandwidth|dram_latency", 16.0 * 1048576 / 32,
       [] { memory(4 * 16 * kMiB); }) {
  parity<16 * kMiB>(1);
}
RELIEVED(parity_dram, 16.0 * 1048576 / 32, [] { memory(4 * 4096); }) { parity<4096>(4096); }

namespace {
struct Particle {
  double x, y, z, vx, vy, vz, mass, charge;
};
}  // namespace
KERNEL(particles_by_struct, "dram_bandwidth|dram_latency", 1048576, [] { doubles(8 * 1048576); }) {
  const auto* p = reinterpret_cast<const Particle*>(doubles(8 * 1048576));
  double s[4] = {};
  for (int i = 0; i < 1048576; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) s[k] += p[i + k].mass;
  g_double = s[0] + s[1] + s[2] + s[3];
}
RELIEVED(particles_by_struct, 1048576, [] { doubles(4096); }) {  // in L1
  const auto* p = reinterpret_cast<const Particle*>(doubles(4096));
  double s[4] = {};
  for (int round = 0; round < 2048; ++round)
    for (int i = 0; i < 512; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) s[k] += p[i + k].mass;
  g_double = s[0] + s[1] + s[2] + s[3];
}

namespace {
template <std::uint32_t kColumns>
void prepare_sparse() {
  auto* columns = reinterpret_cast<std::uint32_t*>(memory(4 * 32768));
  for (int i = 0; i < 32768; ++i)
    columns[i] = static_cast<std::uint32_t>(random_number() >> 32) % kColumns;
  doubles(32768), doubles(16777216);
}
__attribute__((noinline)) void multiply_sparse() {
  const auto* columns = reinterpret_cast<const std::uint32_t*>(memory(4 * 32768));
  static std::size_t part = 0;  // another vector each time
  part = (part + 1000003 * 8) & 8388607;
  const double *values = doubles(32768), *x = doubles(16777216) + part;
  double* y = doubles(4096);
  for (int row = 0; row < 4096; ++row) {
    double sum = 0;
    for (int i = row * 8; i < row * 8 + 8; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}
}  // namespace
KERNEL(sparse_product, "dram_latency|tlb|dram_bandwidth", 32768, prepare_sparse<8388608>) {
  multiply_sparse();
}
RELIEVED(sparse_product, 32768, prepare_sparse<1024>) { multiply_sparse(); }

KERNEL(memcpy_dram, "dram_bandwidth", 32.0 * 1024, [] { memory(64 * kMiB); }) {
  char* at = memory(64 * kMiB);
  std::memcpy(at + 32 * kMiB, at, 32 * kMiB);
}
RELIEVED(memcpy_dram, 32.0 * 1024, [] { memory(16 * kKiB); }) {
  char* at = memory(16 * kKiB);
  for (int i = 0; i < 4096; ++i) {
    std::memcpy(at + 8 * kKiB, at, 8 * kKiB);
    asm volatile("" : : : "memory");
  }
}

KERNEL(memset_dram, "dram_bandwidth", 64.0 * 1024, [] { memory(64 * kMiB); }) {
  std::memset(memory(64 * kMiB), 3, 64 * kMiB);
}
RELIEVED(memset_dram, 64.0 * 1024, [] { memory(8 * kKiB); }) {
  for (int i = 0; i < 8192; ++i) {
    std::memset(memory(8 * kKiB), i & 7, 8 * kKiB);
    asm volatile("" : : : "memory");
  }
}

// ---- code
// Generated code: one jump in each line of the cache.
KERNEL(jumps_in_code, "front_end", 6000, nullptr) {
  std::uint64_t x = g_integer;
  __asm__ volatile(".rept 6000\n add $1, %0\n jmp 1f\n .balign 64\n 1:\n .endr" : "+r"(x));
  g_integer = x;
}
RELIEVED(jumps_in_code, 6000, nullptr) {
  std::uint64_t x = g_integer;
  for (int i = 0; i < 100; ++i)
    __asm__ volatile(".rept 60\n add $1, %0\n jmp 1f\n .balign 64\n 1:\n .endr" : "+r"(x));
  g_integer = x;
}

// ---- threads
namespace {
struct alignas(4096) Ring {
  std::atomic<std::uint64_t> written;
  char space[4088];
  std::atomic<std::uint64_t> read;
};
Ring g_ring;
std::atomic<std::uint64_t>* g_other_index;
template <bool kSameLine>
void start_consumer() {
  g_other_index = kSameLine ? &g_ring.written + 1 : &g_ring.read;
  std::thread([] {
    for (;;)
      g_other_index->store(g_other_index->load(std::memory_order_relaxed) + 1,
                           std::memory_order_release);
  }).detach();
}
}  // namespace
KERNEL(ring_indices, "sharing", 50000, start_consumer<true>) {
  for (int i = 0; i < 50000; ++i)
    g_ring.written.store(g_ring.written.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
}
RELIEVED(ring_indices, 50000, start_consumer<false>) {
  for (int i = 0; i < 50000; ++i)
    g_ring.written.store(g_ring.written.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
}

KERNEL(free_list_cas, "atomics", 10000, [] { kernels::random_cycle(64, 64); }) {
  static std::atomic<void**> head{nullptr};
  head = reinterpret_cast<void**>(memory(4096));
  for (int i = 0; i < 10000; ++i) {
    void** top = head.load(std::memory_order_acquire);
    while (!head.compare_exchange_weak(top, static_cast<void**>(*top))) {
    }
  }
}
RELIEVED(free_list_cas, 10000, [] { kernels::random_cycle(64, 64); }) {
  static void** volatile head;
  head = reinterpret_cast<void**>(memory(4096));
  for (int i = 0; i < 10000; ++i) {
    void** top = head;
    head = static_cast<void**>(*top);
  }
}

KERNEL(publish_seq_cst, "atomics", 20000, nullptr) {
  static std::atomic<std::uint64_t> version{0};
  static std::uint64_t data;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const_cast<volatile std::uint64_t&>(data) = i;
    version.store(i);
  }
}
RELIEVED(publish_seq_cst, 20000, nullptr) {
  static std::atomic<std::uint64_t> version{0};
  static std::uint64_t data;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const_cast<volatile std::uint64_t&>(data) = i;
    version.store(i, std::memory_order_release);
  }
}

// ---- the system
KERNEL(stat_files, "system", 400, nullptr) {
  struct stat about;
  for (int i = 0; i < 400; ++i)
    g_integer = g_integer + static_cast<std::uint64_t>(stat("/etc/passwd", &about));
}
RELIEVED(stat_files, 400, nullptr) {
  struct stat about;
  const int found = stat("/etc/passwd", &about);
  for (int i = 0; i < 400; ++i) g_integer = g_integer + static_cast<std::uint64_t>(found);
}

KERNEL(trimmed_arena, "system", 256, nullptr) {
  char* at = memory(kMiB);
  for (int i = 0; i < 256; ++i) at[i * 4096] = 1;
  madvise(at, kMiB, MADV_DONTNEED);
}
RELIEVED(trimmed_arena, 256, nullptr) {
  char* at = memory(kMiB);
  for (int i = 0; i < 256; ++i) at[i * 4096] = 1;
  asm volatile("" : : : "memory");
}

namespace {
__attribute__((noinline)) void brief_task() {
  for (int i = 0; i < 2000; ++i) asm volatile("" : : : "memory");
}
}  // namespace
KERNEL(thread_per_task, "system|waiting", 50, nullptr) {
  for (int i = 0; i < 50; ++i) std::thread(brief_task).join();
}
RELIEVED(thread_per_task, 50, nullptr) {
  for (int i = 0; i < 50; ++i) brief_task();
}

// Answers come when they come; meanwhile nothing is to be done.
namespace {
// Never destroyed: a thread waits for them when the program ends.
std::mutex& g_mutex = *new std::mutex;
std::condition_variable &g_asks = *new std::condition_variable,
                        &g_answers = *new std::condition_variable;
int g_questions, g_replies;
template <int kMicroseconds>
void start_server() {
  std::thread([] {
    for (;;) {
      std::unique_lock lock(g_mutex);
      g_asks.wait(lock, [] { return g_questions > g_replies; });
      if (kMicroseconds > 0) {
        const timespec time{0, kMicroseconds * 1000};
        nanosleep(&time, nullptr);
      }
      g_replies = g_questions;
      g_answers.notify_one();
    }
  }).detach();
}
__attribute__((noinline)) void ask_server() {
  std::unique_lock lock(g_mutex);
  ++g_questions;
  g_asks.notify_one();
  g_answers.wait(lock, [] { return g_replies == g_questions; });
}
}  // namespace
KERNEL(slow_server, "waiting", 10, start_server<2000>) {
  for (int i = 0; i < 10; ++i) ask_server();
}
RELIEVED(slow_server, 10, start_server<0>) {
  for (int i = 0; i < 10; ++i) ask_server();
}
