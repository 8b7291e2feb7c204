#include "upc/front_end.hpp"

#include <fmt/format.h>

namespace loft::upc {

Result<FrontEnd> FrontEnd::initialise(Bus& bus) {
  LOFT_TRY(const std::uint64_t word, bus.read(kGeometryAddress));
  LOFT_TRY(const Geometry sizes, geometry_of_word(word));
  LOFT_CHECK(bus.write(kControlAddress, 0));
  for (unsigned group = 0; group < groups(sizes); ++group)
    LOFT_CHECK(bus.write(configuration_address(sizes, group * sizes.group), 0));
  for (unsigned i = 0; i < pending_words(sizes); ++i)
    LOFT_CHECK(bus.write(kPendingAddress + i, ~std::uint64_t{0}));
  LOFT_CHECK(bus.write(kStatusAddress, kCounterParityError | kThresholdParityError));
  return FrontEnd(bus, sizes);
}

Result<FrontEnd::Selected*> FrontEnd::find(unsigned counter) {
  if (counter < selected_.size() && selected_[counter]) return &*selected_[counter];
  return failure(ErrorKind::invalid_input, fmt::format("use counter {}", counter),
                 "no event is selected for it");
}

Result<void> FrontEnd::configure(unsigned counter, const CounterSetup& setup) {
  std::uint64_t& word = setups_[counter / sizes_.group];
  const unsigned shift = counter % sizes_.group * kConfigurationBits;
  word = (word & ~(std::uint64_t{0xFF} << shift)) | setup_bits(setup) << shift;
  return bus_->write(configuration_address(sizes_, counter), word);
}

Result<unsigned> FrontEnd::select(unsigned event, Mode mode) {
  const std::string what = fmt::format("select event {}", event);
  if (event >= sizes_.events())
    return failure(ErrorKind::invalid_input, what,
                   fmt::format("{} counters x {} inputs have events 0 to {}", sizes_.counters,
                               sizes_.inputs, sizes_.events() - 1));
  const unsigned counter = sizes_.counter_of(event);
  if (const auto& other = selected_[counter]; other && other->event != event)
    return failure(
        ErrorKind::limit, what,
        fmt::format("counter {} counts event {} already", counter, other->event),
        fmt::format("events that differ by a multiple of {} share a counter", sizes_.counters));
  LOFT_CHECK(configure(counter, {mode, sizes_.input_of(event), false}));
  LOFT_CHECK(bus_->write(counter_address(sizes_, counter), 0));
  selected_[counter] = Selected{event};
  return counter;
}

Result<void> FrontEnd::run(bool on) {
  LOFT_CHECK(bus_->write(kControlAddress, on ? 1 : 0));
  running_ = on;
  return {};
}

Result<void> FrontEnd::reset() {
  for (unsigned counter = 0; counter < sizes_.counters; ++counter)
    if (selected_[counter])
      LOFT_CHECK(bus_->write(counter_address(sizes_, counter), selected_[counter]->zero));
  return {};
}

Result<std::uint64_t> FrontEnd::read(unsigned counter) {
  LOFT_TRY(const Selected* const selected, find(counter));
  LOFT_TRY(const std::uint64_t value, bus_->read(counter_address(sizes_, counter)));
  return (value - selected->zero) & sizes_.value_mask();
}

Result<void> FrontEnd::set_threshold(unsigned counter, std::uint64_t count, Handler handler) {
  LOFT_TRY(Selected* const selected, find(counter));
  const std::string what = fmt::format("set a threshold of {} on counter {}", count, counter);
  if (running_)
    return failure(ErrorKind::invalid_input, what, "the unit is counting",
                   "stop it first: the counter has to be written");
  LOFT_TRY(const std::uint64_t now, read(counter));
  if (count <= now)
    return failure(ErrorKind::invalid_input, what, fmt::format("it is at {} already", now),
                   "a threshold must be ahead of its counter");
  // The hardware tells carries of the low bits alone. So the counter begins where the threshold
  // becomes a carry, and is armed when the high bits are those before that carry.
  const std::uint64_t zero = (0 - count) & sizes_.low_mask();
  const std::uint64_t reached = zero + count;
  if (reached < count || reached - 1 > sizes_.value_mask())
    return failure(ErrorKind::invalid_input, what,
                   fmt::format("a counter of {} + {} bits does not come so far", sizes_.high_bits,
                               sizes_.low_bits));
  const auto shift = counter % sizes_.group * kConfigurationBits;
  CounterSetup setup = setup_of_bits(setups_[counter / sizes_.group] >> shift);
  setup.interrupt = true;
  LOFT_CHECK(configure(counter, setup));
  LOFT_CHECK(bus_->write(threshold_address(sizes_, counter), reached - 1));
  LOFT_CHECK(bus_->write(counter_address(sizes_, counter), zero + now));
  *selected = {selected->event, zero, count, std::move(handler)};
  return {};
}

Result<std::optional<ParityError>> FrontEnd::handle_interrupts() {
  for (unsigned i = 0; i < pending_words(sizes_); ++i) {
    LOFT_TRY(std::uint64_t word, bus_->read(kPendingAddress + i));
    if (word == 0) continue;
    LOFT_CHECK(bus_->write(kPendingAddress + i, word));
    for (; word != 0; word &= word - 1) {
      const unsigned counter = 64 * i + static_cast<unsigned>(std::countr_zero(word));
      const auto& selected = selected_[counter];
      if (selected && selected->handler)
        selected->handler({counter, selected->event, selected->threshold});
    }
  }
  LOFT_TRY(const std::uint64_t status, bus_->read(kStatusAddress));
  const std::uint64_t flags = status & (kCounterParityError | kThresholdParityError);
  if (flags == 0) return std::optional<ParityError>();
  LOFT_CHECK(bus_->write(kStatusAddress, flags));
  return ParityError{static_cast<unsigned>(status >> kStatusIndexShift),
                     (flags & kCounterParityError) != 0, (flags & kThresholdParityError) != 0};
}

}  // namespace loft::upc
