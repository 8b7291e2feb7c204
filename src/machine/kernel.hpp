// A kernel is a loop written down as data: the operations of one trip, in order.
//
//   const Kernel kernel = peak_kernel(Isa::avx2, Precision::dp, PeakOp::fma);
//   LOFT_TRY(const auto code, assemble(kernel));   // emit.hpp: exactly these instructions
//   LOFT_CHECK(check(kernel, code));               // check.hpp: they compute what is written here
//
// From the one description come the machine code, the count of operations and bytes, and the
// expected result, so that the loop that runs is the loop that is claimed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/isa.hpp"

namespace loft::machine {

enum class Op : std::uint8_t {
  // On vector register `reg`; m and a are the two constant registers.
  add,        // reg = reg + a
  mul,        // reg = reg * m
  fma,        // reg = reg * m + a, rounded once
  fma_into,   // reg = m * a + reg, rounded once: the only form that NEON has
  div,        // reg = reg / m
  sqrt,       // reg = sqrt(reg)
  sqrt_of_m,  // reg = sqrt(m): independent of all others, and never of a trivial number
  bit_or,     // the bits of reg |= those of m
  // Between vector register `reg` and `offset` bytes behind the pointer of `stream`.
  load,
  store,
  nt_store,  // past the caches
  // On the integer accumulator i; p, q, r are integer constants. Only in kernels without strides.
  int_add,     // i = i + p
  int_div,     // i = (i / p) | q
  lcg_branch,  // i = i * q + r; a branch that skips a no-op hangs on one bit of i
  jump,        // a taken jump to the next operation
  atomic_add,  // memory behind stream 0 += p, atomically
  chase,       // the pointer of stream 0 = what it points to
};

struct Step {
  Op op;
  std::uint8_t reg = 0;
  std::uint8_t stream = 0;
  std::int32_t offset = 0;
};

inline constexpr int kMaxStreams = 6;
inline constexpr int kMaxVectorBytes = 256;  // the widest SVE

struct Kernel {
  Isa isa = Isa::scalar;
  Precision precision = Precision::dp;
  int streams = 0;
  std::uint32_t stride = 0;  // bytes that every stream moves on per trip; 0: they stand still
  std::vector<Step> body;

  [[nodiscard]] std::size_t vector_bytes() const { return machine::vector_bytes(isa, precision); }
  [[nodiscard]] std::size_t lanes() const { return vector_bytes() / element_bytes(precision); }
  [[nodiscard]] bool uses(Op op) const;
  [[nodiscard]] bool uses_fma() const { return uses(Op::fma) || uses(Op::fma_into); }
  // Per trip: floating-point operations (an FMA is two per lane), bytes to and from memory.
  [[nodiscard]] double flops() const;
  [[nodiscard]] double bytes() const;
};

// Vector registers that a kernel may use besides the two that hold constants.
int accumulators(Isa isa);

enum class PeakOp : std::uint8_t { add, mul, muladd, fma, mixed, div, sqrt };
enum class MemoryOp : std::uint8_t { load, store, load2_store1, copy, nt_store, nt_copy };

std::string_view name_of(PeakOp op);
std::string_view name_of(MemoryOp op);

// How many FMAs stand beside how many ADDs in a mixed kernel.
struct Mix {
  int fma = 2;
  int add = 1;
};

// A loop of independent operations that never touches memory.
Kernel peak_kernel(Isa isa, Precision precision, PeakOp op, Mix mix = {});

// A loop that walks through `streams` times the arrays that `op` needs.
Kernel memory_kernel(Isa isa, MemoryOp op, int streams = 1);

// Arrays that `op` walks through at once.
int arrays_of(MemoryOp op);

// `count` operations, each of which needs the result of the one before.
Kernel chain_kernel(Op op, int count);

// sqrt and bit_or in turns: alone, sqrt would run into 1 and stay there.
Kernel sqrt_chain_kernel(int count);

}  // namespace loft::machine
