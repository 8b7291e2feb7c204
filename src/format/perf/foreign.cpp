#include "format/perf/foreign.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace loft::format::perf {
namespace {

using namespace std::string_view_literals;

struct KnownStart {
  std::string_view bytes;
  std::string_view why;
  std::string_view hint;
};

constexpr std::array kStarts = {
    KnownStart{"\x1F\x8B"sv, "it is compressed with gzip",
               "unpack it: gzip -dc FILE | loft report -"},
    KnownStart{"\x28\xB5\x2F\xFD"sv, "it is compressed with zstd",
               "unpack it: zstd -dc FILE | loft report -"},
    KnownStart{"\xFD"
               "7zXZ"sv,
               "it is compressed with xz", "unpack it: xz -dc FILE | loft report -"},
    KnownStart{"BZh"sv, "it is compressed with bzip2", "unpack it: bzip2 -dc FILE | loft report -"},
    KnownStart{"PK\x03\x04"sv, "it is a zip archive", "unpack it, and name the recording in it"},
    KnownStart{"\x7F"
               "ELF"sv,
               "it is a program or a library", "record it first: loft record -- FILE"},
    KnownStart{"\x17\x08\x44tracing"sv, "it is a trace of trace-cmd",
               "read it with 'trace-cmd report'"},
    KnownStart{"OPFILE"sv, "it is a recording of OProfile",
               "make one with 'loft record' or 'perf record'"},
    KnownStart{"DTiJ"sv, "it is a jitdump",
               "name the recording that was made meanwhile; loft finds the jitdump by itself"},
    KnownStart{"QPERFSTREAM"sv, "it is what hotspot's perfparser made of a recording",
               "name the perf.data that it was made from"},
    KnownStart{"\x5E\x97\xCA\xFD"sv, "it is a capture of sysprof", "open it with 'sysprof-cli'"},
    KnownStart{"SQLite format 3"sv, "it is a database",
               "make a recording with 'loft record' or 'perf record'"},
};

bool is_text(std::span<const std::byte> file) {
  constexpr std::size_t kLooked = 512;
  const auto start = file.first(std::min(file.size(), kLooked));
  return std::all_of(start.begin(), start.end(), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return c >= ' ' || c == '\n' || c == '\t' || c == '\r';
  });
}

}  // namespace

Foreign recognize_foreign(std::span<const std::byte> file) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()),
                               std::min<std::size_t>(file.size(), 64));
  if (start.empty())
    return {"it is empty", "did the recorder run to its end, and had the disk room for it?"};
  for (const auto& known : kStarts)
    if (start.starts_with(known.bytes)) return {std::string(known.why), std::string(known.hint)};
  constexpr std::size_t kTarMark = 257;
  if (file.size() > kTarMark + 5 &&
      std::string_view(reinterpret_cast<const char*>(file.data()) + kTarMark, 5) == "ustar")
    return {"it is a tar archive", "unpack it, and name the recording in it"};
  if (std::all_of(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(start.size()),
                  [](std::byte byte) { return byte == std::byte{0}; }))
    return {"it starts with nothing but zeros",
            "make a recording anew; this one was never written"};
  if (start.front() == '{' || start.front() == '[')
    return {"it is JSON, perhaps a profile that was exported already",
            "name the perf.data that it was made from"};
  if (is_text(file))
    return {"it is text, perhaps what 'perf script' printed",
            "name the perf.data that it was made from"};
  return {"it does not start with PERFILE2, PERFFILE or their mirror image",
          "make one with 'loft record' or 'perf record'"};
}

}  // namespace loft::format::perf
