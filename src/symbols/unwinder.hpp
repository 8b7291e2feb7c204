// Call chains from a copy of the registers and the stack, by the unwind tables of the binaries
// (`perf record --call-graph dwarf`, or `loft record` doing the same).
//
//   Unwinder unwinder;                             // one per thread
//   std::vector<UnwoundFrame> chain;
//   unwinder.unwind(state, mapping_at, chain);     // mapping_at: what was mapped at an address
//
// Each address that was once unwound keeps its row, so that a step costs one lookup and a few
// reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "symbols/symbol_store.hpp"

namespace loft::symbols {

enum class Architecture { x86_64, arm64 };

// The registers at the sample, by DWARF number; see from_perf_registers().
struct UserRegisters {
  static constexpr std::size_t kCount = 33;
  std::array<std::uint64_t, kCount> value{};
  std::uint64_t known = 0;  // bit i: value[i] was recorded
  std::uint64_t ip = 0;

  [[nodiscard]] bool has(unsigned number) const {
    return number < kCount && (known >> number & 1) != 0;
  }
};

// What PERF_SAMPLE_REGS_USER carries: `values` are those whose bit is set in `mask`
// (sample_regs_user), in order. Null without stack pointer or instruction pointer.
std::optional<UserRegisters> from_perf_registers(Architecture architecture, std::uint64_t mask,
                                                 std::span<const std::uint64_t> values);

// Part of an address space that shows a file.
struct MappedFile {
  std::shared_ptr<const SymbolTable> table;
  std::uint64_t start = 0;   // first address
  std::uint64_t end = 0;     // behind the last
  std::uint64_t offset = 0;  // of `start` in the file
};

struct UserState {
  Architecture architecture = Architecture::x86_64;
  UserRegisters registers;
  std::span<const std::byte> stack;  // from the stack pointer upwards
};

struct UnwoundFrame {
  std::uint64_t ip = 0;
  bool is_exact = false;  // the sampled or interrupted instruction; else a return address

  // An address of the instruction that the frame is at: a call is before its return address.
  [[nodiscard]] std::uint64_t lookup_address() const { return is_exact ? ip : ip - 1; }
  bool operator==(const UnwoundFrame&) const = default;
};

class Unwinder {
 public:
  using MappingAt =
      std::function<const MappedFile*(std::uint64_t address)>;  // null: nothing mapped

  enum class End {
    complete,      // the outermost frame was reached
    stack_copied,  // the next frame lies beyond the copied stack
    no_mapping,    // an address that nothing is mapped at
    no_table,      // code without unwind information and without a frame pointer to follow
    loop,          // the stack does not move on, or the limit of frames was reached
  };

  Unwinder();
  ~Unwinder();
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;

  // Replaces `chain` by the frames, innermost first. At least the sample's own is in it.
  End unwind(const UserState& state, const MappingAt& mapping_at, std::vector<UnwoundFrame>& chain,
             std::size_t most_frames = 256);

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace loft::symbols
