#include "roof/code.hpp"

#include <algorithm>

#include "roof/work_events.hpp"

namespace loft::roof {

CodeByFunction code_of(const sample::RunCounts& counted) {
  CodeByFunction functions;
  std::vector<std::string> names;
  for (const sample::CountedEvent& event : counted.events) names.push_back(event.name);
  const auto column = WorkColumns(names).instructions();
  if (!column) return functions;
  for (const sample::BlockCounts& block : counted.blocks) {
    const std::size_t size = block.code.size();
    if (size == 0 || block.instructions.size() != size || *column >= block.counts.size() ||
        !block.counts[*column].is_available())
      continue;
    const auto [known, is_new] = functions.try_emplace({block.function, block.binary});
    FunctionCode& function = known->second;
    const std::uint64_t start = block.address - block.offset;
    // Two functions of one name are one here: it begins where the first does.
    function.address = is_new ? start : std::min(function.address, start);
    const double count = block.counts[*column].value() / static_cast<double>(size);
    std::uint64_t address = block.address;
    for (std::size_t i = 0; i < size; ++i) {
      CodeInstruction& each = function.code[address];
      each.text = block.code[i];
      each.length = block.instructions[i].length;
      // Code that was written anew at the same place: both ran here.
      each.count = each.count.value_or(0) + count;
      address += each.length;
      if (i + 1 == size) each.target = block.target.value_or(0);
    }
  }
  return functions;
}

Result<void> add_waits(const KeptWindows& kept, const core::CoreParameters& core,
                       CodeByFunction& code) {
  for (const auto& window : kept.windows) {
    LOFT_TRY(const core::CriticalPath path, critical_path(window.window, core));
    for (std::size_t i = 0; i < path.by_instruction.size(); ++i) {
      const core::CriticalShare& share = path.by_instruction[i];
      const auto& name = kept.functions[window.functions[window.window.instructions[i].block]];
      const auto function = code.find({name.name, name.binary});
      if (function == code.end() || share.sum() == 0) continue;
      function->second.waited += static_cast<double>(share.sum());
      const auto found = function->second.code.find(window.addresses[i]);
      if (found == function->second.code.end()) continue;
      for (std::size_t k = 0; k < core::kWaits; ++k)
        found->second.waited[k] += static_cast<double>(share.cycles[k]);
      if (share.waits_for) found->second.waits_for = window.addresses[*share.waits_for];
    }
  }
  return {};
}

}  // namespace loft::roof
