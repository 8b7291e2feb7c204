#include "core/code_block.hpp"

#include <algorithm>

#include "core/tage.hpp"

namespace loft::core {

CodeBlock::CodeBlock(std::vector<Instruction> code, const MachineGeometry& geometry)
    : last(code.empty() ? Instruction{} : code.back()), instructions(std::move(code)) {
  const std::uint64_t bytes = geometry.caches.l1i.line;
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    const Instruction& each = instructions[i];
    const std::uint64_t first_line = each.address / bytes;
    const std::uint64_t end_line =
        (each.address + std::max<std::uint64_t>(1, each.length) - 1) / bytes;
    if (i == 0 || first_line != last_line || end_line != first_line)
      fetches.push_back({first_line, i, static_cast<std::uint32_t>(end_line - first_line)});
    last_line = end_line;
  }
  branch_hash = Tage::outcome(last.address, false).hash;
}

// A store past the caches is no hit of the line used last: with all ignored nothing is.
void CodeBlock::set_lanes(std::vector<BlockLane> all) {
  lanes = std::move(all);
  has_lanes = true;
  for (BlockLane& lane : lanes)
    lane.ignored = lane.is_past ? ~std::uint64_t{0} : Cache::Recent::ignored(lane.is_store);
}

}  // namespace loft::core
