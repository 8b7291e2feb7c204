#include "engine/tally.hpp"

#include <Zydis/Zydis.h>

#include <map>

namespace loft::engine {
namespace {

constexpr std::size_t kNoUnit = kMaxUnits;

bool all_blocks(const BlockEntry&) { return true; }

std::size_t index_of(const Kind& kind, Unit unit) {
  for (std::size_t i = 0; i < kMaxUnits; ++i)
    if (kind.units[i].unit == unit) return i;
  return kNoUnit;
}

void decode(std::span<const std::uint8_t> code, KindTable& kinds, std::vector<KindId>& out,
            std::vector<std::uint8_t>& lengths) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  while (!code.empty()) {
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands)))
      return;
    out.push_back(kinds.intern(classify(instruction, operands).kind));
    lengths.push_back(instruction.length);
    code = code.subspan(instruction.length);
  }
}

}  // namespace

void Tally::learn_blocks() {
  const std::uint32_t known = static_cast<std::uint32_t>(blocks_.size());
  for (std::uint32_t number = known; number < shared_.blocks(); ++number) {
    Block block;
    block.entry = shared_.block(number);
    // Still being written: it cannot have run yet. Later ones are learnt next time, in their order.
    if (block.entry.address == 0 && number != kNoBlock) break;
    block.first = static_cast<std::uint32_t>(kinds_of_blocks_.size());
    if (block.entry.kind == static_cast<std::uint16_t>(BlockKind::body))
      decode(shared_.code(block.entry), kinds_, kinds_of_blocks_, lengths_of_blocks_);
    block.count = static_cast<std::uint32_t>(kinds_of_blocks_.size()) - block.first;
    blocks_.push_back(block);
  }
}

template <class Add>
void Tally::spread(std::uint32_t number, std::uint64_t count, std::span<const std::uint64_t> dense,
                   Add&& add) const {
  const Block& block = blocks_[number];
  for (std::uint32_t i = 0; i < block.count; ++i) add(block.first + i, count, kNoUnit, 0);
  const auto add_unit = [&](const Block& owner, std::uint32_t instruction, Unit unit,
                            std::uint64_t value) {
    if (instruction >= owner.count) return;
    const std::uint32_t place = owner.first + instruction;
    const std::size_t index = index_of(kinds_[kinds_of_blocks_[place]], unit);
    if (index != kNoUnit) add(place, 0, index, value);
  };
  const std::uint32_t next = block.entry.next_fall;
  const auto kind = static_cast<BlockKind>(block.entry.kind);
  if (kind == BlockKind::body && block.count != 0 && next != kNoBlock)
    add_unit(block, block.count - 1, Unit::taken, count - (next < dense.size() ? dense[next] : 0));
  if (next >= blocks_.size()) return;
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

Result<EventVector> Tally::of_all() {
  const auto slots = shared_.slots();
  is_folded_.resize(slots.size());
  std::vector<Sum> running;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    if (is_folded_[i]) continue;
    is_folded_[i] = slots[i].ended != 0;
    LOFT_CHECK(gather(i, all_blocks, is_folded_[i] ? folded_ : running));
  }
  EventVector total = events_of(running);
  return total += events_of(folded_);
}

Result<void> Tally::gather(std::uint32_t slot, const Choice& chosen, std::vector<Sum>& sums) {
  LOFT_TRY(const auto counts, shared_.counts(slot));
  learn_blocks();
  sums.resize(kinds_.size());
  const std::vector<std::uint64_t> dense = by_block(counts);
  for (const auto& [number, count] : counts) {
    if (number >= blocks_.size() || !chosen(blocks_[number].entry)) continue;
    spread(
        number, count, dense,
        [&](std::uint32_t place, std::uint64_t executions, std::size_t unit, std::uint64_t units) {
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
      accumulate(total, kinds_[kind], sums[kind].executions, sums[kind].units);
  return total;
}

void PartTally::learn_parts() {
  for (; known_blocks_ < tally_.blocks_.size(); ++known_blocks_) {
    const Tally::Block& block = tally_.blocks_[known_blocks_];
    std::uint64_t address = block.entry.address;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      parts_.push_back(where_(block.entry, address));
      address += tally_.lengths_of_blocks_[block.first + i];
    }
  }
}

Result<std::vector<PartTally::Row>> PartTally::of_slots(std::span<const std::uint32_t> slots) {
  std::unordered_map<std::uint64_t, Tally::Sum> sums;  // by part and kind
  for (const std::uint32_t slot : slots) {
    LOFT_TRY(const auto counts, tally_.shared_.counts(slot));
    tally_.learn_blocks();
    learn_parts();
    const std::vector<std::uint64_t> dense = by_block(counts);
    for (const auto& [number, count] : counts) {
      if (number >= tally_.blocks_.size()) continue;
      tally_.spread(number, count, dense,
                    [&](std::uint32_t place, std::uint64_t executions, std::size_t unit,
                        std::uint64_t units) {
                      const std::uint64_t kind = tally_.kinds_of_blocks_[place];
                      Tally::Sum& sum = sums[std::uint64_t{parts_[place]} << 32 | kind];
                      sum.executions += executions;
                      if (unit != kNoUnit) sum.units[unit] += units;
                    });
    }
  }
  return rows_of(sums);
}

std::vector<PartTally::Row> PartTally::rows_of(
    const std::unordered_map<std::uint64_t, Tally::Sum>& sums) const {
  std::map<std::uint32_t, Row> rows;
  for (const auto& [key, sum] : sums) {
    const auto part = static_cast<std::uint32_t>(key >> 32);
    Row& row =
        rows.try_emplace(part, Row{part, std::vector<std::uint64_t>(events_.size())}).first->second;
    const Kind& kind = tally_.kinds_[static_cast<KindId>(key)];
    for (std::size_t i = 0; i < events_.size(); ++i)
      row.counts[i] += contribution(events_[i], kind, sum.executions, sum.units);
  }
  std::vector<Row> sorted;
  for (auto& [part, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

}  // namespace loft::engine
