// Where translated code lives: stretches of memory within reach of a 32-bit displacement from the
// code they are made of, as many as the program's code lies apart. Hot code grows up from the
// bottom of an arena; stubs and constants, which are rarely run, grow down from its top.
#pragma once

#include <cstdint>

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

struct Trace;

struct Arena {
  std::uint8_t* start;
  std::uint8_t* hot;   // next free byte from below
  std::uint8_t* cold;  // first used byte from above
  std::uint8_t* end;
  std::uint8_t* miss;  // jumps to engine_indirect_miss
  Trace** traces;      // in order of their code
  std::uint32_t trace_count;
  Ahead hot_ahead;
  Ahead cold_ahead;
};

// The arena for code at `pc`, with room for one more trace.
Arena* arena_near(std::uint64_t pc);

// The arena that holds the address, or null.
Arena* arena_of(std::uint64_t address);

// All of them, one after the other; null behind the last.
const Arena* arena_number(std::uint32_t number);

// `bytes` of cold memory.
std::uint8_t* take_cold(Arena& arena, std::uint32_t bytes);

}  // namespace loft::engine::runtime
