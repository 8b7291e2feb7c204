#include "symbols/dwarf_split.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "symbols/binary_finder.hpp"

namespace loft::symbols {
namespace {

// The kinds of sections that an index of a .dwp names and loft reads.
enum SectionKind : std::uint32_t { kInfo = 1, kAbbrev = 3, kStrOffsets = 6, kRnglists = 8 };

DwarfSections split_sections(const ElfFile& file, const DwarfSections& program) {
  DwarfSections sections;
  sections.info = file.unpacked(".debug_info.dwo");
  sections.abbrev = file.unpacked(".debug_abbrev.dwo");
  sections.str = file.unpacked(".debug_str.dwo");
  sections.str_offsets = file.unpacked(".debug_str_offsets.dwo");
  sections.rnglists = file.unpacked(".debug_rnglists.dwo");
  sections.order = file.order();
  // Addresses stay in the program, where the linker knows them; so do ranges before DWARF 5.
  sections.addr = program.addr;
  sections.ranges = program.ranges;
  return sections;
}

// The index of a .dwp: a hash table from ids to rows, and per row the part of each section.
class PackageIndex {
 public:
  explicit PackageIndex(Bytes bytes, ByteOrder order) : bytes_(bytes), order_(order) {
    ByteReader in(bytes, order);
    const std::uint32_t version = in.u16();
    in.skip(2);
    sections_ = in.u32();
    units_ = in.u32();
    slots_ = in.u32();
    version_ = version;
    const std::uint64_t table = 16 + std::uint64_t{slots_} * 12;
    const std::uint64_t rows = (1 + 2 * std::uint64_t{units_}) * sections_ * 4;
    is_good_ = in.ok() && (version == 2 || version == 5) && sections_ != 0 && sections_ < 16 &&
               slots_ != 0 && (slots_ & (slots_ - 1)) == 0 && table + rows <= bytes.size();
  }

  // Cuts the sections down to the parts of the unit with this id. False when it is not there.
  bool cut_to(std::uint64_t id, DwarfSections& sections) const {
    const auto row = row_of(id);
    if (!row) return false;
    const std::uint64_t kinds = 16 + std::uint64_t{slots_} * 12;
    for (std::uint32_t column = 0; column < sections_; ++column) {
      const std::uint64_t offsets = kinds + 4 * (std::uint64_t{sections_} * *row + column);
      const std::uint32_t offset = u32_at(offsets);
      const std::uint32_t size = u32_at(offsets + 4 * std::uint64_t{sections_} * units_);
      Bytes* part = section_of(u32_at(kinds + 4 * std::uint64_t{column}), sections);
      if (part == nullptr) continue;
      if (offset > part->size() || size > part->size() - offset) return false;
      *part = part->subspan(offset, size);
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t u32_at(std::uint64_t at) const {
    return ByteReader(bytes_, order_, static_cast<std::size_t>(at)).u32();
  }

  // From 1 on.
  [[nodiscard]] std::optional<std::uint32_t> row_of(std::uint64_t id) const {
    if (!is_good_) return std::nullopt;
    const std::uint64_t mask = slots_ - 1;
    const std::uint64_t step = (id >> 32 & mask) | 1;
    std::uint64_t slot = id & mask;
    for (std::uint32_t tries = 0; tries < slots_; ++tries, slot = (slot + step) & mask) {
      const std::uint32_t row = u32_at(16 + std::uint64_t{slots_} * 8 + slot * 4);
      if (row == 0 || row > units_) return std::nullopt;
      if (ByteReader(bytes_, order_, static_cast<std::size_t>(16 + slot * 8)).u64() == id)
        return row;
    }
    return std::nullopt;
  }

  Bytes* section_of(std::uint32_t kind, DwarfSections& sections) const {
    if (kind == kInfo) return &sections.info;
    if (kind == kAbbrev) return &sections.abbrev;
    if (kind == kStrOffsets) return &sections.str_offsets;
    return kind == kRnglists && version_ == 5 ? &sections.rnglists : nullptr;
  }

  Bytes bytes_;
  ByteOrder order_;
  std::uint32_t version_ = 0;
  std::uint32_t sections_ = 0;
  std::uint32_t units_ = 0;
  std::uint32_t slots_ = 0;
  bool is_good_ = false;
};

}  // namespace

const DwarfUnit* SplitUnit::unit_with(std::uint64_t id) const {
  const auto& units = reader_.units();
  const auto found = std::find_if(units.begin(), units.end(), [&](const DwarfUnit& unit) {
    return unit.is_compile_unit && unit.split_id == id;
  });
  return found == units.end() ? nullptr : &*found;
}

std::shared_ptr<const ElfFile> DwarfSplit::package() const {
  std::call_once(package_once_, [this] {
    if (!is_regular_file(program_ + ".dwp")) return;
    if (auto file = ElfFile::open(program_ + ".dwp")) package_ = *std::move(file);
  });
  return package_;
}

std::vector<std::string> DwarfSplit::places_of(const std::string& folder,
                                               const std::string& name) const {
  const std::string last = name.substr(name.rfind('/') + 1);
  std::vector<std::string> places;
  for (const std::string& path : search_paths_) places.push_back(join_path(path, last));
  places.push_back(root_.at(name.starts_with('/') ? name : join_path(folder, name)));
  places.push_back(join_path(program_.substr(0, program_.rfind('/') + 1), last));
  return places;
}

std::shared_ptr<const SplitUnit> DwarfSplit::find(const DwarfReader& reader,
                                                  const DwarfUnit& skeleton) const {
  const std::string name(reader.text(skeleton, skeleton.split_name));
  if (name.empty()) return nullptr;
  const SkeletonBases bases{skeleton.addr_base, skeleton.low_pc, skeleton.ranges_base};
  const auto proven = [&](std::shared_ptr<const ElfFile> file, const DwarfSections& sections) {
    auto unit = std::make_shared<const SplitUnit>(std::move(file), sections, bases);
    return unit->unit_with(skeleton.split_id) != nullptr ? unit : nullptr;
  };
  if (const auto file = package()) {
    DwarfSections sections = split_sections(*file, reader.sections());
    const PackageIndex index(file->unpacked(".debug_cu_index"), file->order());
    if (index.cut_to(skeleton.split_id, sections))
      if (auto unit = proven(file, sections)) return unit;
  }
  const std::string folder(reader.text(skeleton, skeleton.compilation_folder));
  for (const std::string& place : places_of(folder, name)) {
    if (!is_regular_file(place)) continue;
    const auto file = ElfFile::open(place);
    if (!file) continue;
    if (auto unit = proven(*file, split_sections(**file, reader.sections()))) return unit;
  }
  return nullptr;
}

}  // namespace loft::symbols
