#include "symbols/elf_file.hpp"

#include <algorithm>

#include "symbols/compression.hpp"

namespace loft::symbols {
namespace {

constexpr std::uint64_t kMostSections = 1u << 20;  // -ffunction-sections objects have 100,000s

Failure malformed(const std::string& path, std::string why) {
  return failure(ErrorKind::malformed, "read '" + path + "'", std::move(why));
}

std::string hexadecimal(Bytes bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::uint64_t aligned(std::uint64_t value) { return (value + 3) & ~std::uint64_t{3}; }

}  // namespace

std::string build_id_in_notes(Bytes notes, ByteOrder order) {
  constexpr std::size_t kLongestBuildId = 64;
  ByteReader in(notes, order);
  while (in.remaining() >= 12) {
    const std::uint64_t name_size = in.u32();
    const std::uint64_t size = in.u32();
    const std::uint32_t type = in.u32();
    const Bytes name = in.take(aligned(name_size));
    const Bytes content = in.take(size);
    if (!in.ok()) return {};
    in.skip(std::min<std::uint64_t>(aligned(size) - size, in.remaining()));
    if (type == NT_GNU_BUILD_ID && name_size == 4 && std::memcmp(name.data(), "GNU", 4) == 0 &&
        size > 0 && size <= kLongestBuildId)
      return hexadecimal(content);
  }
  return {};
}

bool same_build_id(std::string_view left, std::string_view right) {
  if (left.size() > right.size()) std::swap(left, right);
  return !left.empty() && right.starts_with(left) &&
         right.substr(left.size()).find_first_not_of('0') == std::string_view::npos;
}

Result<std::shared_ptr<const ElfFile>> ElfFile::open(const std::string& path) {
  std::shared_ptr<ElfFile> file(new ElfFile());
  file->path_ = path;
  LOFT_TRY(file->mapping_, Mapping::of_file(path));
  file->bytes_ = file->mapping_.bytes();
  if (is_packed_file(file->bytes_)) {  // a kernel module, as some distributions have them
    file->own_ = unpack_file(file->bytes_);
    file->bytes_ = file->own_;
  }
  LOFT_CHECK(file->parse());
  return file;
}

Result<std::shared_ptr<const ElfFile>> ElfFile::of_bytes(std::vector<std::byte> bytes,
                                                         std::string name) {
  std::shared_ptr<ElfFile> file(new ElfFile());
  file->path_ = std::move(name);
  file->own_ = std::move(bytes);
  file->bytes_ = file->own_;
  LOFT_CHECK(file->parse());
  return file;
}

Result<void> ElfFile::parse() {
  if (bytes_.size() < EI_NIDENT || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
    return malformed(path_, "it is not an ELF file");
  const auto file_class = std::to_integer<int>(bytes_[EI_CLASS]);
  const auto data = std::to_integer<int>(bytes_[EI_DATA]);
  if ((file_class != ELFCLASS32 && file_class != ELFCLASS64) ||
      (data != ELFDATA2LSB && data != ELFDATA2MSB))
    return malformed(path_, "its ELF class or byte order is unknown");
  is_64bit_ = file_class == ELFCLASS64;
  order_ = data == ELFDATA2LSB ? ByteOrder::little : ByteOrder::big;

  const std::size_t word = is_64bit_ ? 8 : 4;
  ByteReader in(bytes_, order_, EI_NIDENT);
  type_ = in.u16();
  machine_ = in.u16();
  in.skip(4 + word);  // version, entry
  const std::uint64_t segments = in.sized(word);
  const std::uint64_t sections = in.sized(word);
  in.skip(4 + 2);  // flags, size of this header
  const std::size_t segment_size = in.u16();
  const std::uint64_t segment_count = in.u16();
  const std::size_t section_size = in.u16();
  const std::uint64_t section_count = in.u16();
  const std::uint32_t section_names = in.u16();
  if (!in.ok()) return malformed(path_, "its ELF header is cut off");
  parse_segments(segments, segment_size, segment_count);
  if (sections != 0)
    LOFT_CHECK(parse_sections(sections, section_size, section_count, section_names));
  find_build_id();
  has_code_ = sections_.empty() ||
              std::any_of(sections_.begin(), sections_.end(), [](const ElfSection& section) {
                return section.is_code() && section.type != SHT_NOBITS && section.size != 0;
              });
  return {};
}

void ElfFile::parse_segments(std::uint64_t offset, std::size_t entry_size, std::uint64_t count) {
  const std::size_t least = is_64bit_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (entry_size < least || offset > bytes_.size()) return;
  count = std::min<std::uint64_t>(count, (bytes_.size() - offset) / entry_size);
  segments_.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i)
    segments_.push_back(read_segment(
        ByteReader(bytes_, order_, static_cast<std::size_t>(offset + i * entry_size))));
}

ElfSegment ElfFile::read_segment(ByteReader in) const {
  const std::size_t word = is_64bit_ ? 8 : 4;
  ElfSegment segment;
  segment.type = in.u32();
  if (is_64bit_) segment.flags = in.u32();
  segment.offset = in.sized(word);
  segment.address = in.sized(word);
  in.skip(word);  // physical address
  segment.file_size = in.sized(word);
  segment.memory_size = in.sized(word);
  if (!is_64bit_) segment.flags = in.u32();
  return segment;
}

ElfSection ElfFile::read_section(ByteReader in, std::uint32_t& name) const {
  const std::size_t word = is_64bit_ ? 8 : 4;
  ElfSection section;
  name = in.u32();
  section.type = in.u32();
  section.flags = in.sized(word);
  section.address = in.sized(word);
  section.offset = in.sized(word);
  section.size = in.sized(word);
  section.link = in.u32();
  in.skip(4 + word);  // info, alignment
  section.entry_size = in.sized(word);
  return section;
}

Result<void> ElfFile::parse_sections(std::uint64_t offset, std::size_t entry_size,
                                     std::uint64_t count, std::uint32_t names) {
  const std::size_t least = is_64bit_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (entry_size < least || offset > bytes_.size() || bytes_.size() - offset < entry_size)
    return malformed(path_, "its section headers lie outside of the file");
  std::uint32_t name = 0;
  const auto at = [&](std::uint64_t i) {
    return ByteReader(bytes_, order_, static_cast<std::size_t>(offset + i * entry_size));
  };
  // Numbers too large for the header are kept in the first section.
  const ElfSection first = read_section(at(0), name);
  if (count == 0) count = first.size;
  if (names == SHN_XINDEX) names = first.link;
  if (count > (bytes_.size() - offset) / entry_size || count > kMostSections)
    return malformed(path_, "it claims more sections than it has bytes for");

  std::vector<std::uint32_t> name_offsets(static_cast<std::size_t>(count));
  sections_.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i)
    sections_.push_back(read_section(at(i), name_offsets[static_cast<std::size_t>(i)]));
  if (names < sections_.size()) {
    const Bytes texts = content(sections_[names]);
    for (std::size_t i = 0; i < sections_.size(); ++i)
      sections_[i].name = text_at(texts, name_offsets[i]);
  }
  return {};
}

void ElfFile::find_build_id() {
  for (const ElfSection& section : sections_)
    if (section.type == SHT_NOTE && build_id_.empty())
      build_id_ = build_id_in_notes(content(section), order_);
  for (const ElfSegment& segment : segments_) {
    if (!build_id_.empty()) return;
    if (segment.type != PT_NOTE || segment.offset > bytes_.size() ||
        segment.file_size > bytes_.size() - segment.offset)
      continue;
    build_id_ = build_id_in_notes(bytes_.subspan(static_cast<std::size_t>(segment.offset),
                                                 static_cast<std::size_t>(segment.file_size)),
                                  order_);
  }
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_of_type(std::uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfFile::content(const ElfSection& section) const {
  if (section.type == SHT_NOBITS || section.offset > bytes_.size() ||
      section.size > bytes_.size() - section.offset)
    return {};
  return bytes_.subspan(static_cast<std::size_t>(section.offset),
                        static_cast<std::size_t>(section.size));
}

Bytes ElfFile::unpacked(std::string_view name) const {
  const ElfSection* found = section(name);
  if (found != nullptr && (found->flags & SHF_COMPRESSED) == 0) return content(*found);
  const bool is_gnu = found == nullptr && name.starts_with(".debug_");
  if (is_gnu) found = section(".z" + std::string(name.substr(1)));
  if (found == nullptr) return {};
  const std::lock_guard lock(unpack_mutex_);
  const auto [entry, is_new] = unpacked_.try_emplace(std::string(name));
  if (is_new)
    entry->second = is_gnu ? unpack_gnu_section(content(*found))
                           : unpack_elf_section(content(*found), order_, is_64bit_);
  return entry->second;
}

std::optional<DebugLink> ElfFile::debug_link() const {
  const ElfSection* found = section(".gnu_debuglink");
  if (found == nullptr) return std::nullopt;
  ByteReader in(content(*found), order_);
  DebugLink link;
  link.name = in.text();
  in.skip(aligned(in.position()) - in.position());
  link.crc = in.u32();
  // The name is joined to folders: one with a slash could lead anywhere.
  if (!in.ok() || link.name.empty() || link.name.find('/') != std::string::npos)
    return std::nullopt;
  return link;
}

std::optional<AlternateLink> ElfFile::alternate_link() const {
  const ElfSection* found = section(".gnu_debugaltlink");
  if (found == nullptr) return std::nullopt;
  ByteReader in(content(*found), order_);
  AlternateLink link;
  link.path = in.text();
  link.build_id = hexadecimal(in.take(std::min<std::size_t>(in.remaining(), 64)));
  if (!in.ok() || link.path.empty()) return std::nullopt;
  return link;
}

std::optional<std::uint64_t> ElfFile::address_of_offset(std::uint64_t offset) const {
  if (type_ == ET_REL) {  // a kernel module: its code is mapped from .text on
    const ElfSection* text = section(".text");
    return text == nullptr ? std::nullopt : std::optional(text->offset + offset);
  }
  if (!has_code()) return address_in_debug_file(offset);
  const ElfSegment* covering = nullptr;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || offset < segment.offset) continue;
    // Pages are mapped whole, so that an offset can be in two segments: code wins.
    if (offset - segment.offset >= segment.file_size) continue;
    if (covering == nullptr || (segment.flags & PF_X) != 0) covering = &segment;
  }
  if (covering == nullptr) return std::nullopt;
  return covering->address + (offset - covering->offset);
}

// A debug file keeps the segments' addresses but not their offsets. GNU ld lays code out so that
// offset and address differ by what the first segment says; the other linkers do not.
std::optional<std::uint64_t> ElfFile::address_in_debug_file(std::uint64_t offset) const {
  const ElfSection* comment = section(".comment");
  const Bytes bytes = comment != nullptr ? content(*comment) : Bytes{};
  const std::string_view linkers(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (linkers.find("LLD") != std::string_view::npos ||
      linkers.find("mold") != std::string_view::npos ||
      section(".note.gnu.gold-version") != nullptr)
    return std::nullopt;
  const auto first = std::find_if(segments_.begin(), segments_.end(),
                                  [](const ElfSegment& s) { return s.type == PT_LOAD; });
  if (first == segments_.end()) return std::nullopt;
  return first->address + offset;
}

}  // namespace loft::symbols
