// Plays a stimulus on a unit that is set up as a configuration says, and tells what happened when.
//
//   LOFT_TRY(const auto played, play(setup, stimulus, 1000));
//   for (const Reading& reading : played.readings) ...
#pragma once

#include <optional>
#include <vector>

#include "upc/stimulus.hpp"

namespace loft::upc {

// All counters in the order of Setup::events, exactly as they were after this many cycles. A
// counter whose memory word was upset has no count.
struct Reading {
  std::uint64_t cycle = 0;
  std::vector<std::optional<std::uint64_t>> counts;
};

struct Interrupt {
  std::uint64_t cycle = 0;  // after which the interrupt was pending
  std::size_t event = 0;    // of Setup::events
  std::uint64_t count = 0;  // what the counter had come to
};

struct ParityReport {
  std::uint64_t cycle = 0;
  unsigned counter = 0;
};

struct Played {
  std::uint64_t cycles = 0;  // counted from the start; those of the set-up are not
  std::vector<Reading> readings;
  std::vector<Interrupt> interrupts;
  std::vector<ParityReport> parity_errors;
};

inline constexpr std::uint64_t kMostReadings = 1'000'000;  // of all counters together
inline constexpr std::size_t kMostInterrupts = 1'000'000;

// A reading every `every` cycles (0: none but the last). Counting is on when the stimulus begins.
[[nodiscard]] Result<Played> play(const Setup& setup, const Stimulus& stimulus,
                                  std::uint64_t every);

}  // namespace loft::upc
