// Instructions as text, for people: listings of blocks, and messages that name an instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/classify/kind.hpp"

namespace loft::engine {

struct DisassembledInstruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  std::string text;  // "vaddps zmm1 {k1}, zmm2, zmmword ptr [rax]"; "(bad)" where nothing decodes
  BranchKind branch = BranchKind::none;
  std::uint64_t target = 0;       // of a direct branch
  std::uint16_t vector_bits = 0;  // 0: no floating point, no vectors; at most 64: one number
  bool computes = false;          // on them, and does not just move them
  bool is_masked = false;
};

// All instructions of `bytes`, which stand at `address`. Bytes that do not decode are listed one
// by one as "(bad)".
[[nodiscard]] std::vector<DisassembledInstruction> disassemble(std::span<const std::byte> bytes,
                                                               std::uint64_t address);

}  // namespace loft::engine
