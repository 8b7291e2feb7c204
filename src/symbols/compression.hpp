// Unpacks what ELF files keep compressed. Bytes that do not unpack give nothing. No claim of a size
// is believed beyond what the compressed bytes could possibly hold.
#pragma once

#include <vector>

#include "base/bytes.hpp"

namespace loft::symbols {

// A section with SHF_COMPRESSED: zlib or zstd behind a header.
std::vector<std::byte> unpack_elf_section(Bytes section, ByteOrder order, bool is_64bit);

// A section in the old GNU form: "ZLIB", the size, zlib.
std::vector<std::byte> unpack_gnu_section(Bytes section);

// .gnu_debugdata: an ELF file in xz.
std::vector<std::byte> unpack_xz(Bytes packed);

// A whole file in xz, zstd or gzip, as distributions pack kernel modules. Nothing when it is none.
bool is_packed_file(Bytes bytes);
std::vector<std::byte> unpack_file(Bytes packed);

}  // namespace loft::symbols
