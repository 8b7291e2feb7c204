// The part of the unit that works in every cycle: input multiplexers, edge detection, low-order
// counters and their carry-out.
//
// All counters advance at once: bit k of every counter's low part is one bit of a plane, 256
// counters to a block, so that an increment is a ripple through the planes. Only the first four
// planes ripple in every cycle. A carry out of these comes at most once in 16 cycles, so it may
// wait that long for the other planes; whether it carries out of them, too, is known at once: it
// does where they are all ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "upc/geometry.hpp"

namespace loft::upc {

class EventCounters {
 public:
  explicit EventCounters(const Geometry& sizes);

  // One cycle. `inputs` has Geometry::input_words words. What carried out is in carry_out()
  // afterwards. The counter `written` (or none, kNoCounter) counts nothing in this cycle.
  static constexpr unsigned kNoCounter = ~0u;
  void step(std::span<const std::uint64_t> inputs, bool run, unsigned written);

  [[nodiscard]] const std::vector<std::uint64_t>& carry_out() const { return carry_out_; }
  [[nodiscard]] bool any_carry_out() const { return any_carry_out_; }

  [[nodiscard]] std::uint64_t low(unsigned counter) const;
  void set_low(unsigned counter, std::uint64_t value);

  // Takes effect in the next cycle, which counts no edge: there is no earlier sample of the input.
  void set_mode(unsigned counter, Mode mode, unsigned input);

 private:
  // One bit for each of 256 counters. How such a type is aligned depends on the processor that is
  // compiled for, and code for both kinds touches it: so it stands in a struct that says it.
  using Block = std::uint64_t __attribute__((vector_size(8 * kBlockWords)));
  struct alignas(8 * kBlockWords) Plane {
    Block bits{};
  };
  struct alignas(8 * kBlockWords) BlockState {
    Block inverted{};   // falling edge and low level
    Block edge{};       // either edge
    Block before{};     // the chosen input in the cycle before
    Block no_before{};  // counters without one
    Block present{};    // the last block may be partly used
    Block waiting{};    // carries out of the fast planes that the slow ones have not got yet
    Block full{};       // counters whose slow planes are all ones
  };

  void count(std::size_t block, const Block& counted);
  void bring_carries(std::size_t block);
  void learn_full(std::size_t block);
  // The same work, once as every processor can do it and once with wide registers.
  void step_here(std::span<const std::uint64_t> inputs, bool run, unsigned written);
  void step_wide(std::span<const std::uint64_t> inputs, bool run, unsigned written);

  std::size_t blocks_;
  unsigned inputs_;  // per counter
  unsigned low_bits_;
  unsigned fast_bits_;
  unsigned cycle_ = 0;  // of those in which carries may wait
  std::vector<BlockState> states_;
  std::vector<Plane> planes_;  // [block][bit]: the low parts
  std::vector<Plane> chosen_;  // [block][input]: which counters look at this input
  std::vector<std::uint64_t> carry_out_;
  bool any_carry_out_ = false;
  bool is_wide_;  // the processor takes a whole block in a register
};

}  // namespace loft::upc
