// Inner loops of systems, sixth part: where code lies, threads, the system.
#include <immintrin.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "kernel.hpp"

using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;

// ---- code
// Generated code that fits into L1, but not into the cache of decoded operations.
#define LOFT_GENERATED(count)                                                                      \
  __asm__ volatile(".rept " #count                                                                 \
                   "\n add $3, %0\n vpaddd %%ymm1, %%ymm0, %%ymm0\n add $5, %1\n"                  \
                   " vpaddd %%ymm3, %%ymm2, %%ymm2\n add $7, %2\n vpaddd %%ymm5, %%ymm4, %%ymm4\n" \
                   " .endr"                                                                        \
                   : "+r"(x), "+r"(y), "+r"(z)                                                     \
                   :                                                                               \
                   : "ymm0", "ymm2", "ymm4")
KERNEL(generated_code, "front_end", 1260.0 * 10, nullptr) {
  std::uint64_t x = g_integer, y = 1, z = 2;
  for (int i = 0; i < 10; ++i) LOFT_GENERATED(1260);
  g_integer = x + y + z;
}
RELIEVED(generated_code, 1260.0 * 10, nullptr) {
  std::uint64_t x = g_integer, y = 1, z = 2;
  for (int i = 0; i < 10 * 42; ++i) LOFT_GENERATED(30);
  g_integer = x + y + z;
}

// Handlers that lie on a page each, or side by side.
KERNEL(handlers_apart, "front_end|tlb", 200.0 * 20, nullptr) {
  std::uint64_t x = g_integer;
  for (int i = 0; i < 20; ++i)
    __asm__ volatile(
        ".set at, 0\n jmp 2f\n .balign 4096\n 1:\n .rept 200\n lea 3(%0,%0), %0\n ret\n"
        " .balign 4096\n .endr\n 2:\n .set at, 0\n"
        " sub $128, %%rsp\n .rept 200\n call 1b + at\n .set at, at + 4096\n .endr\n add $128, %%rsp"
        : "+r"(x)
        :
        : "memory");
  g_integer = x;
}
RELIEVED(handlers_apart, 200.0 * 20, nullptr) {
  std::uint64_t x = g_integer;
  for (int i = 0; i < 20; ++i)
    __asm__ volatile(
        ".set at, 0\n jmp 2f\n .balign 4096\n 1:\n .rept 200\n lea 3(%0,%0), %0\n ret\n"
        " .balign 64\n .endr\n 2:\n .set at, 0\n"
        " sub $128, %%rsp\n .rept 200\n call 1b + at\n .set at, at + 64\n .endr\n add $128, %%rsp"
        : "+r"(x)
        :
        : "memory");
  g_integer = x;
}

// ---- threads
namespace {
struct alignas(4096) Statistics {
  std::atomic<std::uint64_t> requests;
  char space[4088];
  std::atomic<std::uint64_t> apart;
};
Statistics g_statistics;
std::atomic<std::uint64_t>* g_rival;
template <bool kSameCounter>
void start_rival() {
  g_rival = kSameCounter ? &g_statistics.requests : &g_statistics.apart;
  std::thread([] {
    for (;;) g_rival->fetch_add(1, std::memory_order_relaxed);
  }).detach();
}
}  // namespace
KERNEL(request_counter, "sharing|atomics", 50000, start_rival<true>) {
  for (int i = 0; i < 50000; ++i) g_statistics.requests.fetch_add(1, std::memory_order_relaxed);
}
RELIEVED(request_counter, 50000, start_rival<false>) {
  for (int i = 0; i < 50000; ++i) g_statistics.requests.fetch_add(1, std::memory_order_relaxed);
}

// The longest latency seen, for all threads or for one.
namespace {
std::atomic<std::uint64_t> g_longest;
}
KERNEL(atomic_maximum, "atomics", 20000, nullptr) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t value = i * 3;
    std::uint64_t seen = g_longest.load(std::memory_order_relaxed);
    while (!g_longest.compare_exchange_weak(seen, std::max(seen & 0xff, value))) {
    }
  }
}
RELIEVED(atomic_maximum, 20000, nullptr) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t value = i * 3;
    const std::uint64_t seen = g_longest.load(std::memory_order_relaxed);
    g_longest.store(std::max(seen & 0xff, value), std::memory_order_relaxed);
  }
}

// A log whose entries are visible in order, for whoever reads it.
namespace {
template <bool kFenced>
__attribute__((always_inline)) inline void write_log() {
  auto* log = reinterpret_cast<std::uint64_t*>(memory(8 * kKiB));
  for (std::uint64_t i = 0; i < 10000; ++i) {
    log[i & 511] = i;
    if (kFenced)
      _mm_mfence();
    else
      asm volatile("" : : : "memory");
    log[512 + (i & 255)] = i;
  }
}
}  // namespace
KERNEL(fenced_log, "atomics", 10000, nullptr) { write_log<true>(); }
RELIEVED(fenced_log, 10000, nullptr) { write_log<false>(); }

// ---- the system
namespace {
int g_pipe[2], g_back[2];
void open_pipes() {
  if (pipe(g_pipe) != 0 || pipe(g_back) != 0) std::abort();
}
}  // namespace
KERNEL(pipe_to_self, "system", 500, open_pipes) {
  char byte = 'x';
  for (int i = 0; i < 500; ++i)
    if (write(g_pipe[1], &byte, 1) != 1 || read(g_pipe[0], &byte, 1) != 1) std::abort();
}
RELIEVED(pipe_to_self, 500, open_pipes) {
  volatile char byte = 'x';
  for (int i = 0; i < 500; ++i) byte = byte;
}

KERNEL(guarded_pages, "system", 200, [] { memory(64 * kKiB); }) {
  char* at = memory(64 * kKiB);
  for (int i = 0; i < 200; ++i) {
    mprotect(at, 64 * kKiB, PROT_READ);
    mprotect(at, 64 * kKiB, PROT_READ | PROT_WRITE);
    at[i * 128] = 1;
  }
}
RELIEVED(guarded_pages, 200, [] { memory(64 * kKiB); }) {
  char* at = memory(64 * kKiB);
  for (int i = 0; i < 200; ++i) {
    at[i * 128] = 1;
    asm volatile("" : : : "memory");
  }
}

// Ping and pong between two threads.
KERNEL(pipe_ping_pong, "waiting|system", 50, [] {
  open_pipes();
  std::thread([] {
    char byte;
    while (read(g_pipe[0], &byte, 1) == 1)
      if (write(g_back[1], &byte, 1) != 1) std::abort();
  }).detach();
}) {
  char byte = 'x';
  for (int i = 0; i < 50; ++i)
    if (write(g_pipe[1], &byte, 1) != 1 || read(g_back[0], &byte, 1) != 1) std::abort();
}
RELIEVED(pipe_ping_pong, 50, open_pipes) {  // no other thread to wait for
  char byte = 'x';
  for (int i = 0; i < 50; ++i)
    if (write(g_pipe[1], &byte, 1) != 1 || read(g_pipe[0], &byte, 1) != 1) std::abort();
}

KERNEL(poll_timeouts, "waiting", 10, open_pipes) {
  for (int i = 0; i < 10; ++i) {
    pollfd asked{g_pipe[0], POLLIN, 0};
    g_integer = g_integer + static_cast<std::uint64_t>(poll(&asked, 1, 2));
  }
}
RELIEVED(poll_timeouts, 10, open_pipes) {
  for (int i = 0; i < 10; ++i) {
    pollfd asked{g_pipe[0], POLLIN, 0};
    g_integer = g_integer + static_cast<std::uint64_t>(poll(&asked, 1, 0));
  }
}
