#ifdef LOFT_HAS_ENGINE
#include "source/virtual/model_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/virtual/core_instruction.hpp"

namespace loft::source::virtual_pmu {

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
  return *blocks_[ran.number];
}

}  // namespace loft::source::virtual_pmu
#endif
