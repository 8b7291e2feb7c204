// The instruction-set extensions whose roofs are measured, and what this CPU can run of them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace loft::machine {

// In the order of their width. `sse` is the 128-bit form, `avx2` the 256-bit one: a fused
// multiply-add of `scalar` or `sse` is the VEX-encoded one that came with AVX2.
enum class Isa { scalar, sse, avx2, avx512, neon, sve };

enum class Precision { sp, dp };

std::string_view name_of(Isa isa);
std::string_view name_of(Precision precision);

constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::sp ? 4 : 8;
}

// Bytes of one register operand. SVE's depends on the CPU.
std::size_t vector_bytes(Isa isa, Precision precision);

struct IsaSupport {
  std::vector<Isa> usable;  // narrowest first; `scalar` is always there
  bool fma = false;
  std::vector<std::string_view> extensions;  // names for people: "avx2", "fma", "avx512f", ...
};

// What the CPU and the kernel let this process run.
IsaSupport isa_support();

}  // namespace loft::machine
