#include "sample/count.hpp"

#include <algorithm>

namespace loft::sample {
namespace {

// Both may be off to the same side: the ends are added.
std::optional<Range> sum_of_ranges(const Count& a, const Count& b) {
  if (!a.range && !b.range) return std::nullopt;
  const auto of = [](const Count& count) {
    return count.range.value_or(Range{count.value(), count.value(), 0});
  };
  const Range first = of(a), second = of(b);
  return Range{first.low + second.low, first.high + second.high,
               std::max(first.unknown, second.unknown)};
}

}  // namespace

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::counted:
      return "counted";
    case Origin::scaled:
      return "scaled";
    case Origin::modelled:
      return "modelled";
    case Origin::missing:
      break;
  }
  return "missing";
}

Count Count::of_reading(std::uint64_t raw, Nanoseconds enabled, Nanoseconds running) {
  if (enabled.count() > 0 && running.count() == 0)
    return {Origin::missing, 0, enabled, running, "not counted: it never got a counter"};
  const Origin origin = running < enabled ? Origin::scaled : Origin::counted;
  return {origin, raw, enabled, running, {}};
}

double Count::running_share() const {
  if (enabled.count() <= 0) return 1.0;
  return static_cast<double>(running.count()) / static_cast<double>(enabled.count());
}

double Count::value() const {
  const auto counted = static_cast<double>(raw);
  return origin == Origin::scaled ? counted / running_share() : counted;
}

Count& Count::operator+=(const Count& other) {
  if (other.never_ran() && running.count() > 0) {
    origin = Origin::scaled;
    enabled += other.enabled;
    return *this;
  }
  if (never_ran() && other.running.count() > 0) {
    const Count mine = *this;
    *this = other;
    return *this += mine;
  }
  if (origin == Origin::missing) return *this;
  if (other.origin == Origin::missing) return *this = other;
  // Scaled parts of different shares cannot be summed raw: bring both to their estimates first.
  if (origin == Origin::scaled || other.origin == Origin::scaled) {
    const double sum = value() + other.value();
    origin = Origin::scaled;
    enabled += other.enabled;
    running += other.running;
    raw = static_cast<std::uint64_t>(sum * running_share() + 0.5);
    return *this;
  }
  if (other.origin == Origin::modelled) origin = Origin::modelled;
  range = sum_of_ranges(*this, other);
  raw += other.raw;
  enabled += other.enabled;
  running += other.running;
  return *this;
}

Count Count::since(const Count& earlier) const {
  if (origin == Origin::missing) return *this;
  // An event that had not run before now counted all it has since then.
  // Never below zero: what was seen too early in one reading is missing from the next.
  const std::uint64_t before = earlier.is_available() ? std::min(earlier.raw, raw) : 0;
  if (origin == Origin::modelled) return {Origin::modelled, raw - before, {}, {}, {}};
  return of_reading(raw - before, enabled - earlier.enabled, running - earlier.running);
}

}  // namespace loft::sample
