// System calls about files: /proc must not tell of the engine, and its descriptor stays open.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"
#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

// A system call of the program that the engine makes for it.
struct Call {
  Context* context;
  long number;
  std::uint64_t a, b, c, d, e, f;
  std::uint64_t next_pc;

  [[nodiscard]] long in_kernel() const { return kernel(number, a, b, c, d, e, f); }
};

long run_file_call(const Call& call);

// Whether the path is that file of the process itself in /proc.
bool is_own_file(const char* path, const char* file);

bool is_below_proc(std::uint64_t path);

}  // namespace loft::engine::runtime
