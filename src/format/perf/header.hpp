// The start of a perf.data: which kind of file it is, where its sections are, and its events.
//
//   LOFT_TRY(const FileHeader header, read_header(file.bytes()));
//   RecordWalker walker(file.bytes().subspan(header.data.offset, header.data.size), header.order);
//
// Sizes in a header are claims. What a section says beyond the file is cut to the file, and noted;
// a recorder that was killed leaves a size of 0 or one that is too small, and its records are found
// up to the end of the file.
#pragma once

#include <string>
#include <vector>

#include "format/perf/attr.hpp"

namespace loft::format::perf {

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct FeatureSection {
  std::uint32_t bit = 0;
  Section where;
};

struct FileHeader {
  ByteOrder order = kHostOrder;
  bool is_pipe = false;       // everything is in the records
  bool is_old_magic = false;  // PERFFILE
  bool was_cut_off = false;   // the recorder never came back to write the sizes
  Section data;
  std::vector<loft::perf_data::EventDescription> events;  // with ids; names come from features
  std::vector<FeatureSection> features;
  std::vector<std::string> notes;  // what could not be read, for people
};

// Whether the bytes start as every perf.data does, whatever its age and byte order.
inline constexpr std::size_t kMagicSize = 8;
[[nodiscard]] bool has_magic(std::span<const std::byte> file);

// Fails only when the bytes are no perf.data at all.
[[nodiscard]] Result<FileHeader> read_header(std::span<const std::byte> file);

}  // namespace loft::format::perf
