// How the program speaks to the engine: a nop of 8 bytes with a displacement that no compiler uses.
// Natively it does nothing, and rax stays 0.
//
//   0F 1F 84 00 nn 46 4F 4C    nopl 0x4C4F46nn(%rax,%rax,1)
//
//   01 begin   rdi: a region's name, rsi: its length; behind the nop the thread is in the region
//   02 end     the same; the nop itself is outside of it again
//   03 call    edi: what (engine/door.hpp), rsi, rdx: its arguments; rax becomes the answer
//
// The program must expect that flags and all registers that a function may destroy are changed, but
// for vector registers. What happens often is done at once, by code that uses general registers
// alone (door_fast.cpp); the rest goes through the dispatcher.
#pragma once

#include <cstdint>

namespace loft::engine::runtime {

struct Context;

enum class Door : std::uint8_t { none, begin, end, call };

// What the bytes of an instruction say; none where nobody listens.
Door door_at(const std::uint8_t* bytes, std::uint32_t length);

// The long way. Gives the context that is in use from now on; next_pc is set.
Context* serve_door(Context* context);

// The word that names block and door in ecx.
constexpr std::uint32_t kDoorShift = 2;

}  // namespace loft::engine::runtime
