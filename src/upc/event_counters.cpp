#include "upc/event_counters.hpp"

#include <algorithm>
#include <cstring>

namespace loft::upc {
namespace {

constexpr unsigned kBlockBits = 64 * kBlockWords;
constexpr unsigned kMostFastBits = 4;

template <class Block>
bool get_bit(const Block& block, unsigned counter) {
  return (block[counter % kBlockBits / 64] >> counter % 64 & 1) != 0;
}

template <class Block>
void set_bit(Block& block, unsigned counter, bool value) {
  const unsigned word = counter % kBlockBits / 64;
  block[word] = (block[word] & ~(std::uint64_t{1} << counter % 64)) | std::uint64_t{value}
                                                                          << counter % 64;
}

template <class Block>
bool is_zero(const Block& block) {
  return (block[0] | block[1] | block[2] | block[3]) == 0;
}

}  // namespace

EventCounters::EventCounters(const Geometry& sizes)
    : blocks_(sizes.plane_words() / kBlockWords),
      inputs_(sizes.inputs),
      low_bits_(sizes.low_bits),
      fast_bits_(std::min(sizes.low_bits, kMostFastBits)),
      states_(blocks_),
      planes_(blocks_ * low_bits_),
      chosen_(blocks_ * inputs_),
      carry_out_(sizes.plane_words()) {
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    set_bit(states_[counter / kBlockBits].present, counter, true);
    set_mode(counter, Mode::rising, 0);
  }
  for (std::size_t block = 0; block < blocks_; ++block) learn_full(block);
}

void EventCounters::learn_full(std::size_t block) {
  Block full = ~Block{};
  for (unsigned bit = fast_bits_; bit < low_bits_; ++bit) full &= planes_[block * low_bits_ + bit];
  states_[block].full = full;
}

void EventCounters::bring_carries(std::size_t block) {
  Block events = states_[block].waiting;
  if (is_zero(events)) return;
  states_[block].waiting = Block{};
  Block full = ~Block{};
  Block* const planes = &planes_[block * low_bits_];
  for (unsigned bit = fast_bits_; bit < low_bits_; ++bit) {
    const Block carried = planes[bit] & events;
    planes[bit] ^= events;
    full &= planes[bit];
    events = carried;
  }
  states_[block].full = full;
}

void EventCounters::count(std::size_t block, const Block& counted) {
  Block events = counted;
  Block* const planes = &planes_[block * low_bits_];
  for (unsigned bit = 0; bit < fast_bits_; ++bit) {
    const Block carried = planes[bit] & events;
    planes[bit] ^= events;
    events = carried;
  }
  BlockState& state = states_[block];
  state.waiting |= events;
  events &= state.full;
  if (is_zero(events)) return;
  std::memcpy(&carry_out_[block * kBlockWords], &events, sizeof events);
  any_carry_out_ = true;
}

void EventCounters::step(std::span<const std::uint64_t> inputs, bool run, unsigned written) {
  if (any_carry_out_) {
    std::fill(carry_out_.begin(), carry_out_.end(), 0);
    any_carry_out_ = false;
  }
  const bool brings_carries = ++cycle_ % (1u << kMostFastBits) == 0;
  for (std::size_t block = 0; block < blocks_; ++block) {
    if (brings_carries) bring_carries(block);
    const Block* const chosen = &chosen_[block * inputs_];
    const std::uint64_t* lines = inputs.data() + block * kBlockWords;
    Block level{};
    for (unsigned input = 0; input < inputs_; ++input, lines += blocks_ * kBlockWords) {
      Block line;
      std::memcpy(&line, lines, sizeof line);
      level |= chosen[input] & line;
    }
    BlockState& state = states_[block];
    const Block active = level ^ state.inverted;
    const Block was_active = (state.before ^ state.inverted) | state.no_before;
    state.before = level;
    state.no_before = Block{};
    if (!run) continue;
    Block events = active & ~(state.edge & was_active) & state.present;
    if (written / kBlockBits == block) set_bit(events, written, false);
    count(block, events);
  }
}

std::uint64_t EventCounters::low(unsigned counter) const {
  const Block* const planes = &planes_[std::size_t{counter / kBlockBits} * low_bits_];
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < low_bits_; ++bit)
    value |= std::uint64_t{get_bit(planes[bit], counter)} << bit;
  if (get_bit(states_[counter / kBlockBits].waiting, counter)) value += 1u << fast_bits_;
  return value & ((std::uint64_t{1} << low_bits_) - 1);
}

void EventCounters::set_low(unsigned counter, std::uint64_t value) {
  Block* const planes = &planes_[std::size_t{counter / kBlockBits} * low_bits_];
  for (unsigned bit = 0; bit < low_bits_; ++bit)
    set_bit(planes[bit], counter, (value >> bit & 1) != 0);
  set_bit(states_[counter / kBlockBits].waiting, counter, false);
  learn_full(counter / kBlockBits);
}

void EventCounters::set_mode(unsigned counter, Mode mode, unsigned input) {
  const std::size_t block = counter / kBlockBits;
  for (unsigned i = 0; i < inputs_; ++i) set_bit(chosen_[block * inputs_ + i], counter, i == input);
  BlockState& state = states_[block];
  set_bit(state.inverted, counter, mode == Mode::falling || mode == Mode::low);
  set_bit(state.edge, counter, mode == Mode::rising || mode == Mode::falling);
  set_bit(state.no_before, counter, true);
}

}  // namespace loft::upc
