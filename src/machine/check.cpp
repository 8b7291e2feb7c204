#include "machine/check.hpp"

#include <algorithm>
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

// How far behind a pointer the kernel reaches.
std::size_t farthest(const Kernel& kernel) {
  std::int32_t most = 0;
  for (const Step& step : kernel.body) most = std::max(most, step.offset);
  return static_cast<std::size_t>(most + 63) / 64 * 64;
}

// Streams of three trips each, so that five trips go round; every byte differs from its neighbours.
struct Bench {
  explicit Bench(const Kernel& kernel)
      : vectors(std::make_unique<Vectors>()),
        span(std::max<std::size_t>(3 * std::size_t{kernel.stride}, farthest(kernel) + 64)),
        memory(span * static_cast<std::size_t>(std::max(kernel.streams, 1)) + 64) {
    fill_vectors(vectors->bytes, kernel.precision);
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    std::byte* first = memory.data() + (64 - start % 64) % 64;
    for (std::size_t i = 0; i < memory.size() - 64; ++i)
      first[i] = static_cast<std::byte>(i * 7 + i / 251);
    arguments.trips = kTrips;
    arguments.span = span;
    for (int i = 0; i < kIntegers; ++i)
      arguments.integers[i] = 0x9E3779B97F4A7C15 * static_cast<std::uint64_t>(i + 1);
    arguments.p = 0x10001;
    arguments.q = 6364136223846793005;
    arguments.r = 1442695040888963407;
    arguments.vectors = vectors->bytes;
    for (int stream = 0; stream < kernel.streams; ++stream)
      arguments.streams[stream] = first + span * static_cast<std::size_t>(stream);
    // Pointers that point to themselves.
    for (int stream = 0; stream < kernel.streams && kernel.uses(Op::chase); ++stream)
      std::memcpy(arguments.streams[stream], &arguments.streams[stream], sizeof first);
    for (std::byte* slot = first; kernel.uses(Op::slot_chase) && slot < first + span; slot += 8)
      std::memcpy(slot, &slot, sizeof slot);
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
  if (kernel.uses(Op::chase) || kernel.uses(Op::slot_chase) || kernel.streams == 0) return true;
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

Result<void> check(const Kernel& kernel, const Code& code) {
  Bench run(kernel);
  Bench expected(kernel);
  const std::byte* run_first = run.arguments.streams[0];
  const std::byte* expected_first = expected.arguments.streams[0];
  code.run(run.arguments);
  interpret(kernel, expected.arguments);
  if (run.arguments.position == expected.arguments.position &&
      std::ranges::equal(run.arguments.integers, expected.arguments.integers) &&
      registers_agree(kernel, run, expected) &&
      memory_agrees(kernel, run, run_first, expected, expected_first))
    return {};
  return failure(ErrorKind::internal, "trust a kernel",
                 "its result differs from what its operations give",
                 "please report this with the CPU's name");
}

}  // namespace loft::machine
