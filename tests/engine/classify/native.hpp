// Runs single instructions on this processor: all registers are loaded, the instruction runs, all
// registers are read back. A fault ends the instruction and is reported. For tests, one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/classify/resolve.hpp"

namespace loft::engine {

// Where component `number` (2 to 7) of the extended state stands in an xsave area, or 0.
[[nodiscard]] std::size_t component_offset(std::size_t number);

struct Fault {
  int signal = 0;  // 0: none
  std::uint64_t address = 0;
};

class Native {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kArenaPages = 2;

  Native();
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  // Whether the vectors have 256 or 512 bits and opmasks exist.
  [[nodiscard]] bool has_avx() const { return (xcr0_ & 4) != 0; }
  [[nodiscard]] bool has_avx512() const { return (xcr0_ & 0xE0) == 0xE0; }

  // Memory between two pages that cannot be touched, below 4 GB.
  [[nodiscard]] std::span<std::uint8_t> arena() const { return {arena_, kPage * kArenaPages}; }
  [[nodiscard]] std::uint64_t arena_start() const;
  [[nodiscard]] std::uint64_t arena_end() const { return arena_start() + kPage * kArenaPages; }

  // Runs the instruction; `state` becomes what it left, up to the fault if there was one.
  Fault run(std::span<const std::uint8_t> instruction, RegisterState& state);

 private:
  void load(const RegisterState& state) const;
  void store(RegisterState& state) const;

  std::uint8_t* code_ = nullptr;
  std::uint8_t* arena_mapping_ = nullptr;
  std::uint8_t* arena_ = nullptr;
  std::uint8_t* signal_stack_ = nullptr;
  std::uint64_t xcr0_ = 0;
};

}  // namespace loft::engine
