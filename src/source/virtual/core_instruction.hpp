// An instruction as the engine describes it, in the terms of the models of a core.
//
//   const core::Instruction instruction = core_instruction(fixed, address, block_number);
#pragma once

#include <span>

#include "core/window.hpp"
#include "engine/classify/static_instruction.hpp"

namespace loft::source::virtual_pmu {

[[nodiscard]] core::Instruction core_instruction(const engine::StaticInstruction& fixed,
                                                 std::uint64_t address, std::uint32_t block);

// A comparison and the jump at a block's end that follows it are one operation, where cores fuse
// them. `instructions` are those of the block.
void fuse_last(std::span<const engine::StaticInstruction> block,
               std::span<core::Instruction> instructions);

}  // namespace loft::source::virtual_pmu
