// The sizes of a counter unit, and where its registers lie.
//
//   Geometry sizes;                      // Blue Gene/P: 256 counters of 12 + 52 bits
//   sizes.counters = 64;
//   LOFT_CHECK(check(sizes));            // refuses what cannot count exactly, with the arithmetic
//   bus.write(counter_address(sizes, 3), 0);
#pragma once

#include <bit>
#include <cstdint>

#include "base/result.hpp"

namespace loft::upc {

inline constexpr unsigned kBlockWords = 4;  // the model counts 256 lines at once

struct Geometry {
  unsigned counters = 256;
  unsigned inputs = 4;            // event lines that each counter can choose from
  unsigned low_bits = 12;         // counted in registers, at up to one event a cycle
  unsigned high_bits = 52;        // kept in the memory
  unsigned cycles_per_word = 16;  // of the state machine, for each word of the memory
  unsigned group = 4;             // counters that share one configuration word

  [[nodiscard]] unsigned events() const { return counters * inputs; }
  [[nodiscard]] std::uint64_t carry_period() const { return std::uint64_t{1} << low_bits; }
  // Cycles until the state machine is back at the same word.
  [[nodiscard]] std::uint64_t round() const { return std::uint64_t{counters} * cycles_per_word; }
  [[nodiscard]] std::uint64_t low_mask() const { return carry_period() - 1; }
  [[nodiscard]] std::uint64_t high_mask() const { return ~std::uint64_t{0} >> (64 - high_bits); }
  // Of a whole counter.
  [[nodiscard]] std::uint64_t value_mask() const {
    return ~std::uint64_t{0} >> (64 - low_bits - high_bits);
  }

  // Event E is input E / counters of counter E % counters.
  [[nodiscard]] unsigned counter_of(unsigned event) const { return event % counters; }
  [[nodiscard]] unsigned input_of(unsigned event) const { return event / counters; }

  // Input lines come as `inputs` planes with one bit for each counter, in whole blocks.
  [[nodiscard]] unsigned plane_words() const {
    return (counters + 64 * kBlockWords - 1) / (64 * kBlockWords) * kBlockWords;
  }
  [[nodiscard]] unsigned input_words() const { return inputs * plane_words(); }

  bool operator==(const Geometry&) const = default;
};

// The state machine reads a word, adds and compares, and writes it back; at least one cycle of each
// visit is left for the bus.
inline constexpr unsigned kVisitCycles = 3;
inline constexpr unsigned kMostCounters = 32768;
inline constexpr unsigned kMostInputs = 32;
inline constexpr unsigned kMostCyclesPerWord = 255;
inline constexpr unsigned kMostLowBits = 32;
inline constexpr unsigned kConfigurationBits = 8;  // of each counter
inline constexpr unsigned kMostGroup = 64 / kConfigurationBits;

[[nodiscard]] Result<void> check(const Geometry& sizes);

// Registers are 64-bit words. Four regions of equal size follow each other: control, counters,
// thresholds, configuration.
[[nodiscard]] inline unsigned region_words(const Geometry& sizes) {
  return std::bit_ceil(sizes.counters < 16 ? 16u : sizes.counters);
}
[[nodiscard]] inline unsigned address_words(const Geometry& sizes) {
  return 4 * region_words(sizes);
}

inline constexpr unsigned kControlAddress = 0;   // bit 0: all counters count
inline constexpr unsigned kStatusAddress = 1;    // parity errors
inline constexpr unsigned kGeometryAddress = 2;  // the sizes; read-only
inline constexpr unsigned kPendingAddress = 8;   // interrupts, 64 counters a word; 1 clears

[[nodiscard]] inline unsigned counter_address(const Geometry& sizes, unsigned counter) {
  return region_words(sizes) + counter;
}
[[nodiscard]] inline unsigned threshold_address(const Geometry& sizes, unsigned counter) {
  return 2 * region_words(sizes) + counter;
}
[[nodiscard]] inline unsigned configuration_address(const Geometry& sizes, unsigned counter) {
  return 3 * region_words(sizes) + counter / sizes.group;
}
[[nodiscard]] inline unsigned groups(const Geometry& sizes) {
  return (sizes.counters + sizes.group - 1) / sizes.group;
}
[[nodiscard]] inline unsigned pending_words(const Geometry& sizes) {
  return (sizes.counters + 63) / 64;
}

// The status register: which memory had a word with wrong parity, and the first such word.
inline constexpr std::uint64_t kCounterParityError = 1;
inline constexpr std::uint64_t kThresholdParityError = 2;
inline constexpr unsigned kStatusIndexShift = 32;

// The geometry register, from which software learns the sizes.
[[nodiscard]] std::uint64_t geometry_word(const Geometry& sizes);
[[nodiscard]] Result<Geometry> geometry_of_word(std::uint64_t word);

// When a counter counts.
enum class Mode : std::uint8_t { rising = 0, falling = 1, high = 2, low = 3 };

// One counter's field of a configuration word.
struct CounterSetup {
  Mode mode = Mode::rising;
  unsigned input = 0;
  bool interrupt = false;

  bool operator==(const CounterSetup&) const = default;
};
[[nodiscard]] std::uint64_t setup_bits(const CounterSetup& setup);
[[nodiscard]] CounterSetup setup_of_bits(std::uint64_t bits);

}  // namespace loft::upc
