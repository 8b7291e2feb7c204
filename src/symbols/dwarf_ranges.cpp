// The addresses of an entry: one range, a list of .debug_ranges, or one of .debug_rnglists.
#include "symbols/dwarf_constants.hpp"
#include "symbols/dwarf_reader.hpp"

namespace loft::symbols {

using namespace dwarf;
using Kind = DwarfValue::Kind;

namespace {

// Code that was thrown away was moved to address 0, or to the very end.
void add(std::uint64_t start, std::uint64_t end, std::vector<AddressRange>& into) {
  if (start != 0 && start < end && start < ~std::uint64_t{0} - 1) into.push_back({start, end});
}

}  // namespace

void DwarfReader::add_ranges(const DwarfUnit& unit, const Entry& entry, std::size_t& budget,
                             std::vector<AddressRange>& into) const {
  if (entry.ranges.kind == Kind::range_index) {
    if (entry.ranges.number > sections_.rnglists.size()) return;
    const std::uint64_t place = unit.rnglists_base + entry.ranges.number * unit.offset_size;
    ByteReader in(sections_.rnglists, sections_.order, static_cast<std::size_t>(place));
    const std::uint64_t offset = in.sized(unit.offset_size);
    if (in.ok()) add_range_list(unit, unit.rnglists_base + offset, budget, into);
  } else if (entry.ranges) {  // a section offset; a plain number before DWARF 4
    if (unit.version >= 5)
      add_range_list(unit, entry.ranges.number, budget, into);
    else
      add_old_ranges(unit, entry.ranges.number + (bases_ ? unit.ranges_base : 0), budget, into);
  } else if (const auto low = address(unit, entry.low_pc)) {
    const auto high = entry.high_pc.kind == Kind::constant
                          ? std::optional(*low + entry.high_pc.number)
                          : address(unit, entry.high_pc);
    if (high) add(*low, *high, into);
  }
}

void DwarfReader::add_old_ranges(const DwarfUnit& unit, std::uint64_t offset, std::size_t& budget,
                                 std::vector<AddressRange>& into) const {
  if (offset > sections_.ranges.size()) return;
  ByteReader in(sections_.ranges, sections_.order, static_cast<std::size_t>(offset));
  const std::uint64_t largest =
      unit.address_size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * unit.address_size) - 1;
  std::uint64_t base = unit.low_pc;
  for (; budget > 0; --budget) {
    const std::uint64_t start = in.sized(unit.address_size);
    const std::uint64_t end = in.sized(unit.address_size);
    if (!in.ok() || (start == 0 && end == 0)) return;
    if (start == largest)
      base = end;
    else
      add(base + start, base + end, into);
  }
}

void DwarfReader::add_range_list(const DwarfUnit& unit, std::uint64_t offset, std::size_t& budget,
                                 std::vector<AddressRange>& into) const {
  if (offset > sections_.rnglists.size()) return;
  ByteReader in(sections_.rnglists, sections_.order, static_cast<std::size_t>(offset));
  const auto indexed = [&] { return address(unit, {Kind::address_index, in.uleb()}).value_or(0); };
  std::uint64_t base = unit.low_pc;
  for (; in.ok() && budget > 0; --budget) {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    switch (in.u8()) {
      case kRangeEnd:
        return;
      case kRangeBaseAddressx:
        base = indexed();
        continue;
      case kRangeBaseAddress:
        base = in.sized(unit.address_size);
        continue;
      case kRangeStartxEndx:
        start = indexed();
        end = indexed();
        break;
      case kRangeStartxLength:
        start = indexed();
        end = start + in.uleb();
        break;
      case kRangeOffsetPair:
        start = base + in.uleb();
        end = base + in.uleb();
        break;
      case kRangeStartEnd:
        start = in.sized(unit.address_size);
        end = in.sized(unit.address_size);
        break;
      case kRangeStartLength:
        start = in.sized(unit.address_size);
        end = start + in.uleb();
        break;
      default:
        return;
    }
    if (in.ok()) add(start, end, into);
  }
}

}  // namespace loft::symbols
