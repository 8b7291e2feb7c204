#include "upc/play.hpp"

#include <fmt/format.h>

#include <random>

#include "upc/front_end.hpp"

namespace loft::upc {
namespace {

using Kind = StimulusStep::Kind;

class Player {
 public:
  Player(const Setup& setup, std::uint64_t every)
      : setup_(setup),
        every_(every),
        unit_(setup.sizes),
        lines_(setup.sizes.input_words()),
        zeros_(setup.events.size()),
        pending_(setup.events.size()) {}

  Result<Played> play(const Stimulus& stimulus) {
    DirectBus bus(unit_, [this]() -> std::span<const std::uint64_t> { return cycle_on_bus(); });
    LOFT_TRY(FrontEnd front_end, FrontEnd::initialise(bus));
    for (std::size_t i = 0; i < setup_.events.size(); ++i) LOFT_CHECK(set_up(front_end, i));
    start();
    is_playing_ = true;
    LOFT_CHECK(play(stimulus.steps, front_end));
    observe();
    if (played_.readings.empty() || played_.readings.back().cycle != now()) take_reading();
    played_.cycles = now();
    return std::move(played_);
  }

 private:
  [[nodiscard]] std::uint64_t now() const { return unit_.cycle() - begin_; }

  Result<void> set_up(FrontEnd& front_end, std::size_t i) {
    const SelectedEvent& event = setup_.events[i];
    LOFT_TRY(const unsigned counter, front_end.select(event.event, event.mode));
    if (event.threshold != 0) LOFT_CHECK(front_end.set_threshold(counter, event.threshold, {}));
    zeros_[i] = unit_.value(counter);  // nothing counts yet
    return {};
  }

  // The front end would wait for the answer, during which the unit counts already.
  void start() {
    while (!unit_.pins().ready) unit_.step(lines_);
    unit_.step(lines_, {true, true, kControlAddress, 1});
    begin_ = unit_.cycle();
  }

  // The lines as they are, for each cycle that an access takes.
  std::span<const std::uint64_t> cycle_on_bus() {
    if (is_playing_) observe();
    return lines_;
  }

  void step(std::span<const std::uint64_t> lines) {
    observe();
    unit_.step(lines);
  }

  [[nodiscard]] unsigned counter(std::size_t i) const {
    return setup_.sizes.counter_of(setup_.events[i].event);
  }

  [[nodiscard]] std::uint64_t count(std::size_t i) const {
    return (unit_.value(counter(i)) - zeros_[i]) & setup_.sizes.value_mask();
  }

  // What the cycle that is over has brought.
  void observe() {
    if (unit_.pins().interrupt || any_pending_) observe_interrupts();
    if (every_ != 0 && now() != 0 && now() % every_ == 0 &&
        (played_.readings.empty() || played_.readings.back().cycle != now()))
      take_reading();
  }

  void observe_interrupts() {
    any_pending_ = false;
    for (std::size_t i = 0; i < setup_.events.size(); ++i) {
      const bool is_pending = unit_.pending(counter(i));
      if (is_pending && !pending_[i]) played_.interrupts.push_back({now(), i, count(i)});
      pending_[i] = is_pending;
      any_pending_ |= is_pending;
    }
    if (unit_.status() != 0 && status_ == 0)
      played_.parity_errors.push_back(
          {now(), static_cast<unsigned>(unit_.status() >> kStatusIndexShift)});
    status_ = unit_.status();
  }

  void take_reading() {
    Reading reading{now(), {}};
    for (std::size_t i = 0; i < setup_.events.size(); ++i)
      reading.counts.push_back(unit_.is_sound(counter(i)) ? std::optional(count(i)) : std::nullopt);
    played_.readings.push_back(std::move(reading));
  }

  Result<void> play(const std::vector<StimulusStep>& steps, FrontEnd& front_end) {
    for (const StimulusStep& step : steps) {
      if (played_.interrupts.size() > kMostInterrupts)
        return failure(ErrorKind::limit, "play the stimulus",
                       fmt::format("there were more than {} interrupts", kMostInterrupts),
                       "set thresholds further apart, or reset less often");
      switch (step.kind) {
        case Kind::repeat:
          for (std::uint64_t i = 0; i < step.count; ++i) LOFT_CHECK(play(step.body, front_end));
          break;
        case Kind::start:
          LOFT_CHECK(front_end.start());
          break;
        case Kind::stop:
          LOFT_CHECK(front_end.stop());
          break;
        case Kind::reset:
          LOFT_CHECK(reset(front_end));
          break;
        case Kind::flip:
          unit_.flip(Unit::Memory::counters, step.counter, step.bit);
          break;
        default:
          play_lines(step);
      }
    }
    return {};
  }

  // Thresholds are ahead again, and what was pending is handled.
  Result<void> reset(FrontEnd& front_end) {
    LOFT_CHECK(front_end.handle_interrupts());
    return front_end.reset();
  }

  void play_lines(const StimulusStep& step) {
    if (step.kind == Kind::hold) lines_ = step.lines;
    std::mt19937_64 random(step.seed);
    for (std::uint64_t cycle = 0; cycle < step.count; ++cycle) {
      for (std::size_t i = 0; step.kind != Kind::hold && i < lines_.size(); ++i)
        lines_[i] = step.kind == Kind::random ? step.lines[i] & random()
                    : cycle % 2 == 0          ? step.lines[i]
                                              : 0;
      this->step(lines_);
    }
  }

  const Setup& setup_;
  std::uint64_t every_;
  Unit unit_;
  std::vector<std::uint64_t> lines_;
  std::vector<std::uint64_t> zeros_;  // what each counter holds at a count of 0
  std::vector<bool> pending_;
  bool any_pending_ = false;
  std::uint64_t status_ = 0;
  std::uint64_t begin_ = 0;
  bool is_playing_ = false;
  Played played_;
};

}  // namespace

Result<Played> play(const Setup& setup, const Stimulus& stimulus, std::uint64_t every) {
  if (every != 0 && stimulus.cycles / every > kMostReadings / setup.events.size())
    return failure(ErrorKind::limit, fmt::format("read the counters every {} cycles", every),
                   fmt::format("{} cycles / {} x {} counters are more than {} readings",
                               stimulus.cycles, every, setup.events.size(), kMostReadings),
                   "read less often");
  return Player(setup, every).play(stimulus);
}

}  // namespace loft::upc
