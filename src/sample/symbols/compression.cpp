#include "sample/symbols/compression.hpp"

#include <elf.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace loft::sample::symbols {
namespace {

constexpr std::uint32_t kElfCompressZstd = 2;  // not in every elf.h yet
constexpr std::uint64_t kMostUnpacked = std::uint64_t{8} << 30;
constexpr std::uint64_t kMostMiniDebugInfo = 512u << 20;
constexpr std::uint64_t kMostXzMemory = 256u << 20;

// Deflate cannot pack better than 1032 to 1; debug sections in zstd stay far below 4096 to 1.
bool is_believable(std::uint64_t size, std::size_t packed, std::uint64_t best_ratio) {
  return size <= kMostUnpacked && size / best_ratio <= packed;
}

std::vector<std::byte> unpack_zlib(Bytes packed, std::uint64_t size) {
  if (!is_believable(size, packed.size(), 1032)) return {};
  std::vector<std::byte> unpacked(static_cast<std::size_t>(size));
  auto produced = static_cast<uLongf>(unpacked.size());
  const int status = ::uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &produced,
                                  reinterpret_cast<const Bytef*>(packed.data()),
                                  static_cast<uLong>(packed.size()));
  if (status != Z_OK || produced != unpacked.size()) return {};
  return unpacked;
}

std::vector<std::byte> unpack_zstd(Bytes packed, std::uint64_t size) {
  if (!is_believable(size, packed.size(), 4096)) return {};
  std::vector<std::byte> unpacked(static_cast<std::size_t>(size));
  const std::size_t produced =
      ::ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size());
  if (::ZSTD_isError(produced) != 0 || produced != unpacked.size()) return {};
  return unpacked;
}

}  // namespace

std::vector<std::byte> unpack_elf_section(Bytes section, ByteOrder order, bool is_64bit) {
  ByteReader in(section, order);
  const std::uint32_t type = in.u32();
  if (is_64bit) in.skip(4);
  const std::uint64_t size = in.sized(is_64bit ? 8 : 4);
  in.skip(is_64bit ? 8 : 4);  // alignment
  if (!in.ok()) return {};
  const Bytes packed = in.take(in.left());
  if (type == ELFCOMPRESS_ZLIB) return unpack_zlib(packed, size);
  if (type == kElfCompressZstd) return unpack_zstd(packed, size);
  return {};
}

std::vector<std::byte> unpack_gnu_section(Bytes section) {
  ByteReader in(section, ByteOrder::big);
  const Bytes magic = in.take(4);
  const std::uint64_t size = in.u64();
  if (!in.ok() || std::memcmp(magic.data(), "ZLIB", 4) != 0) return {};
  return unpack_zlib(in.take(in.left()), size);
}

std::vector<std::byte> unpack_xz(Bytes packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (::lzma_stream_decoder(&stream, kMostXzMemory, LZMA_CONCATENATED) != LZMA_OK) return {};
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  std::vector<std::byte> unpacked;
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK && unpacked.size() < kMostMiniDebugInfo) {
    const std::size_t filled = unpacked.size();
    unpacked.resize(std::max<std::size_t>(64u << 10, filled * 2));
    stream.next_out = reinterpret_cast<std::uint8_t*>(unpacked.data() + filled);
    stream.avail_out = unpacked.size() - filled;
    status = ::lzma_code(&stream, LZMA_FINISH);
    unpacked.resize(unpacked.size() - stream.avail_out);
  }
  ::lzma_end(&stream);
  if (status != LZMA_STREAM_END) return {};
  return unpacked;
}

}  // namespace loft::sample::symbols
