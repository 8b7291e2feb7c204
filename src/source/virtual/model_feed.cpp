#ifdef LOFT_HAS_ENGINE
#include "source/virtual/model_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/virtual/core_instruction.hpp"

namespace loft::source::virtual_pmu {

namespace {

// The first word of a record is the block's number: it stands for a base that there is not.
core::BlockLane lane_of(const engine::StreamSum& sum, std::uint32_t number) {
  const bool has_base = (sum.flags & engine::StreamSum::kBase) != 0;
  return {.constant = sum.constant - (has_base ? 0 : number),
          .size = sum.size,
          .base = has_base ? sum.base : std::uint8_t{0},
          .index = sum.index,
          .scale = static_cast<std::uint8_t>(sum.flags & (engine::StreamSum::kBase - 1)),
          .is_store = (sum.flags & engine::StreamSum::kStore) != 0,
          .instruction = sum.instruction,
          .is_past = (sum.flags & engine::StreamSum::kPast) != 0};
}

}  // namespace

core::Models::Parts parts_for(const std::vector<const core::ModelledEvent*>& events) {
  const auto any = [&](bool (*needs)(const core::ModelledEvent&)) {
    return std::ranges::any_of(events, [&](const auto* event) { return needs(*event); });
  };
  return {.tlb = any(core::needs_tlb), .branches = any(core::needs_branches)};
}

std::string describe(const core::MachineGeometry& machine) {
  return fmt::format("caches {}; TLBs {}; predictor {}", to_string(machine.caches),
                     to_string(machine.tlb), to_string(machine.branches));
}

std::uint64_t ModelFeed::new_slot(std::uint32_t slot) {
  const engine::SlotEntry entry = shared_.slot(slot);
  const Process process{entry.image, entry.process};
  auto found = std::ranges::find(programs_, process);
  if (found == programs_.end()) found = programs_.insert(programs_.end(), process);
  if (slot >= processes_.size()) processes_.resize(slot + 1, kUnknown);
  const auto number = static_cast<std::uint64_t>(found - programs_.begin());
  processes_[slot] = (number & kMostProcesses) << kProcessShift;
  return processes_[slot];
}

const core::CodeBlock& ModelFeed::new_block(const engine::StreamedBlock& ran,
                                            std::uint64_t process) {
  std::vector<core::Instruction> code;
  for (const engine::StaticInstruction& fixed : ran.block->instructions())
    code.push_back(
        core_instruction(fixed, (ran.block->address() + fixed.offset) | process, ran.number));
  fuse_last(ran.block->instructions(), code);
  if (ran.number >= blocks_.size())
    blocks_.resize(std::max<std::size_t>(ran.number + 1u, blocks_.size() * 2));
  blocks_[ran.number] = std::make_unique<core::CodeBlock>(std::move(code), models_.geometry());
  core::CodeBlock& block = *blocks_[ran.number];
  block.address = ran.block->address();
  block.taken_to = ran.block->conditional_target();
  block.falls_to = ran.block->end();
  if (const auto sums = ran.block->sums(); sums && !block.instructions.empty()) {
    std::vector<core::BlockLane> lanes;
    for (const engine::StreamSum& sum : *sums) lanes.push_back(lane_of(sum, ran.number));
    block.set_lanes(std::move(lanes));
  }
  return block;
}

}  // namespace loft::source::virtual_pmu
#endif
