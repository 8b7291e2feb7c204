#include "symbols/dwarf_info.hpp"

#include <algorithm>

#include "symbols/dwarf_constants.hpp"

namespace loft::symbols {

using namespace dwarf;
using Kind = DwarfValue::Kind;

namespace {

constexpr std::size_t kMostRanges = 1u << 24;  // of one unit, or of all units' outlines
constexpr std::size_t kMostInlinedFrames = 256;
constexpr unsigned kMostHops = 8;  // from an inlined call to the declaration with the name

}  // namespace

// Goes through the entries of a unit in their order and keeps the inlined calls.
class DwarfInfo::TreeWalk {
 public:
  TreeWalk(const DwarfReader& reader, const DwarfUnit& unit)
      : reader_(reader), unit_(unit), in_(reader.reader_at(unit, unit.first_entry)) {}

  Inlines run() {
    const auto table = reader_.abbreviations(unit_);
    Entry entry;
    while (in_.ok() && !in_.at_end()) {
      if (reader_.read_entry(unit_, *table, in_, entry))
        visit(entry);
      else if (!in_.ok() || !leave())
        break;
    }
    inlines_.by_address = IntervalMap(std::move(spans_));
    return std::move(inlines_);
  }

 private:
  struct Level {
    std::uint32_t scope = Scope::kFunction;
    bool is_ignored = false;
  };

  void visit(const Entry& entry) {
    const Level level = levels_.empty() ? Level{} : levels_.back();
    switch (level.is_ignored ? 0 : entry.tag) {
      case kTagInlinedSubroutine:
        return enter(entry, {add_scope(entry, level.scope), false});
      case kTagLexicalBlock:
      case kTagTryBlock:
      case kTagCatchBlock:
        return enter(entry, level);
      case kTagCompileUnit:
      case kTagPartialUnit:
      case kTagSkeletonUnit:
      case kTagSubprogram:  // also one without code: lambdas and local classes are inside of it
      case kTagNamespace:
      case kTagModule:
      case kTagClass:
      case kTagStructure:
      case kTagUnion:
      case kTagEnumeration:
        return enter(entry, Level{});
      default:
        return pass_over(entry);
    }
  }

  void enter(const Entry& entry, Level level) {
    if (entry.has_children) levels_.push_back(level);
  }

  void pass_over(const Entry& entry) {
    if (!entry.has_children) return;
    const bool leads_on = entry.sibling.kind == Kind::reference &&
                          entry.sibling.number > in_.position() && entry.sibling.number < unit_.end;
    if (leads_on)
      in_ = reader_.reader_at(unit_, entry.sibling.number);
    else
      levels_.push_back({Scope::kFunction, true});
  }

  // The end of a list of children. False behind the last one.
  bool leave() {
    if (levels_.empty()) return false;
    levels_.pop_back();
    return !levels_.empty();
  }

  std::uint32_t add_scope(const Entry& entry, std::uint32_t around) {
    const auto index = static_cast<std::uint32_t>(inlines_.scopes.size());
    inlines_.scopes.push_back({around, static_cast<std::uint32_t>(entry.call_file.number),
                               static_cast<std::uint32_t>(entry.call_line.number), entry.origin});
    ranges_.clear();
    reader_.add_ranges(unit_, entry, budget_, ranges_);
    for (const AddressRange& range : ranges_) spans_.push_back({range.start, range.end, index});
    return index;
  }

  const DwarfReader& reader_;
  const DwarfUnit& unit_;
  ByteReader in_;
  std::size_t budget_ = kMostRanges;
  std::vector<Level> levels_;
  std::vector<AddressRange> ranges_;
  std::vector<Span> spans_;
  Inlines inlines_;
};

DwarfInfo::DwarfInfo(std::shared_ptr<const ElfFile> elf, std::shared_ptr<const ElfFile> alternate,
                     const SymbolOptions& options)
    : elf_(std::move(elf)),
      alternate_(std::move(alternate)),
      split_(*elf_, options),
      names_(options.names) {}

void DwarfInfo::open() const {
  std::shared_ptr<const DwarfReader> alternate;
  if (alternate_ != nullptr)
    alternate = std::make_shared<const DwarfReader>(DwarfSections::of(*alternate_), nullptr);
  reader_ = std::make_unique<const DwarfReader>(DwarfSections::of(*elf_), std::move(alternate));
  const auto& units = reader_->units();
  units_ = std::make_unique<Unit[]>(units.size());

  std::vector<Span> spans;
  std::vector<AddressRange> ranges;
  std::size_t budget = kMostRanges;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!units[i].is_compile_unit) continue;
    ranges.clear();
    reader_->add_ranges(units[i], reader_->root(units[i]), budget, ranges);
    for (const AddressRange& range : ranges)
      spans.push_back({range.start, range.end, static_cast<std::uint32_t>(i)});
  }
  unit_by_address_ = IntervalMap(std::move(spans));
}

std::optional<std::uint32_t> DwarfInfo::unit_of(std::uint64_t address) const {
  std::call_once(open_once_, [this] { open(); });
  return unit_by_address_.find(address);
}

const DwarfLines& DwarfInfo::lines_of(std::uint32_t index) const {
  Unit& unit = units_[index];
  std::call_once(unit.lines_once,
                 [&] { unit.lines = DwarfLines::read(*reader_, reader_->units()[index]); });
  return unit.lines;
}

const DwarfInfo::Inlines& DwarfInfo::inlines_of(std::uint32_t index) const {
  Unit& unit = units_[index];
  std::call_once(unit.inlines_once, [&] {
    const DwarfUnit& known = reader_->units()[index];
    auto split = split_.find(*reader_, known);
    unit.inlines = split == nullptr
                       ? TreeWalk(*reader_, known).run()
                       : TreeWalk(split->reader(), *split->unit_with(known.split_id)).run();
    unit.inlines.split = std::move(split);
  });
  return unit.inlines;
}

std::optional<SourceLine> DwarfInfo::line(std::uint64_t address) const {
  std::call_once(index_once_, [this] { line_index_ = DwarfLineIndex::read(*elf_); });
  if (line_index_ != nullptr) {
    const DwarfLines* lines = line_index_->lines_at(address);
    if (lines == nullptr) return std::nullopt;
    if (lines->names_all_files()) return lines->find(address);
  }
  const auto unit = unit_of(address);
  if (!unit) return std::nullopt;
  return lines_of(*unit).find(address);
}

std::vector<InlinedFrame> DwarfInfo::inlined(std::uint64_t address) const {
  std::vector<InlinedFrame> frames;
  const auto unit = unit_of(address);
  if (!unit) return frames;
  const Inlines& inlines = inlines_of(*unit);
  const DwarfReader& reader = inlines.split != nullptr ? inlines.split->reader() : *reader_;
  std::uint32_t index = inlines.by_address.find(address).value_or(Scope::kFunction);
  while (index != Scope::kFunction && frames.size() < kMostInlinedFrames) {
    const Scope& scope = inlines.scopes[index];
    frames.push_back({function_name(reader, scope.origin),
                      {lines_of(*unit).file(scope.call_file), scope.call_line}});
    index = scope.around;
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

std::string_view DwarfInfo::function_name(const DwarfReader& around,
                                          const DwarfValue& origin) const {
  const bool is_alternate = origin.kind == Kind::alternate_reference;
  const DwarfReader* reader = is_alternate ? around.alternate() : &around;
  const std::lock_guard lock(name_mutex_);
  auto [found, is_new] = name_of_origin_.try_emplace({reader, origin.number});
  if (is_new) {
    std::string name = reader == nullptr ? std::string() : name_at(*reader, origin.number, 0);
    if (name.empty()) name = "[inlined]";
    found->second = function_names_.emplace_back(std::move(name));
  }
  return found->second;
}

std::string DwarfInfo::name_at(const DwarfReader& reader, std::uint64_t offset,
                               unsigned hops) const {
  const DwarfUnit* unit = reader.unit_at(offset);
  if (unit == nullptr || hops > kMostHops) return {};
  ByteReader in = reader.reader_at(*unit, offset);
  Entry entry;
  if (!in.ok() || !reader.read_entry(*unit, *reader.abbreviations(*unit), in, entry)) return {};
  if (const std::string_view linkage = reader.text(*unit, entry.linkage_name); !linkage.empty()) {
    std::string readable = demangle(linkage, names_);
    return readable.empty() ? std::string(linkage) : readable;
  }
  // The declaration may know the name as the linker sees it, with its namespaces.
  const bool is_alternate = entry.origin.kind == Kind::alternate_reference;
  const DwarfReader* next = is_alternate ? reader.alternate() : &reader;
  if (entry.origin && next != nullptr) {
    if (std::string name = name_at(*next, entry.origin.number, hops + 1); !name.empty())
      return name;
  }
  return std::string(reader.text(*unit, entry.name));
}

}  // namespace loft::symbols
