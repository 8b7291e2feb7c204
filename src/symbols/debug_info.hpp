// Where source lines and inlined calls come from: DWARF of a file, or the notes of a JIT.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/symbol_table.hpp"

namespace loft::symbols {

class DebugInfo {
 public:
  virtual ~DebugInfo() = default;
  [[nodiscard]] virtual std::optional<SourceLine> line(std::uint64_t address) const = 0;
  [[nodiscard]] virtual std::vector<InlinedFrame> inlined(std::uint64_t address) const = 0;
};

}  // namespace loft::symbols
