// The hardware of rtl/, simulated by Verilator, in step with the model: every cycle is compared,
// ports and state. `Top` is the class that Verilator made for one set of sizes, `Root` its insides.
#pragma once

#include <gtest/gtest.h>
#include <verilated.h>

#include <bit>
#include <memory>
#include <random>
#include <type_traits>

#include "upc/bus.hpp"
#include "upc/unit.hpp"

namespace loft::upc {

// Verilator keeps up to 64 bits in an integer and more in 32-bit words.
template <class Signal>
bool signal_bit(const Signal& signal, unsigned bit) {
  if constexpr (std::is_integral_v<Signal>)
    return (std::uint64_t{signal} >> bit & 1) != 0;
  else
    return (signal[bit / 32] >> bit % 32 & 1) != 0;
}

template <class Signal>
void set_signal_bit(Signal& signal, unsigned bit, bool value) {
  if constexpr (std::is_integral_v<Signal>)
    signal = static_cast<Signal>((std::uint64_t{signal} & ~(std::uint64_t{1} << bit)) |
                                 std::uint64_t{value} << bit);
  else
    signal[bit / 32] = (signal[bit / 32] & ~(1u << bit % 32)) | unsigned{value} << bit % 32;
}

template <class Top>
class Simulation {
 public:
  explicit Simulation(const Geometry& sizes) : unit_(sizes), lines_(sizes.input_words()) {
    context_.randReset(2);  // memories and registers hold anything at power-on
    top_ = std::make_unique<Top>(&context_, "");
    top_->clock = 0;
    top_->reset = 1;
    top_->request_valid = 0;
    for (unsigned event = 0; event < sizes.events(); ++event) set_line(event, false);
    top_->eval();
    clock();
    top_->reset = 0;
  }

  [[nodiscard]] Unit& model() { return unit_; }
  [[nodiscard]] const Geometry& sizes() const { return unit_.geometry(); }
  [[nodiscard]] std::span<const std::uint64_t> lines() const { return lines_; }

  void set_line(unsigned event, bool high) {
    set_signal_bit(top_->events, event, high);
    const unsigned counter = sizes().counter_of(event);
    std::uint64_t& word = lines_[sizes().input_of(event) * sizes().plane_words() + counter / 64];
    word = (word & ~(std::uint64_t{1} << counter % 64)) | std::uint64_t{high} << counter % 64;
  }

  void flip(Unit::Memory memory, unsigned counter, unsigned bit) {
    unit_.flip(memory, counter, bit);
    auto& words = memory == Unit::Memory::counters
                      ? top_->rootp->upc_unit__DOT__values__DOT__words
                      : top_->rootp->upc_unit__DOT__thresholds__DOT__words;
    set_signal_bit(words[counter], bit, !signal_bit(words[counter], bit));
  }

  // One cycle of both. Gives false, with the difference reported, when they differ.
  bool step(const BusRequest& request = {}) {
    top_->request_valid = request.valid;
    top_->request_write = request.write;
    top_->request_address =
        static_cast<std::remove_cvref_t<decltype(top_->request_address)>>(request.address);
    top_->request_data = request.data;
    top_->eval();
    compare_ports();
    clock();
    unit_.step(lines_, request);
    compare_state();
    return !testing::Test::HasFailure();
  }

  [[nodiscard]] Pins pins() const {
    return {top_->request_ready != 0, top_->response_valid != 0, top_->response_data,
            static_cast<BusError>(top_->response_error), top_->irq != 0};
  }

 private:
  void clock() {
    top_->clock = 1;
    top_->eval();
    top_->clock = 0;
    top_->eval();
  }

  void compare_ports() {
    const Pins model = unit_.pins();
    EXPECT_EQ(pins().ready, model.ready) << "cycle " << unit_.cycle();
    EXPECT_EQ(pins().response, model.response) << "cycle " << unit_.cycle();
    EXPECT_EQ(pins().data, model.data) << "cycle " << unit_.cycle();
    EXPECT_EQ(pins().error, model.error) << "cycle " << unit_.cycle();
    EXPECT_EQ(pins().interrupt, model.interrupt) << "cycle " << unit_.cycle();
  }

  void compare_state() {
    const auto& root = *top_->rootp;
    EXPECT_EQ(root.upc_unit__DOT__run != 0, unit_.running()) << "cycle " << unit_.cycle();
    EXPECT_EQ(root.upc_unit__DOT__status, unit_.status() & 3) << "cycle " << unit_.cycle();
    bool same = true;
    const bool cleared = unit_.cycle() >= sizes().counters;
    for (unsigned counter = 0; counter < sizes().counters; ++counter) {
      same &= signal_bit(root.upc_unit__DOT__carry, counter) == unit_.carry(counter);
      same &= signal_bit(root.upc_unit__DOT__armed, counter) == unit_.armed(counter);
      same &= signal_bit(root.upc_unit__DOT__pending, counter) == unit_.pending(counter);
      same &= low(counter) == unit_.low(counter);
      same &=
          !cleared || high(root.upc_unit__DOT__values__DOT__words[counter]) == unit_.high(counter);
      same &= !cleared ||
              high(root.upc_unit__DOT__thresholds__DOT__words[counter]) == unit_.threshold(counter);
      ASSERT_TRUE(same) << "counter " << counter << " in cycle " << unit_.cycle();
    }
  }

  std::uint64_t low(unsigned counter) const {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < sizes().low_bits; ++bit)
      value |= std::uint64_t{signal_bit(top_->rootp->upc_unit__DOT__low,
                                        counter * sizes().low_bits + bit)}
               << bit;
    return value;
  }

  template <class Word>
  std::uint64_t high(const Word& word) const {
    return std::uint64_t{word} & sizes().high_mask();
  }

  VerilatedContext context_;
  std::unique_ptr<Top> top_;
  Unit unit_;
  std::vector<std::uint64_t> lines_;
};

// The registers of the simulated hardware, for the front end.
template <class Top>
class SimulationBus : public Bus {
 public:
  explicit SimulationBus(Simulation<Top>& simulation) : simulation_(simulation) {}

 protected:
  Answer access(const BusRequest& request) override {
    while (!simulation_.pins().ready) simulation_.step();
    simulation_.step(request);
    while (!simulation_.pins().response) simulation_.step();
    return {simulation_.pins().data, simulation_.pins().error};
  }

 private:
  Simulation<Top>& simulation_;
};

// Lines, accesses and upsets at random.
template <class Top>
class RandomPlay {
 public:
  RandomPlay(Simulation<Top>& simulation, std::uint64_t seed)
      : simulation_(simulation), random_(seed) {}

  // `density` of high lines; `traffic`: how often a request is made; `upsets`: how often a bit
  // flips.
  void run(unsigned cycles, double density, double traffic, double upsets) {
    std::bernoulli_distribution high(density);
    std::bernoulli_distribution requests(traffic);
    std::bernoulli_distribution upset(upsets);
    for (unsigned cycle = 0; cycle < cycles; ++cycle) {
      for (unsigned event = 0; event < sizes().events(); ++event)
        simulation_.set_line(event, high(random_));
      if (upset(random_))
        simulation_.flip(draw(2) == 0 ? Unit::Memory::counters : Unit::Memory::thresholds,
                         draw(sizes().counters), draw(sizes().high_bits + 1));
      BusRequest request;
      if (requests(random_)) request = any_request();
      if (!simulation_.step(request)) return;
    }
  }

 private:
  [[nodiscard]] const Geometry& sizes() const { return simulation_.sizes(); }
  unsigned draw(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }

  // Values and thresholds close to each other, so that counters are armed again and again.
  std::uint64_t near_value() { return (std::uint64_t{draw(4)} << sizes().low_bits) - 1 - draw(8); }

  BusRequest any_request() {
    const unsigned counter = draw(sizes().counters);
    switch (draw(12)) {
      case 0:
        return {true, true, counter_address(sizes(), counter), near_value()};
      case 1:
        return {true, true, threshold_address(sizes(), counter), near_value()};
      case 2:  // mostly levels, with interrupts
        return {true, true, configuration_address(sizes(), counter),
                random_() | 0x8282828282828282};
      case 3:
        return {true, true, kControlAddress, std::uint64_t{draw(8) != 0}};
      case 4:
        return {true, true, kPendingAddress, random_()};
      case 5:
        return {true, true, kStatusAddress, draw(4)};
      case 6:
        return {true, false, threshold_address(sizes(), counter), 0};
      case 7:
        return {true, draw(4) == 0, draw(address_words(sizes())), random_()};
      default:
        return {true, false, counter_address(sizes(), counter), 0};
    }
  }

  Simulation<Top>& simulation_;
  std::mt19937_64 random_;
};

// Every line high in every cycle and every counter busy, with a threshold in each; the bus asks
// without a pause.
template <class Top>
void play_worst_case(Simulation<Top>& simulation, unsigned rounds) {
  const Geometry sizes = simulation.sizes();
  SimulationBus<Top> bus(simulation);
  for (unsigned event = 0; event < sizes.events(); ++event) simulation.set_line(event, true);
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    ASSERT_TRUE(bus.write(configuration_address(sizes, counter), 0x8282828282828282));
    ASSERT_TRUE(bus.write(threshold_address(sizes, counter),
                          std::uint64_t{counter % 3 + 1} << sizes.low_bits));
    ASSERT_TRUE(bus.write(counter_address(sizes, counter), counter * 7 & sizes.low_mask()));
  }
  ASSERT_TRUE(bus.write(kControlAddress, 1));
  unsigned counter = 0;
  for (std::uint64_t cycle = 0; cycle < rounds * sizes.round(); ++cycle) {
    if (!simulation.step({true, false, counter_address(sizes, counter), 0})) return;
    counter = (counter + 1) % sizes.counters;
  }
  for (counter = 0; counter < sizes.counters && rounds > 4; ++counter)
    EXPECT_TRUE(simulation.model().pending(counter)) << counter;
}

}  // namespace loft::upc
