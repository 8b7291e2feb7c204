// One PERF_RECORD_SAMPLE with every field that its event asked for. A field that the recording does
// not carry is empty, never 0. Byte ranges borrow from the recording; call-chain addresses borrow
// too and are read through U64View, since they may be stored in the other byte order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "loft/perf_data/records.hpp"

namespace loft::perf_data {

// Numbers inside the recording's bytes, unaligned and perhaps of the other byte order.
class U64View {
 public:
  U64View() = default;
  U64View(const std::byte* first, std::size_t count, bool swapped)
      : first_(first), count_(count), swapped_(swapped) {}

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    std::uint64_t value;
    std::memcpy(&value, first_ + index * sizeof value, sizeof value);
    return swapped_ ? __builtin_bswap64(value) : value;
  }

  [[nodiscard]] U64View first(std::size_t count) const {
    return {first_, count < count_ ? count : count_, swapped_};
  }

  // Whether those from `from` on are these, and no others.
  [[nodiscard]] bool is_same(std::size_t from, std::span<const std::uint64_t> values) const {
    if (count_ - from != values.size()) return false;
    if (!swapped_)
      return values.empty() ||
             std::memcmp(first_ + from * 8, values.data(), values.size_bytes()) == 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if ((*this)[from + i] != values[i]) return false;
    return true;
  }

 private:
  const std::byte* first_ = nullptr;
  std::size_t count_ = 0;
  bool swapped_ = false;
};

// Marks inside a call chain that say whose addresses follow (PERF_CONTEXT_*).
inline constexpr std::uint64_t kContextHypervisor = static_cast<std::uint64_t>(-32);
inline constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
inline constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
inline constexpr std::uint64_t kContextUserDeferred = static_cast<std::uint64_t>(-640);
inline constexpr std::uint64_t kContextGuest = static_cast<std::uint64_t>(-2048);
inline constexpr std::uint64_t kContextGuestKernel = static_cast<std::uint64_t>(-2176);
inline constexpr std::uint64_t kContextGuestUser = static_cast<std::uint64_t>(-2560);
inline constexpr std::uint64_t kContextLowest = static_cast<std::uint64_t>(-4095);

struct BranchEntry {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool mispredicted = false;
  bool predicted = false;
  bool in_transaction = false;
  bool aborted = false;
  std::uint16_t cycles = 0;
  std::uint8_t kind = 0;
};

// The registers that `mask` names, lowest bit first.
struct Registers {
  enum class Abi : std::uint64_t { none, bits32, bits64 };
  Abi abi = Abi::none;
  std::uint64_t mask = 0;
  U64View values;
};

struct Sample {
  std::uint32_t event = 0;  // index into the recording's events
  CpuMode mode = CpuMode::unknown;
  bool exact_ip = false;
  RecordId who;
  std::optional<std::uint64_t> ip;
  std::optional<std::uint64_t> address;
  std::optional<std::uint64_t> period;
  std::optional<CounterReading> reading;
  bool has_call_chain = false;
  U64View call_chain;  // with context marks
  std::span<const std::byte> raw;
  std::vector<BranchEntry> branches;
  std::optional<std::uint64_t> branch_hardware_index;
  Registers user_registers;
  std::span<const std::byte> user_stack;  // the part that the kernel really copied
  Registers interrupt_registers;
  std::optional<std::uint64_t> weight;
  bool weight_is_struct = false;  // then bits 0-31, 32-47, 48-63 are three weights
  std::optional<std::uint64_t> data_source;
  std::optional<std::uint64_t> transaction;
  std::optional<std::uint64_t> physical_address;
  std::optional<std::uint64_t> cgroup;
  std::optional<std::uint64_t> data_page_size;
  std::optional<std::uint64_t> code_page_size;
  std::span<const std::byte> aux;
};

}  // namespace loft::perf_data
