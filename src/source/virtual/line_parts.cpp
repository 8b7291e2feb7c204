#ifdef LOFT_HAS_ENGINE
#include "source/virtual/line_parts.hpp"

namespace loft::source::virtual_pmu {

std::uint32_t LineParts::find(const engine::BlockEntry& block, std::uint64_t address) {
  const auto [known, is_new] = known_.try_emplace({block.mapping, address}, 0);
  if (!is_new) return known->second;
  const auto& function = functions_.functions()[functions_.find(block, address)];
  LineFinder::Line line =
      finder_.find(function.binary, functions_.address_in_binary(block, address));
  if (line.line == 0) line.file.clear();
  const auto [entry, is_first] = index_.try_emplace({line.file, function.binary, line.line},
                                                    static_cast<std::uint32_t>(lines_.size()));
  if (is_first) lines_.push_back({line.file, function.binary, line.line, {}});
  known->second = entry->second;
  return known->second;
}

}  // namespace loft::source::virtual_pmu
#endif
