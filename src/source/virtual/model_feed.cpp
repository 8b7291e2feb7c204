#ifdef LOFT_HAS_ENGINE
#include "source/virtual/model_feed.hpp"

#include "source/virtual/core_instruction.hpp"

namespace loft::source::virtual_pmu {

void ModelFeed::gather(const engine::StreamedBlock& ran, std::size_t instruction,
                       std::size_t& touch, std::uint64_t process) {
  touched_.clear();
  for (; touch < ran.touches.size() && ran.touches[touch].instruction == instruction; ++touch) {
    const engine::StreamTouch& each = ran.touches[touch];
    const bool is_past = each.is_store && ran.block->instructions()[instruction].is_non_temporal;
    touched_.push_back({each.address | process, each.size, each.is_store, is_past});
  }
}

// Nobody knows where a branch went before a signal or at the end of the stream: a predictor that
// learned from it would learn something wrong.
const core::Instruction& ModelFeed::last_of(const engine::StreamedBlock& ran,
                                            const core::Instruction& instruction) {
  using Branch = engine::StreamedBlock::Branch;
  const bool is_conditional = instruction.branch == core::BranchKind::conditional;
  if (ran.next != 0 && !(is_conditional && ran.branch() == Branch::unknown)) return instruction;
  undecided_ = instruction;
  undecided_.branch = core::BranchKind::none;
  return undecided_;
}

const std::vector<core::Instruction>& ModelFeed::instructions_of(const engine::StreamedBlock& ran,
                                                                 std::uint64_t process) {
  auto& known = blocks_[ran.number];
  if (known.empty()) {
    for (const engine::StaticInstruction& fixed : ran.block->instructions())
      known.push_back(
          core_instruction(fixed, (ran.block->address() + fixed.offset) | process, ran.number));
    fuse_last(ran.block->instructions(), known);
  }
  return known;
}

}  // namespace loft::source::virtual_pmu
#endif
