// Decodes the instructions that most code is made of, many times faster than the full decoder: a
// program that starts executes tens of thousands of instructions for the first time.
//
//   Instruction instruction;
//   if (!decode_quickly(pc, bytes, available, instruction))
//     instruction = decode_fully(pc, bytes, available);
//
// What it gives is what decode_fully() gives; tests compare the two. It knows no VEX and EVEX, no
// locked instructions, and of prefixes 66, F2, F3 and fs alone.
#pragma once

#include <cstdint>

#include "engine/runtime/instruction.hpp"

namespace loft::engine::runtime {

// False when the instruction is none of those, or does not end within what is available; then
// `instruction` holds nothing of use. Besides what decode_fully() finds it notes which registers
// are used, where that is plain.
bool decode_quickly(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available,
                    Instruction& instruction);

}  // namespace loft::engine::runtime
