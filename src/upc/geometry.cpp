#include "upc/geometry.hpp"

#include <fmt/format.h>

namespace loft::upc {
namespace {

constexpr unsigned kLayoutVersion = 1;

Failure refused(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "build the counter unit", std::move(why),
                 std::move(hint));
}

Result<void> within(const char* name, unsigned value, unsigned least, unsigned most) {
  if (value >= least && value <= most) return {};
  return refused(fmt::format("{} is {}", name, value), fmt::format("choose {} to {}", least, most));
}

}  // namespace

Result<void> check(const Geometry& sizes) {
  LOFT_CHECK(within("counters", sizes.counters, 1, kMostCounters));
  LOFT_CHECK(within("inputs", sizes.inputs, 1, kMostInputs));
  LOFT_CHECK(within("low-bits", sizes.low_bits, 2, kMostLowBits));
  LOFT_CHECK(within("high-bits", sizes.high_bits, 1, 62));
  LOFT_CHECK(within("group", sizes.group, 1, kMostGroup));
  LOFT_CHECK(within("cycles-per-word", sizes.cycles_per_word, 1, kMostCyclesPerWord));
  if (sizes.low_bits + sizes.high_bits > 64)
    return refused(fmt::format("{} low + {} high = {} bits, and a register has 64", sizes.low_bits,
                               sizes.high_bits, sizes.low_bits + sizes.high_bits),
                   fmt::format("give at most {} high bits", 64 - sizes.low_bits));
  if (sizes.cycles_per_word <= kVisitCycles)
    return refused(
        fmt::format("a visit takes {} cycles (read, add, write) + 1 for the bus = {}, and each "
                    "word has {}",
                    kVisitCycles, kVisitCycles + 1, sizes.cycles_per_word),
        fmt::format("give at least {} cycles per word", kVisitCycles + 1));
  if (sizes.round() > sizes.carry_period())
    return refused(
        fmt::format("{} counters x {} cycles a word = {} cycles until the state machine is back, "
                    "and {} low bits carry out after 2^{} = {} cycles: a carry would be lost",
                    sizes.counters, sizes.cycles_per_word, sizes.round(), sizes.low_bits,
                    sizes.low_bits, sizes.carry_period()),
        fmt::format("give at least {} low bits, or fewer counters, or fewer cycles per word",
                    std::bit_width(sizes.round() - 1)));
  return {};
}

std::uint64_t geometry_word(const Geometry& sizes) {
  return std::uint64_t{kLayoutVersion} << 56 | std::uint64_t{sizes.group} << 48 |
         std::uint64_t{sizes.cycles_per_word} << 40 | std::uint64_t{sizes.high_bits} << 32 |
         std::uint64_t{sizes.low_bits} << 24 | std::uint64_t{sizes.inputs} << 16 |
         std::uint64_t{sizes.counters};
}

Result<Geometry> geometry_of_word(std::uint64_t word) {
  const auto field = [word](unsigned shift) { return static_cast<unsigned>(word >> shift & 0xFF); };
  if (field(56) != kLayoutVersion)
    return failure(ErrorKind::unsupported, "use the counter unit",
                   fmt::format("its registers have layout {}", field(56)),
                   fmt::format("this program knows layout {}", kLayoutVersion));
  const Geometry sizes{
      static_cast<unsigned>(word & 0xFFFF), field(16), field(24), field(32), field(40), field(48)};
  LOFT_CHECK(check(sizes));
  return sizes;
}

// Bits 1:0 mode, 6:2 input, 7 interrupt enable.
std::uint64_t setup_bits(const CounterSetup& setup) {
  return static_cast<std::uint64_t>(setup.mode) | std::uint64_t{setup.input & 31u} << 2 |
         std::uint64_t{setup.interrupt} << 7;
}

CounterSetup setup_of_bits(std::uint64_t bits) {
  return {static_cast<Mode>(bits & 3), static_cast<unsigned>(bits >> 2 & 31), (bits >> 7 & 1) != 0};
}

}  // namespace loft::upc
