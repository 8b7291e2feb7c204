// The line tables of a whole file without its entries. Where debug sections are packed, unpacking
// the entries takes far longer than all line tables together, and since DWARF 5 a line table names
// its files by itself: so lines of such a file cost a fraction.
//
//   if (const auto index = DwarfLineIndex::read(*elf)) index->lines_at(address);
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "symbols/dwarf_lines.hpp"
#include "symbols/interval_map.hpp"

namespace loft::symbols {

class DwarfLineIndex {
 public:
  // Null where it would not pay, or where a table needs what stands in the entries.
  [[nodiscard]] static std::unique_ptr<const DwarfLineIndex> read(const ElfFile& elf);

  // The table that the address is in, read when it is first asked for; null when it is in none. A
  // table that does not name all its files cannot do without the entries. Safe for several threads.
  [[nodiscard]] const DwarfLines* lines_at(std::uint64_t address) const;

 private:
  struct Table {
    std::once_flag once;
    std::uint64_t offset = 0;
    DwarfLines lines;
  };
  explicit DwarfLineIndex(const DwarfSections& sections) : reader_(sections, nullptr) {}
  static DwarfUnit unit_at(std::uint64_t offset);

  DwarfReader reader_;
  mutable std::deque<Table> tables_;
  IntervalMap by_address_;
};

}  // namespace loft::symbols
