#include "engine/tally.hpp"

#include <algorithm>

namespace loft::engine {
namespace {

constexpr std::size_t kNoUnit = kMaxUnits;

bool all_blocks(const BlockEntry&) { return true; }

std::size_t index_of(const Kind& kind, Unit unit) {
  for (std::size_t i = 0; i < kMaxUnits; ++i)
    if (kind.units[i].unit == unit) return i;
  return kNoUnit;
}

}  // namespace

// One that is still being written, or never was to its end, has not run: decode() reads it again.
void Tally::learn_blocks() {
  const std::uint32_t known = static_cast<std::uint32_t>(blocks_.size());
  for (std::uint32_t number = known; number < shared_.blocks(); ++number) {
    Block block;
    block.entry = shared_.block(number);
    blocks_.push_back(block);
  }
}

// Many blocks are translated and never run, so this is done when one has.
void Tally::decode(std::uint32_t number) {
  Block& block = blocks_[number];
  if (block.is_decoded) return;
  block.is_decoded = true;
  block.entry = shared_.block(number);  // when it was learnt, it may have been half written
  block.first = static_cast<std::uint32_t>(kinds_of_blocks_.size());
  if (block.entry.kind == static_cast<std::uint16_t>(BlockKind::body))
    reader_.read(shared_.code(block.entry), kinds_of_blocks_, lengths_of_blocks_);
  block.count = static_cast<std::uint32_t>(kinds_of_blocks_.size()) - block.first;
}

template <class Add>
void Tally::spread(std::uint32_t number, std::uint64_t count, std::span<const std::uint64_t> dense,
                   Add&& add) {
  decode(number);
  const Block& block = blocks_[number];
  for (std::uint32_t i = 0; i < block.count; ++i) add(block.first + i, count, kNoUnit, 0);
  const auto add_unit = [&](const Block& owner, std::uint32_t instruction, Unit unit,
                            std::uint64_t value) {
    if (instruction >= owner.count) return;
    const std::uint32_t place = owner.first + instruction;
    const std::size_t index = index_of(reader_.kinds()[kinds_of_blocks_[place]], unit);
    if (index != kNoUnit) add(place, 0, index, value);
  };
  const std::uint32_t next = block.entry.next_fall;
  const auto kind = static_cast<BlockKind>(block.entry.kind);
  if (kind == BlockKind::body && block.count != 0 && next != kNoBlock) {
    const std::uint64_t counted = next < dense.size() ? dense[next] : 0;
    const bool is_taken = shared_.block(next).kind == static_cast<std::uint16_t>(BlockKind::taken);
    add_unit(block, block.count - 1, Unit::taken, is_taken ? counted : count - counted);
  }
  if (next >= blocks_.size() || (kind != BlockKind::units && kind != BlockKind::extra_fall)) return;
  decode(next);
  const Block& owner = blocks_[next];
  if (kind == BlockKind::units)
    add_unit(owner, block.entry.instructions, static_cast<Unit>(block.entry.size), count);
  if (kind == BlockKind::extra_fall && owner.count != 0)
    add_unit(owner, owner.count - 1, Unit::taken, 0 - count);
}

namespace {

std::vector<std::uint64_t> by_block(const std::vector<BlockCount>& counts) {
  std::vector<std::uint64_t> dense(counts.empty() ? 0 : counts.back().block + 1);
  for (const auto& [number, count] : counts) dense[number] = count;
  return dense;
}

}  // namespace

Result<EventVector> Tally::of_slot(std::uint32_t slot) { return of_slot(slot, all_blocks); }

Result<EventVector> Tally::of_slot(std::uint32_t slot, const Choice& chosen) {
  std::vector<Sum> sums;
  LOFT_CHECK(gather(slot, chosen, sums));
  return events_of(sums);
}

std::vector<std::uint32_t> Tally::slots() const {
  const auto all = shared_.slots();
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (!shared_.has_region() || all[i].in_region != 0) numbers.push_back(i);
  return numbers;
}

Result<EventVector> Tally::of_all() {
  const auto all = shared_.slots();
  is_folded_.resize(all.size());
  std::vector<Sum> running;
  for (const std::uint32_t i : slots()) {
    if (i >= all.size() || is_folded_[i]) continue;
    is_folded_[i] = all[i].ended != 0;
    LOFT_CHECK(gather(i, all_blocks, is_folded_[i] ? folded_ : running));
  }
  EventVector total = events_of(running);
  return total += events_of(folded_);
}

Result<void> Tally::gather(std::uint32_t slot, const Choice& chosen, std::vector<Sum>& sums) {
  LOFT_TRY(const auto counts, shared_.counts(slot));
  learn_blocks();
  const std::vector<std::uint64_t> dense = by_block(counts);
  for (const auto& [number, count] : counts) {
    if (number >= blocks_.size()) continue;
    decode(number);
    if (!chosen(blocks_[number].entry)) continue;
    spread(
        number, count, dense,
        [&](std::uint32_t place, std::uint64_t executions, std::size_t unit, std::uint64_t units) {
          if (sums.size() < reader_.kinds().size()) sums.resize(reader_.kinds().size());
          Sum& sum = sums[kinds_of_blocks_[place]];
          sum.executions += executions;
          if (unit != kNoUnit) sum.units[unit] += units;
        });
  }
  return {};
}

EventVector Tally::events_of(const std::vector<Sum>& sums) const {
  EventVector total;
  for (KindId kind = 0; kind < sums.size(); ++kind)
    if (sums[kind].executions != 0 || sums[kind].units != Units{})
      accumulate(total, reader_.kinds()[kind], sums[kind].executions, sums[kind].units);
  return total;
}

namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
constexpr std::size_t kEffects = 1 + kMaxUnits;

}  // namespace

void PartTally::learn_kinds() {
  const std::size_t width = kEffects * events_.size();
  for (std::size_t kind = width == 0 ? 0 : effects_.size() / width;
       kind < tally_.reader_.kinds().size(); ++kind) {
    for (std::size_t effect = 0; effect < kEffects; ++effect) {
      Units units{};
      if (effect > 0) units[effect - 1] = 1;
      for (const EventIndex event : events_)
        effects_.push_back(contribution(event, tally_.reader_.kinds()[static_cast<KindId>(kind)],
                                        effect == 0 ? 1 : 0, units));
    }
  }
}

// Nearly all blocks lie in one part: then the first and the last instruction do.
std::span<const std::uint32_t> PartTally::parts_of(std::uint32_t number) {
  const Tally::Block& block = tally_.blocks_[number];
  parts_.resize(tally_.kinds_of_blocks_.size(), kUnknown);
  const std::span<std::uint32_t> parts(parts_.data() + block.first, block.count);
  if (parts.empty() || parts.front() != kUnknown) return parts;
  const std::uint8_t* lengths = tally_.lengths_of_blocks_.data() + block.first;
  std::uint64_t last = block.entry.address;
  for (std::uint32_t i = 0; i + 1 < block.count; ++i) last += lengths[i];
  parts.back() = where_(block.entry, last);
  std::uint64_t address = block.entry.address;
  for (std::uint32_t i = 0; i + 1 < block.count; ++i) {
    parts[i] = i > 0 && parts.front() == parts.back() ? parts.back() : where_(block.entry, address);
    address += lengths[i];
  }
  for (const std::uint32_t part : parts)
    if (part >= has_run_.size()) has_run_.resize(part + 1);
  sums_.resize(has_run_.size() * events_.size());
  return parts;
}

void PartTally::add_block(std::uint32_t number, std::uint64_t count,
                          std::span<const std::uint64_t> dense) {
  tally_.decode(number);
  const std::uint32_t owner = tally_.blocks_[number].entry.next_fall;
  const bool is_part_of_other = tally_.blocks_[number].count == 0;
  if (is_part_of_other && owner < tally_.blocks_.size()) tally_.decode(owner);
  learn_kinds();
  (void)parts_of(is_part_of_other && owner < tally_.blocks_.size() ? owner : number);
  const std::size_t width = events_.size();
  tally_.spread(
      number, count, dense,
      [&](std::uint32_t place, std::uint64_t executions, std::size_t unit, std::uint64_t units) {
        const std::size_t effect = unit == kNoUnit ? 0 : 1 + unit;
        const std::uint64_t times = unit == kNoUnit ? executions : units;
        const std::uint64_t* each =
            effects_.data() + (tally_.kinds_of_blocks_[place] * kEffects + effect) * width;
        std::uint64_t* sum = sums_.data() + parts_[place] * width;
        for (std::size_t i = 0; i < width; ++i) sum[i] += times * each[i];
        has_run_[parts_[place]] = true;
      });
}

Result<std::vector<PartTally::Row>> PartTally::of_slots(std::span<const std::uint32_t> slots) {
  std::fill(sums_.begin(), sums_.end(), 0);
  has_run_.assign(has_run_.size(), false);
  for (const std::uint32_t slot : slots) {
    LOFT_TRY(const auto counts, tally_.shared_.counts(slot));
    tally_.learn_blocks();
    const std::vector<std::uint64_t> dense = by_block(counts);
    for (const auto& [number, count] : counts)
      if (number < tally_.blocks_.size()) add_block(number, count, dense);
  }
  std::vector<Row> rows;
  const auto width = static_cast<std::ptrdiff_t>(events_.size());
  for (std::uint32_t part = 0; part < has_run_.size(); ++part) {
    if (!has_run_[part]) continue;
    const auto first = sums_.begin() + part * width;
    rows.push_back({part, {first, first + width}});
  }
  return rows;
}

}  // namespace loft::engine
