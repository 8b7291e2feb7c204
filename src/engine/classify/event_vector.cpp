#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/classify/events.hpp"

namespace loft::engine {
namespace {

constexpr KindId kEmpty = std::numeric_limits<KindId>::max();

std::uint64_t amount(Measure measure, const Kind& kind, std::uint64_t executions,
                     const Units& units) {
  auto sum = executions * static_cast<std::uint64_t>(kind.fixed[measure]);
  for (std::size_t i = 0; i < kMaxUnits; ++i)
    sum += units[i] * static_cast<std::uint64_t>(kind.units[i].each[measure]);
  return sum;
}

std::uint64_t hash_of(const Kind& kind) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3u; };
  for (const std::uint16_t value : kind.attribute) mix(value);
  for (const std::int16_t value : kind.fixed.value) mix(static_cast<std::uint16_t>(value));
  for (const UnitEffect& effect : kind.units) {
    mix(static_cast<std::uint64_t>(effect.unit));
    for (const std::int16_t value : effect.each.value) mix(static_cast<std::uint16_t>(value));
  }
  return hash ^ (hash >> 32);
}

}  // namespace

EventVector::EventVector() : counts_(event_table().size()) {}

EventVector& EventVector::operator+=(const EventVector& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

void accumulate(EventVector& total, const Kind& kind, std::uint64_t executions, Units units) {
  std::array<std::uint64_t, kMeasures> amounts{};
  for (std::size_t m = 0; m < kMeasures; ++m)
    amounts[m] = amount(static_cast<Measure>(m), kind, executions, units);
  const std::vector<EventInfo>& events = event_table();
  for (EventIndex i = 0; i < events.size(); ++i) {
    const std::uint64_t value = amounts[static_cast<std::size_t>(events[i].measure)];
    if (value != 0 && events[i].meets(kind)) total[i] += value;
  }
}

void accumulate(EventVector& total, const InstructionFacts& facts, std::uint64_t executions,
                Units units) {
  accumulate(total, facts.kind, executions, units);
}

std::uint64_t contribution(EventIndex event, const Kind& kind, std::uint64_t executions,
                           const Units& units) {
  const EventInfo& info = event_table()[event];
  if (!info.meets(kind)) return 0;
  return amount(info.measure, kind, executions, units);
}

KindId KindTable::intern(const Kind& kind) {
  if (kinds_.size() * 2 >= slots_.size()) grow();
  std::size_t slot = hash_of(kind) & (slots_.size() - 1);
  while (slots_[slot] != kEmpty) {
    if (kinds_[slots_[slot]] == kind) return slots_[slot];
    slot = (slot + 1) & (slots_.size() - 1);
  }
  slots_[slot] = static_cast<KindId>(kinds_.size());
  kinds_.push_back(kind);
  return slots_[slot];
}

void KindTable::grow() {
  slots_.assign(std::max<std::size_t>(1024, slots_.size() * 2), kEmpty);
  for (KindId id = 0; id < kinds_.size(); ++id) {
    std::size_t slot = hash_of(kinds_[id]) & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }
}

}  // namespace loft::engine
