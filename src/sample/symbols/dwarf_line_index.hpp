// The line tables of a whole file without its entries. Where debug sections are packed, unpacking
// the entries takes far longer than all line tables together, and since DWARF 5 a line table names
// its files by itself: so lines of such a file cost a fraction.
//
//   if (const auto index = DwarfLineIndex::read(*elf)) index->find(address);
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sample/symbols/dwarf_lines.hpp"
#include "sample/symbols/interval_map.hpp"

namespace loft::sample::symbols {

class DwarfLineIndex {
 public:
  // Null where it would not pay, or where a table needs what stands in the entries.
  [[nodiscard]] static std::unique_ptr<const DwarfLineIndex> read(const ElfFile& elf);

  [[nodiscard]] std::optional<SourceLine> find(std::uint64_t address) const;

 private:
  std::vector<DwarfLines> programs_;
  IntervalMap by_address_;
};

}  // namespace loft::sample::symbols
