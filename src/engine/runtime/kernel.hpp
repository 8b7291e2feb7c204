// System calls without a libc: no errno, no locks, nothing that lives behind fs. The engine's C++
// runs inside the program's process, so it may use nothing that the program could notice.
#pragma once

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace loft::engine::runtime {

inline long kernel(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                   std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
  long result = number;
  register std::uint64_t r10 asm("r10") = d;
  register std::uint64_t r8 asm("r8") = e;
  register std::uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline bool is_error(long result) { return result < 0 && result >= -4095; }

template <typename T>
std::uint64_t word(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Reads what the program points to; how many bytes could be read. Never faults.
extern "C" long engine_safe_copy(void* to, const void* from, long bytes);

// Whether the program's bytes are ours; no when they cannot be read. Needs general registers alone.
extern "C" long engine_same_bytes(const char* ours, const char* theirs, long bytes);

// A string of the program, cut to `room`; false when its memory cannot be read.
bool copy_string(char* to, std::size_t room, std::uint64_t from);

// Address space for the engine's large tables, zero, costing nothing before it is written. It lies
// apart from where the kernel puts libraries, so that code and its copies stay within reach of each
// other.
void* reserve(std::uint64_t bytes);
struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
};
AddressRange reserved_range();

// Memory of the engine's own: page-wise from the kernel, never given back, zero.
void* allocate(std::size_t bytes, std::size_t alignment = 16);

// Asks the kernel for memory that is used from one end to the other, many pages at a time: one by
// one, their faults are a large part of what a short program costs. Only a hint, and so without a
// lock.
class Ahead {
 public:
  // [from, to) is about to be written, and then what follows up to `end`.
  void go_up(std::uint64_t from, std::uint64_t to, std::uint64_t end) {
    if (from >= start_ && to <= ready_) return;
    start_ = from & ~(kPage - 1);
    ready_ = (to & ~(kPage - 1)) + kStep;
    if (ready_ > end) ready_ = end;
    populate();
  }
  // [from, to) is about to be written, and then what lies below down to `end`.
  void go_down(std::uint64_t from, std::uint64_t to, std::uint64_t end) {
    if (from >= start_ && to <= ready_) return;
    ready_ = (to + kPage - 1) & ~(kPage - 1);
    start_ = from & ~(kPage - 1);
    start_ = start_ - end < kStep ? end : start_ - kStep;
    populate();
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kStep = 64u << 10;
  void populate() const;

  std::uint64_t start_ = 0;
  std::uint64_t ready_ = 0;
};

// A lock that threads of the program share inside the engine; held for short times only.
class Lock {
 public:
  void take();
  void release();

 private:
  std::uint32_t state_ = 0;  // 0 free, 1 held, 2 held and waited for
};

class Holding {
 public:
  explicit Holding(Lock& lock) : lock_(lock) { lock_.take(); }
  ~Holding() { lock_.release(); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  Lock& lock_;
};

}  // namespace loft::engine::runtime
