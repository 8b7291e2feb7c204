#include "sample/symbols/dwarf_line_index.hpp"

namespace loft::sample::symbols {
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
  const DwarfReader reader(sections, nullptr);
  auto index = std::make_unique<DwarfLineIndex>();
  std::vector<Span> spans;
  ByteReader in(sections.line, sections.order);
  while (!in.at_end()) {
    DwarfUnit unit;
    unit.statement_list = {DwarfValue::Kind::section_offset, in.position()};
    std::uint64_t length = in.u32();
    if (length == 0xffffffff) length = in.u64();
    ByteReader body(in.take(length), sections.order);
    if (!in.ok() || body.u16() != 5) return nullptr;
    DwarfLines lines = DwarfLines::read(reader, unit);
    if (!lines.names_all_files()) return nullptr;
    lines.add_spans(static_cast<std::uint32_t>(index->programs_.size()), spans);
    index->programs_.push_back(std::move(lines));
  }
  index->by_address_ = IntervalMap(std::move(spans));
  return index;
}

std::optional<SourceLine> DwarfLineIndex::find(std::uint64_t address) const {
  const auto program = by_address_.find(address);
  return program ? programs_[*program].find(address) : std::nullopt;
}

}  // namespace loft::sample::symbols
