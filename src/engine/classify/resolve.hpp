// The places that one execution of an instruction touches, and the units it counts, from the
// registers as they are before it. This is the reference that the address stream is held against,
// and what the engine falls back on where it has no short sequence of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/classify/facts.hpp"

namespace loft::engine {

struct RegisterState {
  std::array<std::uint64_t, 16> general{};
  std::uint64_t next_rip = 0;  // address of the following instruction
  std::uint64_t rflags = 0x202;
  std::uint64_t fs_base = 0;
  std::uint64_t gs_base = 0;
  std::array<std::array<std::uint8_t, 64>, 32> vector{};
  std::array<std::uint64_t, 8> mmx{};
  std::array<std::uint64_t, 8> opmask{};
  std::array<std::uint8_t, 64> tile_config{};  // as sttilecfg writes it
  std::uint64_t xcr0 = 3;
};

struct Touch {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool is_store = false;

  bool operator==(const Touch&) const = default;
};

// Appends each access in order. Neighbouring active elements under a mask are one access.
// `iterations` is what a repeated string instruction did; it need not be all of the count register.
void resolve(const InstructionFacts& facts, const RegisterState& state, std::uint64_t iterations,
             std::vector<Touch>& touched);

// The value of a unit for one execution; `iterations` and `taken` are only known afterwards.
[[nodiscard]] std::uint64_t units_of(const InstructionFacts& facts, const UnitSource& source,
                                     const RegisterState& state, std::uint64_t iterations,
                                     bool taken);

// Rows and bytes per row of tile `number` in a tile configuration.
struct TileShape {
  unsigned rows = 0;
  unsigned row_bytes = 0;
  unsigned start_row = 0;  // of a load or store that was interrupted, and goes on there
};
[[nodiscard]] TileShape tile_shape(const std::array<std::uint8_t, 64>& config, int number);

// Bytes of an xsave area with `components` of the state (edx:eax and xcr0): the legacy region and
// header, and each extended component in full, whether or not it is in its initial state.
[[nodiscard]] std::uint64_t xsave_bytes(std::uint64_t components);

}  // namespace loft::engine
