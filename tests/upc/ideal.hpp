// What the unit must agree with: counters of full width, written down as plainly as possible. And
// generators of units and of what happens to them.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <random>
#include <vector>

#include "upc/unit.hpp"

namespace loft::upc {

// Lines of one cycle.
class Lines {
 public:
  explicit Lines(const Geometry& sizes) : sizes_(sizes), words_(sizes.input_words()) {}

  void set(unsigned event, bool high) {
    std::uint64_t& word = words_[position(event)];
    const std::uint64_t bit = std::uint64_t{1} << sizes_.counter_of(event) % 64;
    word = high ? word | bit : word & ~bit;
  }
  [[nodiscard]] bool get(unsigned event) const {
    return (words_[position(event)] >> sizes_.counter_of(event) % 64 & 1) != 0;
  }
  void set_all(bool high) {
    for (std::uint64_t& word : words_) word = high ? ~std::uint64_t{0} : 0;
  }
  // Each line is high with this probability.
  void fill(std::mt19937_64& random, double density) {
    std::bernoulli_distribution high(density);
    for (unsigned event = 0; event < sizes_.events(); ++event) set(event, high(random));
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  [[nodiscard]] std::size_t position(unsigned event) const {
    return std::size_t{sizes_.input_of(event)} * sizes_.plane_words() +
           sizes_.counter_of(event) / 64;
  }

  Geometry sizes_;
  std::vector<std::uint64_t> words_;
};

class IdealCounter {
 public:
  void configure(const CounterSetup& setup) {
    setup_ = setup;
    has_before_ = false;
  }
  void write(std::uint64_t value) { value_ = value; }

  // One cycle of counter `index`; gives whether it counted.
  bool step(const Geometry& sizes, unsigned index, const Lines& lines, bool run) {
    const bool level =
        setup_.input < sizes.inputs && lines.get(setup_.input * sizes.counters + index);
    const bool counts = run && counts_at(level);
    before_ = level;
    has_before_ = true;
    if (counts) value_ = (value_ + 1) & sizes.value_mask();
    return counts;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  [[nodiscard]] bool counts_at(bool level) const {
    switch (setup_.mode) {
      case Mode::rising:
        return has_before_ && !before_ && level;
      case Mode::falling:
        return has_before_ && before_ && !level;
      case Mode::high:
        return level;
      case Mode::low:
        return !level;
    }
    return false;
  }

  CounterSetup setup_;
  bool before_ = false;
  bool has_before_ = false;
  std::uint64_t value_ = 0;
};

// A unit that passes check(), small enough that every counter wraps within a test.
inline Geometry any_geometry() {
  Geometry sizes;
  sizes.low_bits = *rc::gen::inRange(3u, 8u);
  sizes.high_bits = *rc::gen::inRange(1u, 9u);
  sizes.cycles_per_word = *rc::gen::inRange(4u, (1u << sizes.low_bits) + 1);
  sizes.counters = *rc::gen::inRange(1u, (1u << sizes.low_bits) / sizes.cycles_per_word + 1);
  sizes.inputs = *rc::gen::inRange(1u, 5u);
  sizes.group = *rc::gen::inRange(1u, 9u);
  RC_ASSERT(check(sizes).has_value());
  return sizes;
}

// The state machine has no cycle to spare: it is back exactly when the low bits can carry again.
inline Geometry tightest_geometry() {
  Geometry sizes;
  sizes.low_bits = *rc::gen::inRange(3u, 8u);
  sizes.high_bits = *rc::gen::inRange(4u, 9u);
  const unsigned log_counters = *rc::gen::inRange(0u, sizes.low_bits - 1);
  sizes.counters = 1u << log_counters;
  sizes.cycles_per_word = 1u << (sizes.low_bits - log_counters);
  RC_ASSERT(sizes.round() == sizes.carry_period());
  RC_ASSERT(check(sizes).has_value());
  return sizes;
}

inline void wait_until_ready(Unit& unit, const Lines& lines) {
  while (!unit.pins().ready) unit.step(lines.words());
}

}  // namespace loft::upc
