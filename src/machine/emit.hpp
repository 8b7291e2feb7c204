// Kernels as machine code. One encoder per architecture; each compiles everywhere, so that what
// would run on another machine can be tested here, byte by byte.
//
//   LOFT_TRY(const auto code, assemble(kernel));
//   Arguments arguments = ...;
//   code.run(arguments);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "machine/kernel.hpp"

namespace loft::machine {

// What a kernel reads when it starts and writes when it ends. The encoders know these offsets.
struct alignas(64) Arguments {
  std::uint64_t trips = 1;
  std::uint64_t span = 0;                  // bytes of each stream; the walk starts again there
  std::uint64_t position = 0;              // in: where the walk goes on; out: where it stopped
  std::uint64_t integers[kIntegers] = {};  // in and out
  std::uint64_t p = 1, q = 0, r = 0;       // integer constants
  std::byte* vectors = nullptr;            // VectorState, aligned to 64
  std::byte* streams[kMaxStreams] = {};    // first bytes; chases leave their pointers here
};

// Vector registers in memory: m, a, then the accumulators, kMaxVectorBytes apart.
inline constexpr int kMaxRegisters = 32;
inline constexpr std::size_t kVectorStateBytes = kMaxRegisters * kMaxVectorBytes;

using Bytes = std::vector<std::uint8_t>;
Bytes emit_x86(const Kernel& kernel);
Bytes emit_arm64(const Kernel& kernel);
// Whether the encoder for arm64 knows all operations of the kernel; the one for x86-64 does.
bool arm64_can_emit(const Kernel& kernel);

// Machine code that this process may run but not change.
class Code {
 public:
  [[nodiscard]] static Result<Code> of(std::span<const std::uint8_t> bytes);
  Code(Code&& other) noexcept;
  Code& operator=(Code&& other) noexcept;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();

  void run(Arguments& arguments) const { entry_(&arguments); }

 private:
  using Entry = void (*)(Arguments*);
  Code(void* start, std::size_t size);

  void* start_ = nullptr;
  std::size_t size_ = 0;
  Entry entry_ = nullptr;
};

// The kernel for the CPU this runs on.
[[nodiscard]] Result<Code> assemble(const Kernel& kernel);

}  // namespace loft::machine
