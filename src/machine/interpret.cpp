// What kernels compute, step by step, in plain C++.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/check.hpp"

namespace loft::machine {
namespace {

constexpr std::size_t kFirstAccumulator = 2;

template <class Real>
Real lane(const std::byte* vectors, std::size_t reg, std::size_t index) {
  Real value;
  std::memcpy(&value, vectors + reg * kMaxVectorBytes + index * sizeof value, sizeof value);
  return value;
}

template <class Real>
void set_lane(std::byte* vectors, std::size_t reg, std::size_t index, Real value) {
  std::memcpy(vectors + reg * kMaxVectorBytes + index * sizeof value, &value, sizeof value);
}

// The bits of a or b.
template <class Real,
          class Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>>
Real bits_of_either(Real a, Real b) {
  return std::bit_cast<Real>(static_cast<Bits>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b)));
}

template <class Real>
Real result_of(Op op, Real value, Real m, Real a) {
  switch (op) {
    case Op::add:
      return value + a;
    case Op::mul:
      return value * m;
    case Op::fma:
      return std::fma(value, m, a);
    case Op::fma_into:
      return std::fma(m, a, value);
    case Op::div:
      return value / m;
    case Op::sqrt_of_m:
      return std::sqrt(m);
    case Op::bit_or:
      return bits_of_either(value, m);
    default:
      return std::sqrt(value);
  }
}

template <class Real>
void arithmetic(const Kernel& kernel, const Step& step, std::byte* vectors) {
  const std::size_t reg = step.reg + kFirstAccumulator;
  for (std::size_t at = 0; at < kernel.lanes(); ++at) {
    const Real result = result_of(step.op, lane<Real>(vectors, reg, at), lane<Real>(vectors, 0, at),
                                  lane<Real>(vectors, 1, at));
    set_lane(vectors, reg, at, result);
  }
}

// On pairs of integers: also scalar kernels move 128 bits.
void vector_integer(const Kernel& kernel, const Step& step, std::byte* vectors) {
  const std::size_t reg = step.reg + kFirstAccumulator;
  for (std::size_t at = 0; at < std::max<std::size_t>(kernel.vector_bytes(), 16) / 8; at += 2) {
    const std::uint64_t pair[2] = {lane<std::uint64_t>(vectors, reg, at),
                                   lane<std::uint64_t>(vectors, reg, at + 1)};
    for (std::size_t half = 0; half < 2; ++half) {
      const auto m = lane<std::uint64_t>(vectors, 0, at + half);
      const auto a = lane<std::uint64_t>(vectors, 1, at + half);
      const std::uint64_t low = pair[half] & 0xFFFFFFFF;
      set_lane(vectors, reg, at + half,
               step.op == Op::swap_halves      ? pair[1 - half]
               : step.op == Op::vector_int_add ? pair[half] + a
                                               : low * (m & 0xFFFFFFFF));
    }
  }
}

void between_files(const Step& step, Arguments& arguments) {
  const std::size_t reg = step.reg + kFirstAccumulator;
  std::uint64_t& integer = arguments.integers[step.reg];
  switch (step.op) {
    case Op::int_to_double:
      return set_lane(arguments.vectors, reg, 0,
                      static_cast<double>(static_cast<std::int64_t>(integer)));
    case Op::double_to_int:
      integer = static_cast<std::uint64_t>(
          static_cast<std::int64_t>(lane<double>(arguments.vectors, reg, 0)));
      return;
    case Op::int_to_vector:
      return set_lane(arguments.vectors, reg, 0, integer);
    default:
      integer = lane<std::uint64_t>(arguments.vectors, reg, 0);
  }
}

void integer_arithmetic(const Step& step, Arguments& arguments) {
  std::uint64_t& integer = arguments.integers[step.reg];
  std::uint64_t& first = arguments.integers[0];
  switch (step.op) {
    case Op::int_add:
      integer += arguments.p;
      return;
    case Op::int_mul:
      integer *= arguments.p;
      return;
    case Op::int_lea:
      integer += 4 * arguments.p + 8;
      return;
    case Op::int_rotate:
      integer = std::rotr(integer, 7);
      return;
    case Op::int_compare:
      return;
    case Op::int_div_of_q:
      first = arguments.q / arguments.p;
      return;
    default:
      first = first / arguments.p | arguments.q;
  }
}

void integer_memory(const Step& step, Arguments& arguments) {
  std::uint64_t& integer = arguments.integers[step.reg];
  std::byte*& pointer = arguments.streams[step.stream];
  std::byte* const memory = pointer + step.offset;
  std::uint64_t word = 0;
  switch (step.op) {
    case Op::int_load:
      std::memcpy(&integer, memory, 8);
      return;
    case Op::int_store:
      std::memcpy(memory, &integer, 8);
      return;
    case Op::int_load_half:
      integer = 0;
      std::memcpy(&integer, memory, 4);
      return;
    case Op::int_store_half:
      std::memcpy(memory, &integer, 4);
      return;
    case Op::atomic_add:
      std::memcpy(&word, memory, sizeof word);
      word += arguments.p;
      std::memcpy(memory, &word, sizeof word);
      return;
    case Op::slot_chase: {
      const std::byte* at = nullptr;
      std::memcpy(&at, memory, 8);
      std::memcpy(memory, at, 8);
      return;
    }
    default:
      std::memcpy(&pointer, memory, sizeof pointer);
  }
}

void one_step(const Kernel& kernel, const Step& step, Arguments& arguments) {
  std::byte* reg = arguments.vectors + (step.reg + kFirstAccumulator) * kMaxVectorBytes;
  switch (kind_of(step.op)) {
    case OpKind::arithmetic:
      if (kernel.precision == Precision::dp)
        return arithmetic<double>(kernel, step, arguments.vectors);
      return arithmetic<float>(kernel, step, arguments.vectors);
    case OpKind::vector_memory: {
      std::byte* memory = arguments.streams[step.stream] + arguments.position + step.offset;
      const bool is_load = step.op == Op::load;
      std::memcpy(is_load ? reg : memory, is_load ? memory : reg, kernel.vector_bytes());
      return;
    }
    case OpKind::vector_integer:
      return vector_integer(kernel, step, arguments.vectors);
    case OpKind::between_files:
      return between_files(step, arguments);
    case OpKind::integer_arithmetic:
      return integer_arithmetic(step, arguments);
    case OpKind::integer_memory:
      return integer_memory(step, arguments);
    case OpKind::control:
      if (step.op == Op::lcg_branch)
        arguments.integers[0] = arguments.integers[0] * arguments.q + arguments.r;
      return;
  }
}

}  // namespace

void interpret(const Kernel& kernel, Arguments& arguments) {
  for (std::uint64_t trip = 0; trip < arguments.trips; ++trip) {
    for (const Step& step : kernel.body) one_step(kernel, step, arguments);
    arguments.position += kernel.stride;
    if (kernel.stride != 0 && arguments.position >= arguments.span) arguments.position = 0;
  }
}

}  // namespace loft::machine
