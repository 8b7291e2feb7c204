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

#ifdef __x86_64__
bool has_wide_registers() { return __builtin_cpu_supports("avx2") != 0; }
#else
bool has_wide_registers() { return false; }
#endif

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
      carry_out_(sizes.plane_words()),
      is_wide_(has_wide_registers()) {
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    set_bit(states_[counter / kBlockBits].present, counter, true);
    set_mode(counter, Mode::rising, 0);
  }
  for (std::size_t block = 0; block < blocks_; ++block) learn_full(block);
}

void EventCounters::learn_full(std::size_t block) {
  Block full = ~Block{};
  for (unsigned bit = fast_bits_; bit < low_bits_; ++bit)
    full &= planes_[block * low_bits_ + bit].bits;
  states_[block].full = full;
}

[[gnu::always_inline]] inline void EventCounters::bring_carries(std::size_t block) {
  Block events = states_[block].waiting;
  if (is_zero(events)) return;
  states_[block].waiting = Block{};
  Block full = ~Block{};
  Plane* const planes = &planes_[block * low_bits_];
  for (unsigned bit = fast_bits_; bit < low_bits_; ++bit) {
    const Block carried = planes[bit].bits & events;
    planes[bit].bits ^= events;
    full &= planes[bit].bits;
    events = carried;
  }
  states_[block].full = full;
}

[[gnu::always_inline]] inline void EventCounters::count(std::size_t block, const Block& counted) {
  Block events = counted;
  Plane* const planes = &planes_[block * low_bits_];
  for (unsigned bit = 0; bit < fast_bits_; ++bit) {
    const Block carried = planes[bit].bits & events;
    planes[bit].bits ^= events;
    events = carried;
  }
  BlockState& state = states_[block];
  state.waiting |= events;
  events &= state.full;
  if (is_zero(events)) return;
  std::memcpy(&carry_out_[block * kBlockWords], &events, sizeof events);
  any_carry_out_ = true;
}

[[gnu::always_inline]] inline void EventCounters::step_here(std::span<const std::uint64_t> inputs,
                                                            bool run, unsigned written) {
  if (any_carry_out_) {
    std::fill(carry_out_.begin(), carry_out_.end(), 0);
    any_carry_out_ = false;
  }
  const bool brings_carries = ++cycle_ % (1u << kMostFastBits) == 0;
  for (std::size_t block = 0; block < blocks_; ++block) {
    if (brings_carries) bring_carries(block);
    const Plane* const chosen = &chosen_[block * inputs_];
    const std::uint64_t* lines = inputs.data() + block * kBlockWords;
    Block level{};
    for (unsigned input = 0; input < inputs_; ++input, lines += blocks_ * kBlockWords) {
      Block line;
      std::memcpy(&line, lines, sizeof line);
      level |= chosen[input].bits & line;
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

#ifdef __x86_64__
[[gnu::target("avx2")]]
#endif
void EventCounters::step_wide(std::span<const std::uint64_t> inputs, bool run, unsigned written) {
  step_here(inputs, run, written);
}

void EventCounters::step(std::span<const std::uint64_t> inputs, bool run, unsigned written) {
  if (is_wide_)
    step_wide(inputs, run, written);
  else
    step_here(inputs, run, written);
}

std::uint64_t EventCounters::low(unsigned counter) const {
  const Plane* const planes = &planes_[std::size_t{counter / kBlockBits} * low_bits_];
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < low_bits_; ++bit)
    value |= std::uint64_t{get_bit(planes[bit].bits, counter)} << bit;
  if (get_bit(states_[counter / kBlockBits].waiting, counter)) value += 1u << fast_bits_;
  return value & ((std::uint64_t{1} << low_bits_) - 1);
}

void EventCounters::set_low(unsigned counter, std::uint64_t value) {
  Plane* const planes = &planes_[std::size_t{counter / kBlockBits} * low_bits_];
  for (unsigned bit = 0; bit < low_bits_; ++bit)
    set_bit(planes[bit].bits, counter, (value >> bit & 1) != 0);
  set_bit(states_[counter / kBlockBits].waiting, counter, false);
  learn_full(counter / kBlockBits);
}

void EventCounters::set_mode(unsigned counter, Mode mode, unsigned input) {
  const std::size_t block = counter / kBlockBits;
  for (unsigned i = 0; i < inputs_; ++i)
    set_bit(chosen_[block * inputs_ + i].bits, counter, i == input);
  BlockState& state = states_[block];
  set_bit(state.inverted, counter, mode == Mode::falling || mode == Mode::low);
  set_bit(state.edge, counter, mode == Mode::rising || mode == Mode::falling);
  set_bit(state.no_before, counter, true);
}

}  // namespace loft::upc
