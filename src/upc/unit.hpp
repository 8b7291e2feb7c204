// The counter unit of Blue Gene/P, bit for bit and cycle by cycle (docs/counter-unit.md). rtl/ has
// the same as hardware; a test compares both in every cycle.
//
//   Unit unit(Geometry{});
//   unit.step(inputs);                       // one cycle, with the event lines as they are in it
//   unit.step(inputs, {true, false, address, 0});
//   if (unit.pins().response) use(unit.pins().data);
//
// A counter is split: its low bits are in registers that take an event in every cycle, its high
// bits in a memory. A carry latch stands between them until the state machine, which visits one
// word of the memory after the other, adds it. A second memory holds thresholds; where the high
// bits equal the threshold's, the counter is armed, and its next carry-out is the interrupt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "upc/event_counters.hpp"
#include "upc/geometry.hpp"

namespace loft::upc {

// What the bus master drives in a cycle. It is taken in a cycle in which `ready` is set too.
struct BusRequest {
  bool valid = false;
  bool write = false;
  unsigned address = 0;  // in words
  std::uint64_t data = 0;
};

enum class BusError : std::uint8_t { none = 0, parity = 1, address = 2 };

// What the unit drives in a cycle. The answer to a request comes two cycles after it was taken.
struct Pins {
  bool ready = false;
  bool response = false;
  std::uint64_t data = 0;
  BusError error = BusError::none;
  bool interrupt = false;  // one is pending, or a parity error is
};

class Unit {
 public:
  // `sizes` must have passed check().
  explicit Unit(const Geometry& sizes);

  [[nodiscard]] const Geometry& geometry() const { return sizes_; }
  [[nodiscard]] Pins pins() const;
  void step(std::span<const std::uint64_t> inputs, const BusRequest& request = {});
  [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

  // As so many cycles in which this counter alone counts an event, in a few: for sources that count
  // by themselves and come with sums. Lines are low meanwhile. Nothing while the unit is stopped.
  void add(unsigned counter, std::uint64_t events);

  // What is in the registers, for those who look at the unit and not through its bus.
  [[nodiscard]] std::uint64_t value(unsigned counter) const;  // a carry that waits included
  [[nodiscard]] std::uint64_t low(unsigned counter) const { return counters_.low(counter); }
  [[nodiscard]] std::uint64_t high(unsigned counter) const { return values_[counter].data; }
  [[nodiscard]] std::uint64_t threshold(unsigned counter) const { return limits_[counter].data; }
  // False where the memory word has wrong parity: the value is not known.
  [[nodiscard]] bool is_sound(unsigned counter) const { return !values_[counter].is_wrong(); }
  [[nodiscard]] bool carry(unsigned counter) const { return bit(carry_, counter); }
  [[nodiscard]] bool armed(unsigned counter) const { return bit(armed_, counter); }
  [[nodiscard]] bool pending(unsigned counter) const { return bit(pending_, counter); }
  [[nodiscard]] bool running() const { return run_; }
  [[nodiscard]] std::uint64_t status() const { return status_; }

  // Upsets one bit of a memory, as a particle would; bit `high_bits` is the parity bit.
  enum class Memory { counters, thresholds };
  void flip(Memory memory, unsigned counter, unsigned bit);

 private:
  struct Word {
    std::uint64_t data = 0;
    bool parity = false;  // even: the number of ones of data and parity
    [[nodiscard]] bool is_wrong() const { return (__builtin_parityll(data) != 0) != parity; }
  };
  // What one cycle begins and the next one completes.
  struct Access {
    enum class Kind {
      none,
      visit,  // by the state machine; all others are the bus's
      read_counter,
      write_counter,
      read_threshold,
      write_threshold,
      control,
      configuration,
      bad_address,
    };
    Kind kind = Kind::none;
    unsigned index = 0;        // of the counter, register or group
    bool carry = false;        // to be added to the high bits
    std::uint64_t answer = 0;  // the low bits of a counter; whole registers
  };

  static bool bit(const std::vector<std::uint64_t>& bits, unsigned index) {
    return (bits[index / 64] >> index % 64 & 1) != 0;
  }
  static Word word_of(std::uint64_t data) { return {data, __builtin_parityll(data) != 0}; }

  [[nodiscard]] bool is_ready() const { return !clearing_ && phase_ >= kVisitCycles; }
  [[nodiscard]] Access decode(const BusRequest& request) const;
  [[nodiscard]] Access begin(const BusRequest& request);
  void begin_control(const BusRequest& request, Access& access);
  void complete();
  void note_parity(bool counter_wrong, bool threshold_wrong);
  void latch_carries();
  void end(Access& access, const BusRequest& request);
  void configure(unsigned group, std::uint64_t word);
  void advance_state_machine();
  void clear_word(std::span<const std::uint64_t> inputs);

  Geometry sizes_;
  EventCounters counters_;
  std::vector<Word> values_;  // the memory of high bits
  std::vector<Word> limits_;  // the memory of thresholds
  std::vector<std::uint64_t> carry_;
  std::vector<std::uint64_t> armed_;
  std::vector<std::uint64_t> enabled_;
  std::vector<std::uint64_t> pending_;
  std::vector<std::uint8_t> setups_;
  bool run_ = false;
  std::uint64_t status_ = 0;

  bool clearing_ =
      true;             // the memories hold anything after power-on: their first round writes zeros
  unsigned phase_ = 0;  // of the visit
  unsigned visited_ = 0;

  Access access_;
  Word value_out_;  // of the memories, a cycle after they were read
  Word limit_out_;
  Word sum_;
  bool sum_is_new_ = false;

  bool response_ = false;
  std::uint64_t response_data_ = 0;
  BusError response_error_ = BusError::none;
  std::uint64_t cycle_ = 0;
};

}  // namespace loft::upc
