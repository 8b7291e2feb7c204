// Reads the units and entries of .debug_info, DWARF 2 to 5, 32 and 64 bit, also of dwz's shared
// file.
//
//   const DwarfReader reader(DwarfSections::of(*elf), nullptr);
//   for (const DwarfUnit& unit : reader.units()) {
//     const Entry root = reader.root(unit);
//     use(reader.text(unit, root.name));
//   }
//
// Safe for several threads once it is made. Split DWARF is read by a reader of its own, see
// dwarf_split.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "symbols/elf_file.hpp"

namespace loft::symbols {

struct DwarfSections {
  Bytes info, abbrev, str, str_offsets, line, line_str, ranges, rnglists, addr;
  ByteOrder order = ByteOrder::little;

  static DwarfSections of(const ElfFile& elf);
};

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// An attribute's value, not yet looked up: most are never asked for.
struct DwarfValue {
  enum class Kind : std::uint8_t {
    none,
    constant,
    address,
    address_index,
    own_text,   // at this offset of .debug_info
    text,       // of .debug_str
    line_text,  // of .debug_line_str
    text_index,
    alternate_text,  // of the .debug_str of dwz's file
    reference,       // an entry at this offset of .debug_info
    alternate_reference,
    section_offset,
    range_index,
  };
  Kind kind = Kind::none;
  std::uint64_t number = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

struct AttributeSpec {
  std::uint32_t name;
  std::uint32_t form;
  std::int64_t implicit;
};

struct Abbreviation {
  std::uint64_t code = 0;
  std::uint32_t tag = 0;
  bool has_children = false;
  std::uint32_t first = 0;  // of its attributes
  std::uint32_t count = 0;
};

class AbbreviationTable {
 public:
  static constexpr std::uint64_t kAll = 0;

  // Reads the table at `offset`, all of it or up to the entry with code `last`.
  AbbreviationTable(Bytes section, std::uint64_t offset, ByteOrder order,
                    std::uint64_t last = kAll);
  [[nodiscard]] const Abbreviation* find(std::uint64_t code) const;
  [[nodiscard]] const AttributeSpec& attribute(std::size_t index) const {
    return attributes_[index];
  }

 private:
  std::vector<Abbreviation> entries_;  // sorted by code, most often 1, 2, 3, ...
  std::vector<AttributeSpec> attributes_;
};

struct DwarfUnit {
  std::uint64_t offset = 0;  // of its header in .debug_info
  std::uint64_t end = 0;
  std::uint64_t first_entry = 0;
  std::uint64_t abbrev_offset = 0;
  std::uint16_t version = 0;
  std::uint8_t address_size = 8;
  std::uint8_t offset_size = 4;
  bool is_compile_unit = true;
  // From its root entry.
  std::uint64_t str_offsets_base = 0;
  std::uint64_t addr_base = 0;
  std::uint64_t rnglists_base = 0;
  std::uint64_t low_pc = 0;
  std::uint64_t ranges_base = 0;  // what ranges of split entries count from, before DWARF 5
  std::uint64_t split_id = 0;     // of a skeleton, or of the unit that it stands for
  DwarfValue split_name;          // of a skeleton: the file with its entries
  DwarfValue compilation_folder;
  DwarfValue statement_list;
};

// What the entries of a split unit take from their skeleton.
struct SkeletonBases {
  std::uint64_t addr_base = 0;
  std::uint64_t low_pc = 0;
  std::uint64_t ranges_base = 0;
};

// What loft wants to know of an entry; all else was passed over.
struct Entry {
  std::uint32_t tag = 0;
  bool has_children = false;
  DwarfValue name, linkage_name, origin, sibling;
  DwarfValue low_pc, high_pc, ranges;
  DwarfValue call_file, call_line;
  DwarfValue compilation_folder, statement_list;
  DwarfValue str_offsets_base, addr_base, rnglists_base;
  DwarfValue split_name, split_id, ranges_base;
};

class DwarfReader {
 public:
  // `alternate` is the reader of dwz's file; null when there is none. `bases` are there for the
  // sections of a .dwo or .dwp file.
  DwarfReader(const DwarfSections& sections, std::shared_ptr<const DwarfReader> alternate,
              std::optional<SkeletonBases> bases = std::nullopt);

  [[nodiscard]] const DwarfSections& sections() const { return sections_; }
  [[nodiscard]] const std::vector<DwarfUnit>& units() const { return units_; }
  [[nodiscard]] const DwarfReader* alternate() const { return alternate_.get(); }
  [[nodiscard]] const DwarfUnit* unit_at(std::uint64_t info_offset) const;

  [[nodiscard]] std::shared_ptr<const AbbreviationTable> abbreviations(const DwarfUnit& unit) const;

  // The reader stands at an entry and moves behind its attributes. False at the end of a list of
  // children (tag 0) and where the bytes make no sense (the reader has failed then).
  bool read_entry(const DwarfUnit& unit, const AbbreviationTable& table, ByteReader& in,
                  Entry& entry) const;
  [[nodiscard]] ByteReader reader_at(const DwarfUnit& unit, std::uint64_t info_offset) const;
  [[nodiscard]] Entry root(const DwarfUnit& unit) const;

  [[nodiscard]] std::string_view text(const DwarfUnit& unit, const DwarfValue& value) const;
  [[nodiscard]] std::optional<std::uint64_t> address(const DwarfUnit& unit,
                                                     const DwarfValue& value) const;

  // Code that the linker threw away is left out. Reads no more than `budget` entries and takes them
  // off it: in a hostile file a million entries share a list of a million ranges.
  void add_ranges(const DwarfUnit& unit, const Entry& entry, std::size_t& budget,
                  std::vector<AddressRange>& into) const;

  // One value of a form, as line tables have them too.
  DwarfValue read_value(const DwarfUnit& unit, std::uint32_t form, std::int64_t implicit,
                        ByteReader& in) const;

 private:
  void read_units();
  bool read_header(ByteReader& in, DwarfUnit& unit) const;
  void read_root(DwarfUnit& unit) const;
  void add_old_ranges(const DwarfUnit& unit, std::uint64_t offset, std::size_t& budget,
                      std::vector<AddressRange>& into) const;
  void add_range_list(const DwarfUnit& unit, std::uint64_t offset, std::size_t& budget,
                      std::vector<AddressRange>& into) const;

  DwarfSections sections_;
  std::shared_ptr<const DwarfReader> alternate_;
  std::optional<SkeletonBases> bases_;
  std::vector<DwarfUnit> units_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, std::shared_ptr<const AbbreviationTable>> tables_;
};

}  // namespace loft::symbols
