#include "upc/unit.hpp"

namespace loft::upc {
namespace {

constexpr std::uint64_t kStatusFlags = kCounterParityError | kThresholdParityError;

void clear_bit(std::vector<std::uint64_t>& bits, unsigned index) {
  bits[index / 64] &= ~(std::uint64_t{1} << index % 64);
}

void set_bit(std::vector<std::uint64_t>& bits, unsigned index) {
  bits[index / 64] |= std::uint64_t{1} << index % 64;
}

}  // namespace

Unit::Unit(const Geometry& sizes)
    : sizes_(sizes),
      counters_(sizes),
      values_(sizes.counters),
      limits_(sizes.counters),
      carry_(sizes.plane_words()),
      armed_(sizes.plane_words()),
      enabled_(sizes.plane_words()),
      pending_(sizes.plane_words()),
      setups_(sizes.counters) {}

Pins Unit::pins() const {
  bool interrupt = (status_ & kStatusFlags) != 0;
  for (const std::uint64_t word : pending_) interrupt |= word != 0;
  return {is_ready(), response_, response_data_, response_error_, interrupt};
}

std::uint64_t Unit::value(unsigned counter) const {
  const std::uint64_t high = values_[counter].data + (carry(counter) ? 1 : 0);
  // Between its read and its write, a visit holds a carry that is in neither place.
  const bool in_flight = !clearing_ && visited_ == counter &&
                         ((phase_ == 1 && access_.carry) || (phase_ == 2 && sum_is_new_));
  return ((high + (in_flight ? 1 : 0)) << sizes_.low_bits | counters_.low(counter)) &
         sizes_.value_mask();
}

// The state machine must be between two visits: what it holds is in neither place.
void Unit::add(unsigned counter, std::uint64_t events) {
  const std::vector<std::uint64_t> low(sizes_.input_words());
  while (!is_ready() || access_.kind != Access::Kind::none) step(low);
  if (!run_ || events == 0) return;
  const std::uint64_t before = value(counter);
  const std::uint64_t carries =
      (counters_.low(counter) + (events & sizes_.low_mask())) / sizes_.carry_period() +
      (events >> sizes_.low_bits);
  // Where the high bits are those of the threshold, the next carry is the interrupt.
  const std::uint64_t first = (limits_[counter].data - (before >> sizes_.low_bits)) &
                              sizes_.high_mask();  // carries until it is armed
  const bool can_arm = bit(enabled_, counter) && is_sound(counter) && !limits_[counter].is_wrong();
  const std::uint64_t after = (before + events) & sizes_.value_mask();
  const bool was_wrong = !is_sound(counter);
  values_[counter] = word_of(after >> sizes_.low_bits);
  if (was_wrong) values_[counter].parity = !values_[counter].parity;
  counters_.set_low(counter, after & sizes_.low_mask());
  clear_bit(carry_, counter);
  if (carries == 0) return;
  clear_bit(armed_, counter);
  if (can_arm && carries > first) set_bit(pending_, counter);
  if (can_arm && after >> sizes_.low_bits == limits_[counter].data) set_bit(armed_, counter);
}

void Unit::flip(Memory memory, unsigned counter, unsigned bit) {
  Word& word = (memory == Memory::counters ? values_ : limits_)[counter];
  if (bit == sizes_.high_bits)
    word.parity = !word.parity;
  else
    word.data ^= std::uint64_t{1} << bit;
}

void Unit::step(std::span<const std::uint64_t> inputs, const BusRequest& request) {
  ++cycle_;
  if (clearing_) return clear_word(inputs);
  Access next;
  if (phase_ == 0)
    next = {Access::Kind::visit, visited_};
  else if (request.valid && is_ready())
    next = begin(request);
  const bool is_idle = access_.kind == Access::Kind::none && next.kind == Access::Kind::none;
  if (!is_idle || response_) complete();
  const bool is_write = next.kind == Access::Kind::write_counter;
  counters_.step(inputs, run_, is_write ? next.index : EventCounters::kNoCounter);
  if (counters_.any_carry_out()) latch_carries();
  if (!is_idle || phase_ == 2) end(next, request);
  access_ = next;
  advance_state_machine();
}

void Unit::clear_word(std::span<const std::uint64_t> inputs) {
  counters_.step(inputs, false, EventCounters::kNoCounter);
  values_[visited_] = {};
  limits_[visited_] = {};
  if (++visited_ < sizes_.counters) return;
  visited_ = 0;
  clearing_ = false;
}

void Unit::advance_state_machine() {
  if (++phase_ < sizes_.cycles_per_word) return;
  phase_ = 0;
  if (++visited_ == sizes_.counters) visited_ = 0;
}

Unit::Access Unit::decode(const BusRequest& request) const {
  using Kind = Access::Kind;
  const unsigned index = request.address % region_words(sizes_);
  const bool is_counter = index < sizes_.counters;
  switch (request.address / region_words(sizes_)) {
    case 0:
      return {Kind::control, index};
    case 1:
      return {!is_counter     ? Kind::bad_address
              : request.write ? Kind::write_counter
                              : Kind::read_counter,
              index};
    case 2:
      return {!is_counter     ? Kind::bad_address
              : request.write ? Kind::write_threshold
                              : Kind::read_threshold,
              index};
    case 3:
      return {index < groups(sizes_) ? Kind::configuration : Kind::bad_address, index};
    default:
      return {Kind::bad_address, index};
  }
}

// What an access sees is the state before this cycle. A bit that the bus clears is cleared before
// this cycle's interrupts are set, so that none is lost.
Unit::Access Unit::begin(const BusRequest& request) {
  Access access = decode(request);
  switch (access.kind) {
    case Access::Kind::read_counter:
      access.carry = carry(access.index);
      access.answer = counters_.low(access.index);
      break;
    case Access::Kind::control:
      begin_control(request, access);
      break;
    case Access::Kind::configuration:
      for (unsigned field = 0; field < sizes_.group && !request.write; ++field) {
        const unsigned counter = access.index * sizes_.group + field;
        if (counter < sizes_.counters)
          access.answer |= std::uint64_t{setups_[counter]} << field * kConfigurationBits;
      }
      break;
    default:
      break;
  }
  return access;
}

void Unit::begin_control(const BusRequest& request, Access& access) {
  const unsigned word = access.index;
  const bool is_pending = word >= kPendingAddress && word < kPendingAddress + pending_words(sizes_);
  if (word > kGeometryAddress && !is_pending) access.kind = Access::Kind::bad_address;
  if (word == kGeometryAddress && request.write) access.kind = Access::Kind::bad_address;
  if (access.kind == Access::Kind::bad_address) return;
  if (request.write) {
    if (is_pending) pending_[word - kPendingAddress] &= ~request.data;
    if (word == kStatusAddress) status_ &= ~(request.data & kStatusFlags);
    if ((status_ & kStatusFlags) == 0) status_ = 0;
    return;
  }
  access.answer = is_pending                ? pending_[word - kPendingAddress]
                  : word == kControlAddress ? std::uint64_t{run_}
                  : word == kStatusAddress  ? status_
                                            : geometry_word(sizes_);
}

// The second cycle of an access: the memories show what they hold.
void Unit::complete() {
  using Kind = Access::Kind;
  const Access& access = access_;
  response_ = access.kind != Kind::none && access.kind != Kind::visit;
  response_data_ = 0;
  response_error_ = BusError::none;
  if (access.kind == Kind::none) return;
  if (access.kind == Kind::bad_address) response_error_ = BusError::address;
  if (access.kind == Kind::control || access.kind == Kind::configuration)
    response_data_ = access.answer;
  if (access.kind >= Kind::control) return;

  const bool value_wrong = value_out_.is_wrong();
  const bool limit_wrong = limit_out_.is_wrong();
  note_parity(value_wrong, limit_wrong);
  const std::uint64_t sum = (value_out_.data + (access.carry ? 1 : 0)) & sizes_.high_mask();
  const bool is_read = access.kind == Kind::read_counter || access.kind == Kind::read_threshold;
  if (!is_read && !value_wrong && !limit_wrong && bit(enabled_, access.index) &&
      sum == limit_out_.data)
    set_bit(armed_, access.index);
  if (access.kind == Kind::visit) {
    sum_ = word_of(sum);
    if (value_wrong) sum_.parity = !sum_.parity;  // what was wrong stays wrong until it is written
    sum_is_new_ = access.carry;
  } else if (access.kind == Kind::read_counter) {
    response_data_ = sum << sizes_.low_bits | access.answer;
    if (value_wrong) response_error_ = BusError::parity;
  } else if (access.kind == Kind::read_threshold) {
    response_data_ = limit_out_.data << sizes_.low_bits;
    if (limit_wrong) response_error_ = BusError::parity;
  }
}

void Unit::note_parity(bool counter_wrong, bool threshold_wrong) {
  if (!counter_wrong && !threshold_wrong) return;
  if (status_ == 0) status_ = std::uint64_t{access_.index} << kStatusIndexShift;
  if (counter_wrong) status_ |= kCounterParityError;
  if (threshold_wrong) status_ |= kThresholdParityError;
}

void Unit::latch_carries() {
  const auto& carry_out = counters_.carry_out();
  for (std::size_t word = 0; word < carry_.size(); ++word) {
    carry_[word] |= carry_out[word];
    pending_[word] |= carry_out[word] & armed_[word] & enabled_[word];
    armed_[word] &= ~carry_out[word];
  }
}

// What an access changes. The memories are read after they were written.
void Unit::end(Access& access, const BusRequest& request) {
  using Kind = Access::Kind;
  if (phase_ == 2 && sum_is_new_) values_[visited_] = sum_;
  const unsigned index = access.index;
  const std::uint64_t high = request.data >> sizes_.low_bits & sizes_.high_mask();
  switch (access.kind) {
    case Kind::visit:
      access.carry = carry(index);
      clear_bit(carry_, index);
      break;
    case Kind::write_counter:
      values_[index] = word_of(high);
      counters_.set_low(index, request.data & sizes_.low_mask());
      clear_bit(carry_, index);
      clear_bit(armed_, index);
      break;
    case Kind::write_threshold:
      limits_[index] = word_of(high);
      access.carry = carry(index);
      clear_bit(armed_, index);
      break;
    case Kind::control:
      if (request.write && index == kControlAddress) run_ = (request.data & 1) != 0;
      return;
    case Kind::configuration:
      if (request.write) configure(index, request.data);
      return;
    case Kind::read_counter:
    case Kind::read_threshold:
      break;
    default:
      return;
  }
  value_out_ = values_[index];
  limit_out_ = limits_[index];
}

void Unit::configure(unsigned group, std::uint64_t word) {
  for (unsigned field = 0; field < sizes_.group; ++field) {
    const unsigned counter = group * sizes_.group + field;
    if (counter >= sizes_.counters) return;
    const auto bits = static_cast<std::uint8_t>(word >> field * kConfigurationBits);
    const CounterSetup setup = setup_of_bits(bits);
    setups_[counter] = bits;
    counters_.set_mode(counter, setup.mode, setup.input);
    clear_bit(enabled_, counter);
    if (setup.interrupt) set_bit(enabled_, counter);
  }
}

}  // namespace loft::upc
