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
  // On the 64-bit integers of vector register `reg`.
  vector_int_add,  // reg = reg + the bits of a
  vector_int_mul,  // reg = the low halves of reg * those of m
  swap_halves,     // the two integers of each 128 bits change places
  // From and to integer `reg`, the first element of vector register `reg`. Scalar kernels alone.
  int_to_double,
  double_to_int,
  int_to_vector,  // the bits; the rest of the vector becomes zero
  vector_to_int,
  // On integer `reg`; p, q, r are integer constants. Integers exist in kernels without strides.
  int_add,       // reg = reg + p
  int_mul,       // reg = reg * p
  int_lea,       // reg = reg + 4 * p + 8, an address with three parts
  int_rotate,    // reg = reg rotated right by 7
  int_compare,   // p with itself: sets the flags alone
  int_div,       // the first integer = (it / p) | q
  int_div_of_q,  // the first integer = q / p: independent of all others
  // `offset` bytes behind the pointer of `stream`.
  int_load,
  int_store,
  int_load_half,  // 32 bits; the upper half becomes zero
  int_store_half,
  atomic_add,  // memory += p, atomically
  chase,       // the pointer of `stream` = what it points to
  slot_chase,  // as chase, of a pointer that lies in memory
  // Besides.
  lcg_branch,        // the first integer = it * q + r; a branch that skips a no-op hangs on one bit
  jump,              // a taken jump to the next operation
  branch_not_taken,  // a comparison and a branch that is never taken
  nop,
  long_nop,  // of eight bytes on x86-64
};

// What the encoders and the interpreter tell operations apart by.
enum class OpKind : std::uint8_t {
  arithmetic,
  vector_memory,
  vector_integer,
  between_files,
  integer_arithmetic,
  integer_memory,
  control
};
OpKind kind_of(Op op);

struct Step {
  Op op;
  std::uint8_t reg = 0;
  std::uint8_t stream = 0;
  std::int32_t offset = 0;
};

inline constexpr int kMaxStreams = 6;
inline constexpr int kIntegers = 8;
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
// Integers that a kernel may use: none with strides; each stream but the first costs one.
int integers_of(const Kernel& kernel);

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

// `pattern` as often as it takes for about `steps` steps. Operations on integers and on vectors
// take the registers of their kind in turns, so that each is independent of its neighbours.
Kernel independent_kernel(Isa isa, int streams, const std::vector<Step>& pattern, int steps);

// `pattern` so many times, all of it on the registers that it names.
Kernel repeated_kernel(Isa isa, int streams, const std::vector<Step>& pattern, int times);

// Two chases with `fillers` independent operations after each.
Kernel spaced_chases_kernel(int fillers);

// `count` chases of pointers that lie side by side in memory.
Kernel slots_kernel(int count);

// sqrt and bit_or in turns: alone, sqrt would run into 1 and stay there.
Kernel sqrt_chain_kernel(int count);

}  // namespace loft::machine
