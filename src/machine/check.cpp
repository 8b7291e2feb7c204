#include "machine/check.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace loft::machine {
namespace {

constexpr std::size_t kFirstAccumulator = 2;
constexpr std::uint64_t kTrips = 5;

struct Vectors {
  alignas(64) std::byte bytes[kVectorStateBytes];
};

template <class Real>
Real lane(const std::byte* vectors, std::size_t reg, std::size_t index) {
  Real value;
  std::memcpy(&value, vectors + reg * kMaxVectorBytes + index * sizeof value, sizeof value);
  return value;
}

template <class Real>
void fill(std::byte* vectors, Real m, Real a) {
  for (std::size_t reg = 0; reg < kMaxRegisters; ++reg) {
    for (std::size_t at = 0; at < kMaxVectorBytes / sizeof(Real); ++at) {
      const Real value = reg == 0   ? m
                         : reg == 1 ? a
                                    : Real(1) + static_cast<Real>(reg) / Real(64) +
                                          static_cast<Real>(at) / Real(1024);
      std::memcpy(vectors + reg * kMaxVectorBytes + at * sizeof value, &value, sizeof value);
    }
  }
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
    std::memcpy(vectors + reg * kMaxVectorBytes + at * sizeof result, &result, sizeof result);
  }
}

void integer(const Step& step, Arguments& arguments) {
  std::uint64_t& i = arguments.accumulator;
  std::uint64_t word = 0;
  switch (step.op) {
    case Op::int_add:
      i += arguments.p;
      return;
    case Op::int_div:
      i = i / arguments.p | arguments.q;
      return;
    case Op::lcg_branch:
      i = i * arguments.q + arguments.r;
      return;
    case Op::atomic_add:
      std::memcpy(&word, arguments.streams[0] + step.offset, sizeof word);
      word += arguments.p;
      std::memcpy(arguments.streams[0] + step.offset, &word, sizeof word);
      return;
    case Op::chase:
      std::memcpy(&arguments.streams[0], arguments.streams[0] + step.offset, sizeof(std::byte*));
      return;
    default:
      return;
  }
}

void one_step(const Kernel& kernel, const Step& step, Arguments& arguments) {
  std::byte* reg = arguments.vectors + (step.reg + kFirstAccumulator) * kMaxVectorBytes;
  std::byte* memory = arguments.streams[step.stream] + arguments.position + step.offset;
  switch (step.op) {
    case Op::add:
    case Op::mul:
    case Op::fma:
    case Op::fma_into:
    case Op::div:
    case Op::sqrt:
    case Op::sqrt_of_m:
    case Op::bit_or:
      if (kernel.precision == Precision::dp)
        return arithmetic<double>(kernel, step, arguments.vectors);
      return arithmetic<float>(kernel, step, arguments.vectors);
    case Op::load:
      std::memcpy(reg, memory, kernel.vector_bytes());
      return;
    case Op::store:
    case Op::nt_store:
      std::memcpy(memory, reg, kernel.vector_bytes());
      return;
    default:
      return integer(step, arguments);
  }
}

// Streams of three trips each, so that five trips go round; every byte differs from its neighbours.
struct Bench {
  explicit Bench(const Kernel& kernel)
      : vectors(std::make_unique<Vectors>()),
        span(std::max<std::size_t>(3 * std::size_t{kernel.stride}, 64)),
        memory(span * static_cast<std::size_t>(std::max(kernel.streams, 1)) + 64) {
    fill_vectors(vectors->bytes, kernel.precision);
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    std::byte* first = memory.data() + (64 - start % 64) % 64;
    for (std::size_t i = 0; i < memory.size() - 64; ++i)
      first[i] = static_cast<std::byte>(i * 7 + i / 251);
    arguments.trips = kTrips;
    arguments.span = span;
    arguments.accumulator = 0x9E3779B97F4A7C15;
    arguments.p = 0x10001;
    arguments.q = 6364136223846793005;
    arguments.r = 1442695040888963407;
    arguments.vectors = vectors->bytes;
    for (int stream = 0; stream < kernel.streams; ++stream)
      arguments.streams[stream] = first + span * static_cast<std::size_t>(stream);
    if (kernel.uses(Op::chase)) std::memcpy(first, &first, sizeof first);
  }

  std::unique_ptr<Vectors> vectors;
  std::size_t span;
  std::vector<std::byte> memory;
  Arguments arguments;
};

bool registers_agree(const Kernel& kernel, const Bench& run, const Bench& expected) {
  for (std::size_t reg = 0;
       reg < kFirstAccumulator + static_cast<std::size_t>(accumulators(kernel.isa)); ++reg)
    if (std::memcmp(run.vectors->bytes + reg * kMaxVectorBytes,
                    expected.vectors->bytes + reg * kMaxVectorBytes, kernel.vector_bytes()) != 0)
      return false;
  return true;
}

// The memory behind both, from the first stream on: pointers differ, contents may not.
bool memory_agrees(const Kernel& kernel, const Bench& run, const std::byte* run_first,
                   const Bench& expected, const std::byte* expected_first) {
  if (kernel.uses(Op::chase) || kernel.streams == 0) return true;
  return run.span == expected.span &&
         std::memcmp(run_first, expected_first,
                     run.span * static_cast<std::size_t>(kernel.streams)) == 0;
}

}  // namespace

void fill_vectors(std::byte* vectors, Precision precision) {
  if (precision == Precision::dp)
    fill<double>(vectors, 1.0 + 0x155555 * 0x1p-52, 0x1p-30);
  else
    fill<float>(vectors, 1.0F + 5 * 0x1p-23F, 0x1p-20F);
}

void interpret(const Kernel& kernel, Arguments& arguments) {
  for (std::uint64_t trip = 0; trip < arguments.trips; ++trip) {
    for (const Step& step : kernel.body) one_step(kernel, step, arguments);
    arguments.position += kernel.stride;
    if (kernel.stride != 0 && arguments.position >= arguments.span) arguments.position = 0;
  }
}

Result<void> check(const Kernel& kernel, const Code& code) {
  Bench run(kernel);
  Bench expected(kernel);
  const std::byte* run_first = run.arguments.streams[0];
  const std::byte* expected_first = expected.arguments.streams[0];
  code.run(run.arguments);
  interpret(kernel, expected.arguments);
  if (run.arguments.position == expected.arguments.position &&
      run.arguments.accumulator == expected.arguments.accumulator &&
      registers_agree(kernel, run, expected) &&
      memory_agrees(kernel, run, run_first, expected, expected_first))
    return {};
  return failure(ErrorKind::internal, "trust a kernel",
                 "its result differs from what its operations give",
                 "please report this with the CPU's name");
}

}  // namespace loft::machine
