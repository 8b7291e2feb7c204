#include "format/perf/header.hpp"

#include <algorithm>
#include <cstring>

#include "format/perf/foreign.hpp"
#include "format/perf/record.hpp"

namespace loft::format::perf {
namespace {

constexpr std::size_t kPipeHeader = 16;
constexpr std::size_t kSectionSize = 16;
constexpr std::size_t kFeatureWords = 4;
constexpr std::size_t kFileHeader = 104;
constexpr std::uint64_t kOldEventType = 72;  // perf_trace_event_type: an id and a name of 64
constexpr std::uint32_t kHostnameBit = 3;

std::string_view magic_of(Bytes file) {
  return {reinterpret_cast<const char*>(file.data()), std::min(file.size(), kMagicSize)};
}

Failure not_a_recording(std::string why,
                        std::string hint = "make one with 'loft record' or 'perf record'") {
  return failure(ErrorKind::malformed, "read the recording", std::move(why), std::move(hint));
}

Failure ends_within_header() {
  return not_a_recording("it ends within its header",
                         "it was cut off, or its recorder is only starting: record anew");
}

// PERFFILE is the same in both byte orders; there the size of the header tells.
Result<FileHeader> read_magic(Bytes file) {
  FileHeader header;
  const std::string_view magic = magic_of(file);
  if (magic == "PERFILE2") {
    header.order = ByteOrder::little;
  } else if (magic == "2ELIFREP") {
    header.order = ByteOrder::big;
  } else if (magic == "PERFFILE") {
    header.is_old_magic = true;
    if (file.size() < kPipeHeader) return ends_within_header();
    header.order = load<std::uint64_t>(file.data() + 8, ByteOrder::little) < 65536
                       ? ByteOrder::little
                       : ByteOrder::big;
  } else {
    auto foreign = recognize_foreign(file);
    return not_a_recording(std::move(foreign.why), std::move(foreign.hint));
  }
  if (file.size() < kPipeHeader) return ends_within_header();
  return header;
}

Section read_section(ByteReader& in) {
  Section section;
  section.offset = in.u64();
  section.size = in.u64();
  return section;
}

// The part of a claimed section that is in the file.
Section clamped(Section section, std::size_t file_size, const char* name, FileHeader& header) {
  if (section.offset > file_size) {
    header.notes.push_back(std::string(name) + " lies behind the end of the file");
    return {};
  }
  const std::uint64_t left = file_size - section.offset;
  if (section.size > left) {
    header.notes.push_back(std::string(name) + " is cut off: " + std::to_string(left) + " of " +
                           std::to_string(section.size) + " bytes are there");
    section.size = left;
  }
  return section;
}

void read_ids(Bytes file, Section where, FileHeader& header, std::vector<std::uint64_t>& ids) {
  where = clamped(where, file.size(), "the id list of an event", header);
  ByteReader in(file.subspan(where.offset, where.size), header.order);
  for (std::uint64_t i = 0; i < where.size / 8; ++i) ids.push_back(in.u64());
}

// One entry is the attribute and the section of its ids; its size is in the header.
void read_attrs(Bytes file, Section section, std::uint64_t entry_size, FileHeader& header) {
  section = clamped(section, file.size(), "the list of events", header);
  if (entry_size < kSmallestAttr + kSectionSize || entry_size > 65536) {
    // Other readers trust the header; the attribute knows its size as well.
    const std::uint64_t at = section.offset + 4;
    const std::uint32_t own =
        section.size >= 8 ? load<std::uint32_t>(file.data() + at, header.order) : 0;
    header.notes.push_back("the size of an event entry, " + std::to_string(entry_size) +
                           ", cannot be");
    if (own < kSmallestAttr || own > 4096) return;
    entry_size = own + kSectionSize;
  }
  // Ids are shared between entries only by a file that lies; their sum is bounded by the file.
  std::uint64_t ids_left = file.size() / 8;
  for (std::uint64_t at = 0; section.size - at >= entry_size; at += entry_size) {
    const Bytes entry = file.subspan(section.offset + at, entry_size);
    auto attr = read_attr(entry.first(entry_size - kSectionSize), header.order);
    if (!attr) return;
    ByteReader in(entry.last(kSectionSize), header.order);
    Section ids = read_section(in);
    ids.size = std::min(ids.size, ids_left * 8);
    auto& event = header.events.emplace_back();
    event.attr = *attr;
    read_ids(file, ids, header, event.ids);
    ids_left -= std::min<std::uint64_t>(ids_left, event.ids.size());
    if (entry_size > section.size - at) break;
  }
}

// Recorders before 3.x keep names in a table of their own.
void read_old_names(Bytes file, Section section, FileHeader& header) {
  if (section.size == 0 || section.offset > file.size()) return;
  section.size = std::min<std::uint64_t>(section.size, file.size() - section.offset);
  ByteReader in(file.subspan(section.offset, section.size), header.order);
  while (in.remaining() >= kOldEventType) {
    const auto config = in.u64();
    const auto name = in.text_field(64);
    for (auto& event : header.events)
      if (event.attr.config == config && event.name.empty()) event.name = name;
  }
}

struct FeatureBits {
  std::uint64_t words[kFeatureWords] = {};
  [[nodiscard]] bool has(std::uint32_t bit) const {
    return ((words[bit / 64] >> (bit % 64)) & 1) != 0;
  }
};

// The bits are an array of `unsigned long`: of 32 bits each when a 32-bit big-endian machine wrote.
FeatureBits read_feature_bits(ByteReader& in) {
  FeatureBits bits;
  for (auto& word : bits.words) word = in.u64();
  if (in.order() == ByteOrder::big && !bits.has(kHostnameBit)) {
    FeatureBits halves = bits;
    for (auto& word : halves.words) word = (word << 32) | (word >> 32);
    if (halves.has(kHostnameBit)) return halves;
  }
  return bits;
}

// The table of feature sections follows the data. False when it cannot be one.
bool read_feature_table(Bytes file, const FeatureBits& bits, FileHeader& header) {
  const std::uint64_t start = header.data.offset + header.data.size;
  ByteReader in(file.subspan(start), header.order);
  for (std::uint32_t bit = 0; bit < kFeatureWords * 64; ++bit) {
    if (!bits.has(bit)) continue;
    const Section section = read_section(in);
    const bool fits = in.ok() && section.offset <= file.size() &&
                      section.size <= file.size() - section.offset && section.offset >= start;
    if (!fits) return false;
    header.features.push_back({bit, section});
  }
  return true;
}

// Decides whether the data ends where the header says or runs to the end of the file.
void settle_data(Bytes file, Section data, const FeatureBits& bits, FileHeader& header) {
  const bool claims_beyond = data.offset > file.size() || data.size > file.size() - data.offset;
  header.data = clamped(data, file.size(), "the data section", header);
  const bool any_feature = std::any_of(std::begin(bits.words), std::end(bits.words),
                                       [](std::uint64_t word) { return word != 0; });
  if (header.data.offset == 0) return;
  const Bytes behind = file.subspan(header.data.offset + header.data.size);
  if (any_feature && !claims_beyond && header.data.size != 0 &&
      read_feature_table(file, bits, header))
    return;
  header.features.clear();
  if (claims_beyond) return;
  if (header.data.size == 0 || starts_records(behind, header.order)) {
    header.was_cut_off = !behind.empty();
    header.data.size = file.size() - header.data.offset;
    if (header.was_cut_off)
      header.notes.push_back(
          "the recorder was ended before it wrote the sizes, or still runs; records were read up "
          "to the end of the file");
  } else if (any_feature) {
    header.notes.push_back("the table of header features is damaged");
  }
}

}  // namespace

bool has_magic(std::span<const std::byte> file) {
  const std::string_view magic = magic_of(file);
  return magic == "PERFILE2" || magic == "2ELIFREP" || magic == "PERFFILE";
}

Result<FileHeader> read_header(Bytes file) {
  LOFT_TRY(FileHeader header, read_magic(file));
  ByteReader in(file, header.order);
  in.skip(8);
  const std::uint64_t size = in.u64();
  if (size == kPipeHeader) {
    header.is_pipe = true;
    header.data = {kPipeHeader, file.size() - kPipeHeader};
    return header;
  }
  if (file.size() < kFileHeader) return ends_within_header();
  const std::uint64_t entry_size = in.u64();
  const Section attrs = read_section(in);
  const Section data = read_section(in);
  const Section event_types = read_section(in);
  const FeatureBits bits = size >= kFileHeader ? read_feature_bits(in) : FeatureBits{};
  read_attrs(file, attrs, entry_size, header);
  read_old_names(file, event_types, header);
  settle_data(file, data, bits, header);
  return header;
}

}  // namespace loft::format::perf
