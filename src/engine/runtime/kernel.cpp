#include "engine/runtime/kernel.hpp"

#include <linux/futex.h>
#include <sys/mman.h>

#include <cstring>

#include "engine/runtime/stop.hpp"

namespace loft::engine::runtime {

bool copy_string(char* to, std::size_t room, std::uint64_t from) {
  // Page by page: behind the string there may be nothing, and who traces us would see the fault.
  constexpr std::uint64_t kPage = 4096;
  std::uint64_t size = 0;
  while (size + 1 < room) {
    std::uint64_t piece = kPage - ((from + size) & (kPage - 1));
    if (piece > room - 1 - size) piece = room - 1 - size;
    const long got = engine_safe_copy(to + size, reinterpret_cast<const void*>(from + size),
                                      static_cast<long>(piece));
    if (std::memchr(to + size, '\0', static_cast<std::size_t>(got)) != nullptr) return true;
    size += static_cast<std::uint64_t>(got);
    if (static_cast<std::uint64_t>(got) != piece) break;
  }
  to[size] = '\0';
  return size != 0;
}

namespace {

// Where neither the kernel nor the shadow memory of any sanitizer is.
constexpr std::uint64_t kReserveStart = 0x400000000000;
std::uint64_t g_reserve_next = kReserveStart;

}  // namespace

AddressRange reserved_range() {
  return {kReserveStart, __atomic_load_n(&g_reserve_next, __ATOMIC_RELAXED)};
}

void* reserve(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 2u << 20;
  const std::uint64_t size = (bytes + kStep - 1) & ~(kStep - 1);
  const std::uint64_t hint = __atomic_fetch_add(&g_reserve_next, size + kStep, __ATOMIC_RELAXED);
  const long memory = kernel(SYS_mmap, hint, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull, 0);
  if (is_error(memory)) stop(Message("the engine has no address space left"));
  return reinterpret_cast<void*>(memory);
}

void Ahead::populate() const {
  constexpr std::uint64_t kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14
  kernel(SYS_madvise, start_, ready_ - start_, kPopulateWrite);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  static Lock lock;
  static std::uint64_t next = 0;
  static std::uint64_t end = 0;
  static Ahead ahead;
  constexpr std::uint64_t kChunk = 4u << 20;
  const Holding holding(lock);
  next = (next + alignment - 1) & ~(alignment - 1);
  if (next + bytes > end) {
    const std::uint64_t size = bytes > kChunk ? bytes : kChunk;
    next = word(reserve(size));
    end = next + size;
  }
  void* result = reinterpret_cast<void*>(next);
  if (bytes < kChunk) ahead.go_up(next, next + bytes, end);
  next += bytes;
  return result;
}

void Lock::take() {
  std::uint32_t free = 0;
  if (__atomic_compare_exchange_n(&state_, &free, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  while (__atomic_exchange_n(&state_, 2u, __ATOMIC_ACQUIRE) != 0)
    kernel(SYS_futex, word(&state_), FUTEX_WAIT_PRIVATE, 2, 0);
}

void Lock::release() {
  if (__atomic_exchange_n(&state_, 0u, __ATOMIC_RELEASE) == 2)
    kernel(SYS_futex, word(&state_), FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace loft::engine::runtime
