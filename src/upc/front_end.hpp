// The software of the counter unit: initialise, select, start, stop, reset, read, threshold.
//
//   LOFT_TRY(auto unit, FrontEnd::initialise(bus));
//   LOFT_TRY(const unsigned misses, unit.select(517, Mode::rising));
//   LOFT_CHECK(unit.set_threshold(misses, 1'000'000, [](const Reached& r) { ... }));
//   LOFT_CHECK(unit.start());
//   ...                                              // while the program runs, and it may be read:
//   LOFT_TRY(const std::uint64_t count, unit.read(misses));
//   LOFT_CHECK(unit.handle_interrupts());            // calls the handlers
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "upc/bus.hpp"

namespace loft::upc {

// A counter came to its threshold.
struct Reached {
  unsigned counter = 0;
  unsigned event = 0;
  std::uint64_t count = 0;
};

// A word of a memory was upset.
struct ParityError {
  unsigned counter = 0;  // the first one
  bool in_counters = false;
  bool in_thresholds = false;
};

class FrontEnd {
 public:
  using Handler = std::function<void(const Reached&)>;

  // Stops the unit, forgets its configuration and learns its sizes. `bus` must outlive this.
  [[nodiscard]] static Result<FrontEnd> initialise(Bus& bus);

  [[nodiscard]] const Geometry& geometry() const { return sizes_; }

  // The counter that counts this event from now on, from 0. Events E and E + counters share one.
  [[nodiscard]] Result<unsigned> select(unsigned event, Mode mode);

  // All counters at once.
  [[nodiscard]] Result<void> start() { return run(true); }
  [[nodiscard]] Result<void> stop() { return run(false); }

  // All selected counters to 0; thresholds are ahead again. While stopped, this is at one moment.
  [[nodiscard]] Result<void> reset();

  [[nodiscard]] Result<std::uint64_t> read(unsigned counter);

  // An interrupt when the counter comes to `count`, which must be ahead of it. Only while stopped.
  [[nodiscard]] Result<void> set_threshold(unsigned counter, std::uint64_t count, Handler handler);

  // To be called when the interrupt line is set, or from time to time: calls the handlers of all
  // counters that came to their thresholds, once each. Gives a parity error that was reported.
  [[nodiscard]] Result<std::optional<ParityError>> handle_interrupts();

 private:
  struct Selected {
    unsigned event = 0;
    std::uint64_t zero = 0;       // what the counter holds at a count of 0
    std::uint64_t threshold = 0;  // 0: none
    Handler handler;
  };

  FrontEnd(Bus& bus, const Geometry& sizes)
      : bus_(&bus), sizes_(sizes), selected_(sizes.counters), setups_(groups(sizes)) {}

  [[nodiscard]] Result<void> run(bool on);
  [[nodiscard]] Result<void> configure(unsigned counter, const CounterSetup& setup);
  [[nodiscard]] Result<Selected*> find(unsigned counter);

  Bus* bus_;
  Geometry sizes_;
  std::vector<std::optional<Selected>> selected_;
  std::vector<std::uint64_t> setups_;  // the configuration words as they were written
  bool running_ = false;
};

}  // namespace loft::upc
