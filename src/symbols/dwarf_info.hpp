// Lines and inlined calls from DWARF. Units are found by one sorted table of the whole file, and
// each is read when the first address in it is asked for, once, by whichever thread comes first.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "symbols/debug_info.hpp"
#include "symbols/demangle.hpp"
#include "symbols/dwarf_line_index.hpp"
#include "symbols/dwarf_lines.hpp"
#include "symbols/dwarf_reader.hpp"
#include "symbols/dwarf_split.hpp"
#include "symbols/interval_map.hpp"

namespace loft::symbols {

class DwarfInfo : public DebugInfo {
 public:
  // `elf` has the debug sections; `alternate` is dwz's file or null. `options` tell where split
  // units are looked for, and how names are shown.
  DwarfInfo(std::shared_ptr<const ElfFile> elf, std::shared_ptr<const ElfFile> alternate,
            const SymbolOptions& options);

  [[nodiscard]] std::optional<SourceLine> line(std::uint64_t address) const override;
  [[nodiscard]] std::vector<InlinedFrame> inlined(std::uint64_t address) const override;

 private:
  // An inlined call, inside of another one or directly in a function.
  struct Scope {
    static constexpr std::uint32_t kFunction = ~std::uint32_t{0};
    std::uint32_t around = kFunction;
    std::uint32_t call_file = 0;
    std::uint32_t call_line = 0;
    DwarfValue origin;
  };
  struct Inlines {
    std::shared_ptr<const SplitUnit> split;  // where the entries are, unless they are in the file
    std::vector<Scope> scopes;
    IntervalMap by_address;
  };
  struct Unit {
    std::once_flag lines_once;
    std::once_flag inlines_once;
    DwarfLines lines;
    Inlines inlines;
  };
  class TreeWalk;

  void open() const;
  [[nodiscard]] std::optional<std::uint32_t> unit_of(std::uint64_t address) const;
  [[nodiscard]] const DwarfLines& lines_of(std::uint32_t unit) const;
  [[nodiscard]] const Inlines& inlines_of(std::uint32_t unit) const;
  [[nodiscard]] std::string_view function_name(const DwarfReader& reader,
                                               const DwarfValue& origin) const;
  [[nodiscard]] std::string name_at(const DwarfReader& reader, std::uint64_t offset,
                                    unsigned hops) const;

  std::shared_ptr<const ElfFile> elf_;
  std::shared_ptr<const ElfFile> alternate_;
  DwarfSplit split_;
  NameStyle names_;

  mutable std::once_flag index_once_;
  mutable std::unique_ptr<const DwarfLineIndex> line_index_;  // where lines can be had without it

  mutable std::once_flag open_once_;
  mutable std::unique_ptr<const DwarfReader> reader_;
  mutable std::unique_ptr<Unit[]> units_;
  mutable IntervalMap unit_by_address_;

  mutable std::mutex name_mutex_;  // guards the two below
  mutable std::deque<std::string> function_names_;
  mutable std::map<std::pair<const DwarfReader*, std::uint64_t>, std::string_view> name_of_origin_;
};

}  // namespace loft::symbols
