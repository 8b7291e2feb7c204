#include "engine/tally.hpp"

#include <Zydis/Zydis.h>

namespace loft::engine {
namespace {

constexpr std::size_t kNoUnit = kMaxUnits;

bool all_blocks(const BlockEntry&) { return true; }

std::size_t index_of(const Kind& kind, Unit unit) {
  for (std::size_t i = 0; i < kMaxUnits; ++i)
    if (kind.units[i].unit == unit) return i;
  return kNoUnit;
}

void decode(std::span<const std::uint8_t> code, KindTable& kinds, std::vector<KindId>& out) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  while (!code.empty()) {
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands)))
      return;
    out.push_back(kinds.intern(classify(instruction, operands).kind));
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
      decode(shared_.code(block.entry), kinds_, kinds_of_blocks_);
    block.count = static_cast<std::uint32_t>(kinds_of_blocks_.size()) - block.first;
    blocks_.push_back(block);
  }
}

void Tally::add_part(const Block& part, std::uint64_t value, std::vector<Sum>& sums) const {
  const auto kind_of_part = static_cast<BlockKind>(part.entry.kind);
  if (kind_of_part != BlockKind::units && kind_of_part != BlockKind::extra_fall) return;
  if (part.entry.next_fall >= blocks_.size()) return;
  const Block& owner = blocks_[part.entry.next_fall];
  if (kind_of_part == BlockKind::extra_fall) {
    if (owner.count == 0) return;
    const KindId last = kinds_of_blocks_[owner.first + owner.count - 1];
    const std::size_t taken = index_of(kinds_[last], Unit::taken);
    if (taken != kNoUnit) sums[last].units[taken] -= value;
    return;
  }
  if (part.entry.instructions >= owner.count) return;
  const KindId kind = kinds_of_blocks_[owner.first + part.entry.instructions];
  const std::size_t unit = index_of(kinds_[kind], static_cast<Unit>(part.entry.size));
  if (unit != kNoUnit) sums[kind].units[unit] += value;
}

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
  std::vector<std::uint64_t> dense(counts.empty() ? 0 : counts.back().block + 1);
  for (const auto& [number, count] : counts) dense[number] = count;
  for (const auto& [number, count] : counts) {
    if (number >= blocks_.size() || !chosen(blocks_[number].entry)) continue;
    const Block& block = blocks_[number];
    if (block.count == 0) add_part(block, count, sums);
    for (std::uint32_t i = 0; i < block.count; ++i)
      sums[kinds_of_blocks_[block.first + i]].executions += count;
    if (block.count == 0 || block.entry.next_fall == kNoBlock) continue;
    const KindId last = kinds_of_blocks_[block.first + block.count - 1];
    const std::size_t taken = index_of(kinds_[last], Unit::taken);
    const std::uint64_t fell =
        block.entry.next_fall < dense.size() ? dense[block.entry.next_fall] : 0;
    if (taken != kNoUnit) sums[last].units[taken] += count - fell;
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

}  // namespace loft::engine
