// Ways to the registers of a counter unit. Software speaks to a Bus and does not see what is behind
// it: the model, the simulated hardware, or a unit that another thread clocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>

#include "upc/unit.hpp"

namespace loft::upc {

class Bus {
 public:
  virtual ~Bus() = default;
  [[nodiscard]] Result<std::uint64_t> read(unsigned address);
  [[nodiscard]] Result<void> write(unsigned address, std::uint64_t data);

 protected:
  struct Answer {
    std::uint64_t data = 0;
    BusError error = BusError::none;
    bool gone = false;  // nobody clocks the unit any more
  };
  virtual Answer access(const BusRequest& request) = 0;
};

// Clocks the unit itself until the answer is there. `inputs` gives the event lines of each cycle
// that this takes.
class DirectBus : public Bus {
 public:
  using Inputs = std::function<std::span<const std::uint64_t>()>;
  DirectBus(Unit& unit, Inputs inputs) : unit_(unit), inputs_(std::move(inputs)) {}

 protected:
  Answer access(const BusRequest& request) override;

 private:
  Unit& unit_;
  Inputs inputs_;
};

// Lets threads read and write the registers of a unit while another thread clocks it and it counts:
//
//   SharedBus bus(unit);
//   std::thread monitor([&] { while (...) use(bus.read(counter_address(sizes, 7))); });
//   while (...) bus.step(inputs);   // this thread alone touches the unit
//   bus.close();                    // accesses fail from here on
class SharedBus : public Bus {
 public:
  explicit SharedBus(Unit& unit) : unit_(unit) {}

  void step(std::span<const std::uint64_t> inputs);
  void close();

 protected:
  Answer access(const BusRequest& request) override;

 private:
  enum class State : int { idle, requested, closed };

  Unit& unit_;
  bool taken_ = false;  // by the unit; its answer is on the way
  std::mutex one_at_a_time_;
  std::atomic<State> state_ = State::idle;
  BusRequest request_;  // the caller's until `requested`, the clock's then
  Answer answer_;
};

}  // namespace loft::upc
