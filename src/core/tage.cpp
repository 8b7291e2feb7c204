#include "core/tage.hpp"

namespace loft::core {
namespace {

std::uint32_t stepped(std::uint32_t value, bool is_up, std::uint32_t least, std::uint32_t most) {
  return is_up ? std::min(value + 1, most) : std::max(value, least + 1) - 1;
}

#if defined(__x86_64__)
class TageWithAvx2 final : public Tage {
 public:
  using Tage::Tage;
  [[gnu::target("avx2,bmi,bmi2")]] void predict_all(std::span<const Outcome> outcomes,
                                                    std::vector<std::uint32_t>& wrong) override {
    predict_each(outcomes, wrong);
  }
};
#endif

}  // namespace

Tage::Step Tage::step_of(std::uint32_t index) {
  const bool is_taken = (index & kIsTaken) != 0;
  const bool other = (index & kOther) != 0;
  const std::uint32_t state = index % kIsTaken;
  const std::uint32_t useful = state & kUseful;
  const std::uint32_t counter = state >> kCounterShift;
  const bool own = (state & kTaken) != 0;
  const auto made = [](std::uint32_t counter_now, std::uint32_t useful_now) {
    return static_cast<std::uint8_t>(counter_now << kCounterShift | useful_now);
  };
  if ((index & kIsBase) != 0) return {made(stepped(counter, is_taken, 2, 5), 0), {own, own}, 0};
  const bool is_new = state == kTaken || state == kNotTaken;
  const std::uint32_t useful_now = own != other ? stepped(useful, own == is_taken, 0, 3) : useful;
  Step step{made(stepped(counter, is_taken, 0, 7), useful_now), {own, is_new ? other : own}, 0};
  if (is_new && own != other) step.preference = other == is_taken ? 1 : -1;
  return step;
}

Tage::Steps Tage::all_steps() {
  Steps steps;
  for (std::uint32_t i = 0; i < steps.size(); ++i) steps[i] = step_of(i);
  return steps;
}

std::array<Tage::Deciding, 1 << Tage::kTables> Tage::all_deciding() {
  const auto longest = [](std::uint32_t tables) {
    return static_cast<std::uint8_t>(tables == 0 ? kBase : std::bit_width(tables) - 1u);
  };
  std::array<Deciding, 1 << kTables> all;
  for (std::uint32_t knowing = 0; knowing < all.size(); ++knowing)
    all[knowing] = {longest(knowing), longest(knowing & ~std::bit_floor(knowing))};
  return all;
}

const Tage::Steps Tage::kSteps = all_steps();
const std::array<Tage::Deciding, 1 << Tage::kTables> Tage::kDeciding = all_deciding();

Tage::Tage(int bits)
    : index_bits_(std::max(4, bits - 3)),
      base_mask_((1u << bits) - 1),
      base_start_(std::uint32_t{kTables} << index_bits_),
      tags_(base_start_),
      states_(base_start_ + (std::size_t{1} << bits), kTaken),
      history_(kKept + kLengths.back()),
      newest_(history_.data() + kKept) {
  for (int i = 0; i < kTables; ++i) starts_[i] = static_cast<std::uint32_t>(i) << index_bits_;
}

// A misprediction asks for a longer history: the first entry there that nobody needs.
void Tage::allocate(std::uint32_t provider, const Places& places, bool is_taken) {
  const std::uint32_t longer = provider == kBase ? 0 : provider + 1;
  for (std::uint32_t i = longer; i < kTables; ++i) {
    std::uint8_t& state = states_[places.entries[i]];
    if ((state & kUseful) != 0) continue;
    tags_[places.entries[i]] = static_cast<std::uint16_t>(places.tags[i]);
    state = static_cast<std::uint8_t>(is_taken ? kTaken : kNotTaken);
    return;
  }
  for (std::uint32_t i = longer; i < kTables; ++i) --states_[places.entries[i]];
}

void Tage::move_history() {
  std::copy_n(history_.data(), kLengths.back(), history_.data() + kKept);
  newest_ = history_.data() + kKept;
}

std::unique_ptr<Tage> make_tage(int bits) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0)
    return std::make_unique<TageWithAvx2>(bits);
#endif
  return std::make_unique<Tage>(bits);
}

}  // namespace loft::core
