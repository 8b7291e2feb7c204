// What happens on the event lines of a counter unit, as text:
//
//   hold 100 0-3 misses     # 100 cycles with these lines high and all others low
//   pulse 50 7              # high in every other cycle, beginning high
//   random 1000 42 all      # each high at random in each cycle; 42 is the seed
//   repeat 1000             # what follows, up to `end`
//     hold 1 5
//     hold 3
//   end
//   stop                    # also start, reset: over the bus, while the lines stay as they are
//   flip misses 17          # upset a bit of the counter's memory word
#pragma once

#include <string_view>
#include <vector>

#include "upc/setup_file.hpp"

namespace loft::upc {

struct StimulusStep {
  enum class Kind { hold, pulse, random, repeat, start, stop, reset, flip };
  Kind kind = Kind::hold;
  std::uint64_t count = 0;           // cycles; repetitions
  std::uint64_t seed = 0;            // of random
  std::vector<std::uint64_t> lines;  // Geometry::input_words of them
  unsigned counter = 0;              // of flip
  unsigned bit = 0;
  std::vector<StimulusStep> body;  // of repeat
};

struct Stimulus {
  std::vector<StimulusStep> steps;
  std::uint64_t cycles = 0;  // that it takes at most
};

// Refuses one that takes more than `most_cycles`.
[[nodiscard]] Result<Stimulus> parse_stimulus(std::string_view text, std::string_view path,
                                              const Setup& setup, std::uint64_t most_cycles);

}  // namespace loft::upc
