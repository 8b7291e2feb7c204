#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "machine/emit.hpp"

namespace loft::machine {

Code::Code(void* start, std::size_t size)
    : start_(start), size_(size), entry_(std::bit_cast<Entry>(start)) {}

Code::Code(Code&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      entry_(std::exchange(other.entry_, nullptr)) {}

Code& Code::operator=(Code&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  std::swap(entry_, other.entry_);
  return *this;
}

Code::~Code() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

// Written first, made executable then: at no time both.
Result<Code> Code::of(std::span<const std::uint8_t> bytes) {
  void* start =
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return failure_of_errno(errno, "get memory for a kernel");
  Code code(start, bytes.size());
  std::memcpy(start, bytes.data(), bytes.size());
  auto* first = static_cast<char*>(start);
  __builtin___clear_cache(first, first + bytes.size());
  if (::mprotect(start, bytes.size(), PROT_READ | PROT_EXEC) != 0)
    return failure_of_errno(errno, "make a kernel executable",
                            "a security policy may forbid code made at run time");
  return code;
}

Result<Code> assemble(const Kernel& kernel) {
#if defined(__x86_64__)
  return Code::of(emit_x86(kernel));
#elif defined(__aarch64__)
  if (!arm64_can_emit(kernel))
    return failure(ErrorKind::unsupported, "make a kernel for arm64",
                   "there is no such instruction, or none of this width");
  return Code::of(emit_arm64(kernel));
#else
  (void)kernel;
  return failure(ErrorKind::unsupported, "measure this machine",
                 "loft has no kernels for its architecture", "x86-64 and arm64 are known");
#endif
}

}  // namespace loft::machine
