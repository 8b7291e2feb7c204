// The line table of one unit: which source line each address was compiled from.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "symbols/dwarf_reader.hpp"
#include "symbols/interval_map.hpp"
#include "symbols/symbol_table.hpp"

namespace loft::symbols {

class DwarfLines {
 public:
  DwarfLines() = default;

  // Runs the unit's line program. What is malformed ends it; what was read before stays.
  static DwarfLines read(const DwarfReader& reader, const DwarfUnit& unit);

  [[nodiscard]] std::optional<SourceLine> find(std::uint64_t address) const;

  // The path behind a file number of this unit; empty for one that does not exist.
  [[nodiscard]] std::string_view file(std::uint64_t number) const;
  [[nodiscard]] bool names_all_files() const;

  // Where the code of a unit is by its line program, with `value` for each stretch: the program is
  // run, but nothing of it is kept.
  static void add_outline(const DwarfReader& reader, const DwarfUnit& unit, std::uint32_t value,
                          std::vector<Span>& into);

 private:
  class Program;
  static constexpr std::uint32_t kEndOfSequence = ~std::uint32_t{0};
  struct Row {
    std::uint64_t address;
    std::uint32_t file;  // kEndOfSequence: nothing is known from here on
    std::uint32_t line;
  };

  std::vector<Row> rows_;           // by address
  std::vector<std::string> files_;  // by number; DWARF 5 counts from 0, older ones from 1
};

}  // namespace loft::symbols
