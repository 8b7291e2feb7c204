#include "symbols/dwarf_reader.hpp"

#include <algorithm>

#include "symbols/dwarf_constants.hpp"

namespace loft::symbols {

using namespace dwarf;
using Kind = DwarfValue::Kind;

namespace {

// Where an attribute of interest goes; null for the others.
DwarfValue* place_of(Entry& entry, std::uint32_t attribute) {
  switch (attribute) {
    case kAtSibling:
      return &entry.sibling;
    case kAtName:
      return &entry.name;
    case kAtStatementList:
      return &entry.statement_list;
    case kAtLowPc:
      return &entry.low_pc;
    case kAtHighPc:
      return &entry.high_pc;
    case kAtCompilationFolder:
      return &entry.compilation_folder;
    case kAtAbstractOrigin:
    case kAtSpecification:
      return &entry.origin;
    case kAtRanges:
      return &entry.ranges;
    case kAtCallFile:
      return &entry.call_file;
    case kAtCallLine:
      return &entry.call_line;
    case kAtLinkageName:
    case kAtMipsLinkageName:
      return &entry.linkage_name;
    case kAtStrOffsetsBase:
      return &entry.str_offsets_base;
    case kAtAddrBase:
    case kAtGnuAddrBase:
      return &entry.addr_base;
    case kAtRnglistsBase:
      return &entry.rnglists_base;
    case kAtDwoName:
    case kAtGnuDwoName:
      return &entry.split_name;
    case kAtGnuDwoId:
      return &entry.split_id;
    case kAtGnuRangesBase:
      return &entry.ranges_base;
    default:
      return nullptr;
  }
}

}  // namespace

DwarfSections DwarfSections::of(const ElfFile& elf) {
  DwarfSections sections;
  sections.info = elf.unpacked(".debug_info");
  sections.abbrev = elf.unpacked(".debug_abbrev");
  sections.str = elf.unpacked(".debug_str");
  sections.str_offsets = elf.unpacked(".debug_str_offsets");
  sections.line = elf.unpacked(".debug_line");
  sections.line_str = elf.unpacked(".debug_line_str");
  sections.ranges = elf.unpacked(".debug_ranges");
  sections.rnglists = elf.unpacked(".debug_rnglists");
  sections.addr = elf.unpacked(".debug_addr");
  sections.order = elf.order();
  return sections;
}

AbbreviationTable::AbbreviationTable(Bytes section, std::uint64_t offset, ByteOrder order,
                                     std::uint64_t last) {
  if (offset > section.size()) return;
  ByteReader in(section, order, static_cast<std::size_t>(offset));
  while (const std::uint64_t code = in.uleb()) {
    Abbreviation entry;
    entry.code = code;
    entry.tag = static_cast<std::uint32_t>(in.uleb());
    entry.has_children = in.u8() != 0;
    entry.first = static_cast<std::uint32_t>(attributes_.size());
    for (;;) {
      const auto name = static_cast<std::uint32_t>(in.uleb());
      const auto form = static_cast<std::uint32_t>(in.uleb());
      const std::int64_t implicit = form == kFormImplicitConst ? in.sleb() : 0;
      if (!in.ok() || (name == 0 && form == 0)) break;
      attributes_.push_back({name, form, implicit});
    }
    if (!in.ok()) break;
    entry.count = static_cast<std::uint32_t>(attributes_.size()) - entry.first;
    entries_.push_back(entry);
    if (code == last) break;
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Abbreviation& a, const Abbreviation& b) { return a.code < b.code; });
}

const Abbreviation* AbbreviationTable::find(std::uint64_t code) const {
  if (code - 1 < entries_.size() && entries_[static_cast<std::size_t>(code - 1)].code == code)
    return &entries_[static_cast<std::size_t>(code - 1)];
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), code,
      [](const Abbreviation& entry, std::uint64_t wanted) { return entry.code < wanted; });
  return found != entries_.end() && found->code == code ? &*found : nullptr;
}

DwarfReader::DwarfReader(const DwarfSections& sections,
                         std::shared_ptr<const DwarfReader> alternate,
                         std::optional<SkeletonBases> bases)
    : sections_(sections), alternate_(std::move(alternate)), bases_(bases) {
  read_units();
}

void DwarfReader::read_units() {
  ByteReader in(sections_.info, sections_.order);
  while (!in.at_end()) {
    DwarfUnit unit;
    unit.offset = in.position();
    if (!read_header(in, unit)) return;
    units_.push_back(unit);
    in = ByteReader(sections_.info, sections_.order, static_cast<std::size_t>(unit.end));
  }
  for (DwarfUnit& unit : units_) read_root(unit);
}

bool DwarfReader::read_header(ByteReader& in, DwarfUnit& unit) const {
  std::uint64_t length = in.u32();
  if (length == 0xffffffff) {
    unit.offset_size = 8;
    length = in.u64();
  }
  if (!in.ok() || length > in.remaining()) return false;
  unit.end = in.position() + length;
  unit.version = in.u16();
  if (unit.version < 2 || unit.version > 5) {  // from the future: pass over it
    unit.is_compile_unit = false;
    unit.first_entry = unit.end;
    return true;
  }
  std::uint8_t type = kUnitCompile;
  if (unit.version >= 5) {
    type = in.u8();
    unit.address_size = in.u8();
    unit.abbrev_offset = in.sized(unit.offset_size);
  } else {
    unit.abbrev_offset = in.sized(unit.offset_size);
    unit.address_size = in.u8();
  }
  if (type == kUnitSkeleton || type == kUnitSplitCompile) unit.split_id = in.u64();
  if (type == kUnitType || type == kUnitSplitType) in.skip(8 + unit.offset_size);
  unit.is_compile_unit = type == kUnitCompile || type == kUnitSkeleton || type == kUnitSplitCompile;
  unit.first_entry = in.position();
  const bool is_size = unit.address_size == 4 || unit.address_size == 8 || unit.address_size == 2;
  return in.ok() && is_size && unit.first_entry <= unit.end;
}

void DwarfReader::read_root(DwarfUnit& unit) const {
  const Entry entry = root(unit);
  // Without the attribute the table starts behind the header of its section; before DWARF 5 it had
  // none.
  const std::uint64_t header = unit.version < 5 ? 0 : unit.offset_size == 8 ? 16 : 8;
  unit.str_offsets_base = entry.str_offsets_base ? entry.str_offsets_base.number : header;
  unit.addr_base = entry.addr_base ? entry.addr_base.number : header;
  unit.rnglists_base = entry.rnglists_base.number;
  unit.ranges_base = entry.ranges_base.number;
  unit.split_name = entry.split_name;
  if (entry.split_id) unit.split_id = entry.split_id.number;
  unit.compilation_folder = entry.compilation_folder;
  unit.statement_list = entry.statement_list;
  unit.low_pc = address(unit, entry.low_pc).value_or(0);
  if (bases_) {
    unit.addr_base = bases_->addr_base;
    unit.low_pc = bases_->low_pc;
    unit.ranges_base = bases_->ranges_base;
    unit.rnglists_base = unit.offset_size == 8 ? 20 : 12;  // behind the header of the only list
  }
  if (entry.tag != kTagCompileUnit && entry.tag != kTagSkeletonUnit) unit.is_compile_unit = false;
}

const DwarfUnit* DwarfReader::unit_at(std::uint64_t info_offset) const {
  const auto above = std::upper_bound(
      units_.begin(), units_.end(), info_offset,
      [](std::uint64_t wanted, const DwarfUnit& unit) { return wanted < unit.offset; });
  if (above == units_.begin() || info_offset >= std::prev(above)->end) return nullptr;
  return &*std::prev(above);
}

std::shared_ptr<const AbbreviationTable> DwarfReader::abbreviations(const DwarfUnit& unit) const {
  const std::lock_guard lock(mutex_);
  auto& table = tables_[unit.abbrev_offset];
  if (table == nullptr)
    table = std::make_shared<const AbbreviationTable>(sections_.abbrev, unit.abbrev_offset,
                                                      sections_.order);
  return table;
}

ByteReader DwarfReader::reader_at(const DwarfUnit& unit, std::uint64_t info_offset) const {
  ByteReader in(sections_.info.first(static_cast<std::size_t>(unit.end)), sections_.order,
                static_cast<std::size_t>(std::min(info_offset, unit.end)));
  if (info_offset < unit.first_entry || info_offset >= unit.end) in.fail();
  return in;
}

bool DwarfReader::read_entry(const DwarfUnit& unit, const AbbreviationTable& table, ByteReader& in,
                             Entry& entry) const {
  entry = {};
  const std::uint64_t code = in.uleb();
  if (code == 0) return false;
  const Abbreviation* abbreviation = table.find(code);
  if (abbreviation == nullptr) {
    in.fail();
    return false;
  }
  entry.tag = abbreviation->tag;
  entry.has_children = abbreviation->has_children;
  for (std::uint32_t i = 0; i < abbreviation->count; ++i) {
    const AttributeSpec& spec = table.attribute(abbreviation->first + i);
    const DwarfValue value = read_value(unit, spec.form, spec.implicit, in);
    if (DwarfValue* place = place_of(entry, spec.name)) *place = value;
  }
  return in.ok();
}

Entry DwarfReader::root(const DwarfUnit& unit) const {
  Entry entry;
  if (unit.first_entry >= unit.end) return entry;
  ByteReader in = reader_at(unit, unit.first_entry);
  // Most units are never asked for more than this entry: their whole tables stay unread.
  const std::uint64_t code = ByteReader(in).uleb();
  const AbbreviationTable table(sections_.abbrev, unit.abbrev_offset, sections_.order, code);
  if (!read_entry(unit, table, in, entry)) entry = {};
  return entry;
}

DwarfValue DwarfReader::read_value(const DwarfUnit& unit, std::uint32_t form, std::int64_t implicit,
                                   ByteReader& in) const {
  const auto own_reference = [&](std::uint64_t offset) {
    return DwarfValue{Kind::reference, unit.offset + offset};
  };
  switch (form) {
    case kFormAddr:
      return {Kind::address, in.sized(unit.address_size)};
    case kFormData1:
    case kFormFlag:
      return {Kind::constant, in.u8()};
    case kFormData2:
      return {Kind::constant, in.u16()};
    case kFormData4:
      return {Kind::constant, in.u32()};
    case kFormData8:
      return {Kind::constant, in.u64()};
    case kFormSdata:
      return {Kind::constant, static_cast<std::uint64_t>(in.sleb())};
    case kFormUdata:
      return {Kind::constant, in.uleb()};
    case kFormImplicitConst:
      return {Kind::constant, static_cast<std::uint64_t>(implicit)};
    case kFormFlagPresent:
      return {Kind::constant, 1};
    case kFormString: {
      const std::uint64_t offset = in.position();
      in.text();
      return {Kind::own_text, offset};
    }
    case kFormStrp:
      return {Kind::text, in.sized(unit.offset_size)};
    case kFormLineStrp:
      return {Kind::line_text, in.sized(unit.offset_size)};
    case kFormStrx:
    case kFormGnuStrIndex:
      return {Kind::text_index, in.uleb()};
    case kFormStrx1:
      return {Kind::text_index, in.u8()};
    case kFormStrx2:
      return {Kind::text_index, in.u16()};
    case kFormStrx3:
      return {Kind::text_index, in.sized(3)};
    case kFormStrx4:
      return {Kind::text_index, in.u32()};
    case kFormStrpSup:
    case kFormGnuStrpAlt:
      return {Kind::alternate_text, in.sized(unit.offset_size)};
    case kFormAddrx:
    case kFormGnuAddrIndex:
      return {Kind::address_index, in.uleb()};
    case kFormAddrx1:
      return {Kind::address_index, in.u8()};
    case kFormAddrx2:
      return {Kind::address_index, in.u16()};
    case kFormAddrx3:
      return {Kind::address_index, in.sized(3)};
    case kFormAddrx4:
      return {Kind::address_index, in.u32()};
    case kFormRef1:
      return own_reference(in.u8());
    case kFormRef2:
      return own_reference(in.u16());
    case kFormRef4:
      return own_reference(in.u32());
    case kFormRef8:
      return own_reference(in.u64());
    case kFormRefUdata:
      return own_reference(in.uleb());
    case kFormRefAddr:
      return {Kind::reference, in.sized(unit.version <= 2 ? unit.address_size : unit.offset_size)};
    case kFormRefSup4:
      return {Kind::alternate_reference, in.u32()};
    case kFormRefSup8:
      return {Kind::alternate_reference, in.u64()};
    case kFormGnuRefAlt:
      return {Kind::alternate_reference, in.sized(unit.offset_size)};
    case kFormSecOffset:
      return {Kind::section_offset, in.sized(unit.offset_size)};
    case kFormRnglistx:
      return {Kind::range_index, in.uleb()};
    case kFormLoclistx:
      in.uleb();
      return {};
    case kFormRefSig8:
      in.skip(8);
      return {};
    case kFormData16:
      in.skip(16);
      return {};
    case kFormBlock1:
      in.skip(in.u8());
      return {};
    case kFormBlock2:
      in.skip(in.u16());
      return {};
    case kFormBlock4:
      in.skip(in.u32());
      return {};
    case kFormBlock:
    case kFormExprloc:
      in.skip(in.uleb());
      return {};
    case kFormIndirect: {
      const auto actual = static_cast<std::uint32_t>(in.uleb());
      if (actual != kFormIndirect && actual != kFormImplicitConst)
        return read_value(unit, actual, 0, in);
      break;
    }
    default:
      break;
  }
  in.fail();  // its size is unknown, and so is all that follows
  return {};
}

std::string_view DwarfReader::text(const DwarfUnit& unit, const DwarfValue& value) const {
  switch (value.kind) {
    case Kind::own_text:
      return text_at(sections_.info, value.number);
    case Kind::text:
      return text_at(sections_.str, value.number);
    case Kind::line_text:
      return text_at(sections_.line_str, value.number);
    case Kind::alternate_text:
      return alternate_ == nullptr ? std::string_view()
                                   : text_at(alternate_->sections_.str, value.number);
    case Kind::text_index: {
      if (value.number > sections_.str_offsets.size()) return {};
      const std::uint64_t place = unit.str_offsets_base + value.number * unit.offset_size;
      ByteReader in(sections_.str_offsets, sections_.order, static_cast<std::size_t>(place));
      const std::uint64_t offset = in.sized(unit.offset_size);
      return in.ok() ? text_at(sections_.str, offset) : std::string_view();
    }
    default:
      return {};
  }
}

std::optional<std::uint64_t> DwarfReader::address(const DwarfUnit& unit,
                                                  const DwarfValue& value) const {
  if (value.kind == Kind::address) return value.number;
  if (value.kind != Kind::address_index || value.number > sections_.addr.size())
    return std::nullopt;
  const std::uint64_t place = unit.addr_base + value.number * unit.address_size;
  ByteReader in(sections_.addr, sections_.order, static_cast<std::size_t>(place));
  const std::uint64_t found = in.sized(unit.address_size);
  return in.ok() ? std::optional(found) : std::nullopt;
}

}  // namespace loft::symbols
