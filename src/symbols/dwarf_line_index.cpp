#include "symbols/dwarf_line_index.hpp"

namespace loft::symbols {
namespace {

bool is_packed(const ElfFile& elf, const char* name) {
  const ElfSection* section = elf.section(name);
  return section == nullptr || (section->flags & SHF_COMPRESSED) != 0;
}

}  // namespace

std::unique_ptr<const DwarfLineIndex> DwarfLineIndex::read(const ElfFile& elf) {
  if (!is_packed(elf, ".debug_info")) return nullptr;
  DwarfSections sections;
  sections.line = elf.unpacked(".debug_line");
  sections.line_str = elf.unpacked(".debug_line_str");
  sections.order = elf.order();
  std::unique_ptr<DwarfLineIndex> index(new DwarfLineIndex(sections));
  std::vector<Span> spans;
  ByteReader in(sections.line, sections.order);
  while (!in.at_end()) {
    const std::uint64_t offset = in.position();
    std::uint64_t length = in.u32();
    if (length == 0xffffffff) length = in.u64();
    ByteReader body(in.take(length), sections.order);
    if (!in.ok() || body.u16() != 5) return nullptr;
    DwarfLines::add_outline(index->reader_, unit_at(offset),
                            static_cast<std::uint32_t>(index->tables_.size()), spans);
    index->tables_.emplace_back().offset = offset;
  }
  index->by_address_ = IntervalMap(std::move(spans));
  return index;
}

DwarfUnit DwarfLineIndex::unit_at(std::uint64_t offset) {
  DwarfUnit unit;
  unit.statement_list = {DwarfValue::Kind::section_offset, offset};
  return unit;
}

const DwarfLines* DwarfLineIndex::lines_at(std::uint64_t address) const {
  const auto found = by_address_.find(address);
  if (!found) return nullptr;
  Table& table = tables_[*found];
  std::call_once(table.once,
                 [&] { table.lines = DwarfLines::read(reader_, unit_at(table.offset)); });
  return &table.lines;
}

}  // namespace loft::symbols
