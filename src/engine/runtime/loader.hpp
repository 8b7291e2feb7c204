// Maps a program and its interpreter as the kernel would.
#pragma once

#include <cstdint>

namespace loft::engine::runtime {

struct LoadedProgram {
  std::uint64_t entry;    // of the program itself
  std::uint64_t headers;  // its program headers in memory
  std::uint64_t header_size;
  std::uint64_t header_count;
  std::uint64_t interpreter;  // load address of the interpreter, 0 without one
  std::uint64_t start;        // where execution begins
  bool executable_stack;
};

// Stops with a word when it cannot be loaded.
LoadedProgram load_program(const char* path);

}  // namespace loft::engine::runtime
