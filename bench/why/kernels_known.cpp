// The kernels that the timing model may be tuned with. Those that it must not are in
// kernels_held_out.cpp.
#include <immintrin.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "kernel.hpp"

namespace {

using kernels::g_double;
using kernels::g_integer;
using kernels::kKiB;
using kernels::kMiB;
using kernels::memory;
using kernels::random_cycle;
using kernels::random_number;

void* volatile g_pointer;

// ---- loads of a working set, eight accumulators, no dependence worth a cycle

inline void add_up(const char* from, std::size_t bytes, std::size_t rounds) {
  __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const char *at = from, *end = from + bytes; at != end; at += 256) {
      const double* p = reinterpret_cast<const double*>(at);
      s0 = _mm256_or_pd(s0, _mm256_load_pd(p));
      s1 = _mm256_or_pd(s1, _mm256_load_pd(p + 4));
      s2 = _mm256_or_pd(s2, _mm256_load_pd(p + 8));
      s3 = _mm256_or_pd(s3, _mm256_load_pd(p + 12));
      s4 = _mm256_or_pd(s4, _mm256_load_pd(p + 16));
      s5 = _mm256_or_pd(s5, _mm256_load_pd(p + 20));
      s6 = _mm256_or_pd(s6, _mm256_load_pd(p + 24));
      s7 = _mm256_or_pd(s7, _mm256_load_pd(p + 28));
    }
  }
  s0 = _mm256_or_pd(_mm256_or_pd(_mm256_or_pd(s0, s1), _mm256_or_pd(s2, s3)),
                    _mm256_or_pd(_mm256_or_pd(s4, s5), _mm256_or_pd(s6, s7)));
  g_double = _mm256_cvtsd_f64(s0);
}

inline void** chase(void** from, std::size_t steps) {
  void* at = from;
  for (std::size_t i = 0; i < steps; i += 8) {
    for (int k = 0; k < 8; ++k) {
      at = *static_cast<void**>(at);
      asm volatile("" : "+r"(at));
    }
  }
  g_pointer = at;
  return static_cast<void**>(at);
}

void** g_cycle;
template <std::size_t kCount, std::size_t kStride>
void prepare_cycle() {
  g_cycle = random_cycle(kCount, kStride);
}

}  // namespace

// A step is one load of 32 bytes.
KERNEL(load_l1, "l1_bandwidth|memory_ports", 512.0 * 200, nullptr) {
  add_up(memory(16 * kKiB), 16 * kKiB, 200);
}
RELIEVED(load_l1, 256.0 * 200, nullptr) {  // half as many loads for as many ORs
  const char* from = memory(16 * kKiB);
  __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
  for (int round = 0; round < 200; ++round) {
    for (const char *at = from, *end = from + 16 * kKiB; at != end; at += 256) {
      const double* p = reinterpret_cast<const double*>(at);
      __m256d a = _mm256_load_pd(p), b = _mm256_load_pd(p + 8);
      s0 = _mm256_or_pd(s0, a);
      s1 = _mm256_or_pd(s1, b);
      s2 = _mm256_or_pd(s2, a);
      s3 = _mm256_or_pd(s3, b);
    }
  }
  g_double = _mm256_cvtsd_f64(_mm256_or_pd(_mm256_or_pd(s0, s1), _mm256_or_pd(s2, s3)));
}

KERNEL(load_l2, "l2_bandwidth", 8192.0 * 20, nullptr) {
  add_up(memory(256 * kKiB), 256 * kKiB, 20);
}
RELIEVED(load_l2, 512.0 * 320, nullptr) { add_up(memory(16 * kKiB), 16 * kKiB, 320); }

KERNEL(load_l3, "l3_bandwidth|l3_latency", 98304.0 * 2, nullptr) {
  add_up(memory(3 * kMiB), 3 * kMiB, 2);
}
RELIEVED(load_l3, 512.0 * 384, nullptr) { add_up(memory(16 * kKiB), 16 * kKiB, 384); }

KERNEL(load_dram, "dram_bandwidth|dram_latency", 4194304.0, nullptr) {
  add_up(memory(128 * kMiB), 128 * kMiB, 1);
}
RELIEVED(load_dram, 512.0 * 8192, nullptr) { add_up(memory(16 * kKiB), 16 * kKiB, 8192); }

// ---- each load needs the last

KERNEL(chase_l1, "l1_latency", 100000, (prepare_cycle<256, 64>)) { chase(g_cycle, 100000); }
RELIEVED(chase_l1, 100000, (prepare_cycle<256, 64>)) {  // four chains at a time
  void *a = g_cycle, *b = *static_cast<void**>(a), *c = *static_cast<void**>(b),
       *d = *static_cast<void**>(c);
  for (int i = 0; i < 100000; i += 4) {
    a = *static_cast<void**>(a);
    b = *static_cast<void**>(b);
    c = *static_cast<void**>(c);
    d = *static_cast<void**>(d);
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  g_pointer = a;
  g_pointer = b;
  g_pointer = c;
  g_pointer = d;
}

KERNEL(chase_l2, "l2_latency", 100000, (prepare_cycle<3072, 64>)) { chase(g_cycle, 100000); }
RELIEVED(chase_l2, 100000, (prepare_cycle<256, 64>)) { chase(g_cycle, 100000); }

KERNEL(chase_l3, "l3_latency", 100000, (prepare_cycle<32768, 128>)) { chase(g_cycle, 100000); }
RELIEVED(chase_l3, 100000, (prepare_cycle<3072, 64>)) { chase(g_cycle, 100000); }

KERNEL(chase_dram, "dram_latency", 20000, (prepare_cycle<2097152, 128>)) {
  g_cycle = chase(g_cycle, 20000);  // on from where the last one ended: no line comes back soon
}
RELIEVED(chase_dram, 20000, (prepare_cycle<3072, 64>)) { chase(g_cycle, 20000); }

// ---- one line in each of many pages; the lines fit into L2, the pages into no TLB

KERNEL(one_line_a_page, "tlb", 16384.0 * 4, [] { memory(16384 * 4160); }) {
  const char* from = memory(16384 * 4160);
  std::uint64_t sum = 0;
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < 4096; ++i)  // 4,160 bytes apart: one line further in each page
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t page = (i * 4 + k) * 2731 % 4096;  // no order that a prefetcher knows
        sum += *reinterpret_cast<const volatile std::uint64_t*>(from + page * 4160);
      }
  g_integer = sum;
}
RELIEVED(one_line_a_page, 16384.0 * 4, nullptr) {
  const char* from = memory(16384 * 4160);
  std::uint64_t sum = 0;
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < 4096; ++i)
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t line = (i * 4 + k) * 2731 % 4096;
        sum += *reinterpret_cast<const volatile std::uint64_t*>(from + line * 64);
      }
  g_integer = sum;
}

// ---- chains of arithmetic

KERNEL(add_chain, "fp_latency", 100000, nullptr) {
  double sum = 0;
  const double one = 1.0;
  for (int i = 0; i < 100000; i += 10)
#pragma GCC unroll 10
    for (int k = 0; k < 10; ++k) asm volatile("vaddsd %1, %0, %0" : "+x"(sum) : "x"(one));
  g_double = sum;
}
RELIEVED(add_chain, 100000, nullptr) {
  double s[10] = {};
  const double one = 1.0;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, s8 = 0, s9 = 0;
  for (int i = 0; i < 100000; i += 10)
    asm volatile(
        "vaddsd %10, %0, %0; vaddsd %10, %1, %1; vaddsd %10, %2, %2; vaddsd %10, %3, %3; vaddsd "
        "%10, %4, %4;"
        "vaddsd %10, %5, %5; vaddsd %10, %6, %6; vaddsd %10, %7, %7; vaddsd %10, %8, %8; vaddsd "
        "%10, %9, %9"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7), "+x"(s8),
          "+x"(s9)
        : "x"(one));
  g_double = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s[0];
}

KERNEL(fma_chain, "fp_latency", 100000, nullptr) {
  __m256d sum = _mm256_set1_pd(1.0);
  const __m256d a = _mm256_set1_pd(0.5), b = _mm256_set1_pd(0.25);
  for (int i = 0; i < 100000; i += 10)
#pragma GCC unroll 10
    for (int k = 0; k < 10; ++k)
      asm volatile("vfmadd213pd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  g_double = _mm256_cvtsd_f64(sum);
}
RELIEVED(fma_chain, 100000, nullptr) {
  __m256d s0 = _mm256_set1_pd(1.0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const __m256d a = _mm256_set1_pd(0.5), b = _mm256_set1_pd(0.25);
  for (int i = 0; i < 100000; i += 8)  // as many chains as two units with four cycles ask for
    asm volatile(
        "vfmadd213pd %9, %8, %0; vfmadd213pd %9, %8, %1; vfmadd213pd %9, %8, %2; vfmadd213pd %9, "
        "%8, %3; vfmadd213pd %9, %8, %4; vfmadd213pd %9, %8, %5; vfmadd213pd %9, %8, %6; "
        "vfmadd213pd %9, %8, %7"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7)
        : "x"(a), "x"(b));
  g_double = _mm256_cvtsd_f64(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7);
}

KERNEL(multiply_chain, "int_latency", 100000, nullptr) {
  std::uint64_t x = 12345;
  for (int i = 0; i < 100000; i += 10)
#pragma GCC unroll 10
    for (int k = 0; k < 10; ++k) asm volatile("imul %0, %0" : "+r"(x));
  g_integer = x;
}
RELIEVED(multiply_chain, 100000, nullptr) {
  std::uint64_t a = 3, b = 5, c = 7, d = 11;
  for (int i = 0; i < 100000; i += 4)
    asm volatile("imul %0, %0; imul %1, %1; imul %2, %2; imul %3, %3"
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  g_integer = a + b + c + d;
}

KERNEL(scalar_through_memory, "store_forwarding|fp_latency", 50000, nullptr) {
  static double place;
  const double one = 1.0;
  for (int i = 0; i < 50000; ++i)
    asm volatile("vaddsd %0, %1, %%xmm0; vmovsd %%xmm0, %0" : "+m"(place) : "x"(one) : "xmm0");
}
RELIEVED(scalar_through_memory, 50000, nullptr) {  // sixteen places in turn
  alignas(64) static double place[16];
  const double one = 1.0;
  for (int i = 0; i < 50000; ++i)
    asm volatile("vaddsd %0, %1, %%xmm0; vmovsd %%xmm0, %0"
                 : "+m"(place[i % 16])
                 : "x"(one)
                 : "xmm0");
}

KERNEL(vector_through_memory, "store_forwarding|fp_latency", 50000, nullptr) {
  alignas(64) static double place[4];
  const __m256d one = _mm256_set1_pd(1.0);
  for (int i = 0; i < 50000; ++i)
    asm volatile("vaddpd %0, %1, %%ymm0; vmovapd %%ymm0, %0"
                 : "+m"(*reinterpret_cast<__m256d*>(place))
                 : "x"(one)
                 : "xmm0");
}
RELIEVED(vector_through_memory, 50000, nullptr) {  // eight places in turn
  alignas(64) static double place[8][4];
  const __m256d one = _mm256_set1_pd(1.0);
  for (int i = 0; i < 50000; ++i)
    asm volatile("vaddpd %0, %1, %%ymm0; vmovapd %%ymm0, %0"
                 : "+m"(*reinterpret_cast<__m256d*>(place[i % 8]))
                 : "x"(one)
                 : "xmm0");
}

// ---- units that are always busy

KERNEL(fma_peak, "fp_ports", 120000,
       nullptr) {  // twelve chains, as many as latency asks for and more
  for (int i = 0; i < 10000; ++i)
    asm volatile(
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm0; vfmadd213pd %%ymm12, %%ymm13, %%ymm1;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm2; vfmadd213pd %%ymm12, %%ymm13, %%ymm3;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm4; vfmadd213pd %%ymm12, %%ymm13, %%ymm5;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm6; vfmadd213pd %%ymm12, %%ymm13, %%ymm7;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm8; vfmadd213pd %%ymm12, %%ymm13, %%ymm9;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm10; vfmadd213pd %%ymm12, %%ymm13, %%ymm11"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11");
}
RELIEVED(fma_peak, 120000, nullptr) {  // a nop for each second one
  for (int i = 0; i < 10000; ++i)
    asm volatile(
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm0; nop; vfmadd213pd %%ymm12, %%ymm13, %%ymm2; nop;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm4; nop; vfmadd213pd %%ymm12, %%ymm13, %%ymm6; nop;"
        "vfmadd213pd %%ymm12, %%ymm13, %%ymm8; nop; vfmadd213pd %%ymm12, %%ymm13, %%ymm10; nop"
        :
        :
        : "xmm0", "xmm2", "xmm4", "xmm6", "xmm8", "xmm10");
}

KERNEL(divisions, "divider", 40000, nullptr) {
  __m128d x = _mm_set_sd(1e300), y = _mm_set_sd(1.0000001);
  for (int i = 0; i < 40000; i += 4)
    asm volatile(
        "vdivsd %1, %0, %%xmm8; vdivsd %1, %0, %%xmm9; vdivsd %1, %0, %%xmm10; vdivsd %1, %0, "
        "%%xmm11"
        :
        : "x"(x), "x"(y)
        : "xmm8", "xmm9", "xmm10", "xmm11");
}
RELIEVED(divisions, 40000, nullptr) {
  __m128d x = _mm_set_sd(1e300), y = _mm_set_sd(1.0000001);
  for (int i = 0; i < 40000; i += 4)
    asm volatile(
        "vmulsd %1, %0, %%xmm8; vmulsd %1, %0, %%xmm9; vmulsd %1, %0, %%xmm10; vmulsd %1, %0, "
        "%%xmm11"
        :
        : "x"(x), "x"(y)
        : "xmm8", "xmm9", "xmm10", "xmm11");
}

KERNEL(integer_multiplies, "int_ports", 100000, nullptr) {
  for (int i = 0; i < 100000; i += 5)
    asm volatile(
        "imul $3, %%rdi, %%rax; imul $5, %%rdi, %%rcx; imul $7, %%rdi, %%rdx; imul $9, %%rdi, "
        "%%rsi; imul $11, %%rdi, %%r8"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "r8");
}
RELIEVED(integer_multiplies, 100000, nullptr) {
  for (int i = 0; i < 100000; i += 5)
    asm volatile(
        "lea 3(%%rdi), %%rax; lea 5(%%rdi), %%rcx; lea 7(%%rdi), %%rdx; lea 9(%%rdi), %%rsi; lea "
        "11(%%rdi), %%r8"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "r8");
}

KERNEL(stores_l1, "memory_ports|l1_bandwidth", 64.0 * 1000, nullptr) {
  char* to = memory(16 * kKiB);
  const __m256d zero = _mm256_setzero_pd();
  for (int round = 0; round < 1000; ++round)
    for (int i = 0; i < 2048; i += 128)
      asm volatile("vmovaps %1, (%0); vmovaps %1, 32(%0); vmovaps %1, 64(%0); vmovaps %1, 96(%0)"
                   :
                   : "r"(to + i), "x"(zero)
                   : "memory");
}
RELIEVED(stores_l1, 64.0 * 1000, nullptr) {
  char* to = memory(16 * kKiB);
  const __m256d zero = _mm256_setzero_pd();
  for (int round = 0; round < 1000; ++round)
    for (int i = 0; i < 2048; i += 128)
      asm volatile("vmovaps %1, (%0); nop; vmovaps %1, 64(%0); nop"
                   :
                   : "r"(to + i), "x"(zero)
                   : "memory");
}

KERNEL(nops, "width", 100000, nullptr) {
  for (int i = 0; i < 100000; i += 50) asm volatile(".rept 50\n nop\n .endr");
}
RELIEVED(nops, 100000, nullptr) {  // as many steps in half as many instructions
  for (int i = 0; i < 100000; i += 50) asm volatile(".rept 25\n nop\n .endr");
}

// ---- branches

namespace {
std::vector<unsigned char> g_bits;
void prepare_random_bits() {
  g_bits.resize(65536);
  for (auto& bit : g_bits) bit = random_number() >> 40 & 1;
}
void prepare_equal_bits() { g_bits.assign(65536, 1); }
inline void count_bits() {
  std::uint64_t a = 0, b = 0;
  for (const unsigned char bit : g_bits)
    asm volatile("testb %2, %2; jz 1f; add $3, %0; jmp 2f; 1: add $5, %1; 2:"
                 : "+r"(a), "+r"(b)
                 : "q"(bit)
                 : "cc");
  g_integer = a + b;
}
}  // namespace
KERNEL(random_branch, "mispredictions", 65536, prepare_random_bits) { count_bits(); }
RELIEVED(random_branch, 65536, prepare_equal_bits) { count_bits(); }

namespace {
std::vector<unsigned char> g_choices;
void prepare_random_choices() {
  g_choices.resize(65536);
  for (auto& choice : g_choices) choice = random_number() >> 40 & 7;
}
void prepare_equal_choices() { g_choices.assign(65536, 3); }
inline void dispatch() {
  std::uint64_t x = 1;
  static const void* const kTargets[] = {&&t0, &&t1, &&t2, &&t3, &&t4, &&t5, &&t6, &&t7};
  const unsigned char *at = g_choices.data(), *end = at + g_choices.size();
next:
  if (at == end) {
    g_integer = x;
    return;
  }
  goto* kTargets[*at++];
t0:
  x += 1;
  goto next;
t1:
  x ^= 2;
  goto next;
t2:
  x += 3;
  goto next;
t3:
  x ^= 5;
  goto next;
t4:
  x -= 7;
  goto next;
t5:
  x ^= 11;
  goto next;
t6:
  x += 13;
  goto next;
t7:
  x ^= 17;
  goto next;
}
}  // namespace
KERNEL(random_dispatch, "mispredictions", 65536, prepare_random_choices) { dispatch(); }
RELIEVED(random_dispatch, 65536, prepare_equal_choices) { dispatch(); }

// ---- more code than the front end holds

KERNEL(long_code, "front_end", 60000, nullptr) {  // 60,000 instructions of 8 bytes in a row
  asm volatile(
      ".rept 15000\n lea 0x11223344(%%rsi), %%rax\n lea 0x11223344(%%rsi), %%rcx\n lea "
      "0x11223344(%%rsi), %%rdx\n lea 0x11223344(%%rsi), %%r8\n .endr"
      :
      :
      : "rax", "rcx", "rdx", "r8");
}
RELIEVED(long_code, 60000, nullptr) {
  for (int i = 0; i < 1000; ++i)
    asm volatile(
        ".rept 15\n lea 0x11223344(%%rsi), %%rax\n lea 0x11223344(%%rsi), %%rcx\n lea "
        "0x11223344(%%rsi), %%rdx\n lea 0x11223344(%%rsi), %%r8\n .endr"
        :
        :
        : "rax", "rcx", "rdx", "r8");
}

// ---- threads

namespace {
struct alignas(128) Counters {
  volatile std::uint64_t first;
  volatile std::uint64_t same_line;
  char gap[240];
  volatile std::uint64_t other_line;
};
Counters g_counters;
std::jthread g_rival;
template <volatile std::uint64_t Counters::*kMember>
void start_rival() {
  g_rival = std::jthread([](const std::stop_token& stop) {
    while (!stop.stop_requested())
      for (int i = 0; i < 1000; ++i) g_counters.*kMember = g_counters.*kMember + 1;
  });
}
}  // namespace
KERNEL(false_sharing, "sharing", 100000, start_rival<&Counters::same_line>) {
  for (int i = 0; i < 100000; ++i) g_counters.first = g_counters.first + 1;
}
RELIEVED(false_sharing, 100000, start_rival<&Counters::other_line>) {
  for (int i = 0; i < 100000; ++i) g_counters.first = g_counters.first + 1;
}

KERNEL(locked_add, "atomics", 100000, nullptr) {
  alignas(64) static std::uint64_t places[4][8];
  for (int i = 0; i < 100000; i += 4)
    for (auto& place : places) asm volatile("lock addq $1, %0" : "+m"(place[0]));
}
RELIEVED(locked_add, 100000, nullptr) {
  alignas(64) static std::uint64_t places[4][8];
  for (int i = 0; i < 100000; i += 4)
    for (auto& place : places) asm volatile("addq $1, %0" : "+m"(place[0]));
}

// ---- the kernel's work

KERNEL(page_faults, "system", 256, nullptr) {
  char* place = static_cast<char*>(
      mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t i = 0; i < kMiB; i += 4096) *static_cast<volatile char*>(place + i) = 1;
  munmap(place, kMiB);
}
RELIEVED(page_faults, 256, nullptr) {
  char* place = memory(kMiB);
  for (std::size_t i = 0; i < kMiB; i += 4096) *static_cast<volatile char*>(place + i) = 1;
}

KERNEL(system_calls, "system", 1000, nullptr) {
  for (int i = 0; i < 1000; ++i) syscall(SYS_getppid);
}
RELIEVED(system_calls, 1000, nullptr) {
  for (int i = 0; i < 1000; ++i) g_integer = g_integer + 1;
}

LOFT_KERNELS_MAIN
