#include "symbols/compression.hpp"

#include <elf.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>

namespace loft::symbols {
namespace {

constexpr std::uint32_t kElfCompressZstd = 2;  // not in every elf.h yet
constexpr std::uint64_t kMostUnpacked = std::uint64_t{8} << 30;
constexpr std::uint64_t kMostFile = 512u << 20;  // of a packed file, whatever it claims
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

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

constexpr std::string_view kXz(
    "\xFD"
    "7zXZ\0",
    6);
constexpr std::string_view kZstd("\x28\xB5\x2F\xFD");
constexpr std::string_view kGzip("\x1F\x8B");

// Grows `unpacked` while `step` asks for more room; `step` fills from an offset and says how much
// it wrote, and whether the end was reached.
struct Progress {
  std::size_t written = 0;
  bool is_done = false;
  bool failed = false;
};
template <class Step>
std::vector<std::byte> unpack_growing(const Step& step) {
  std::vector<std::byte> unpacked;
  while (unpacked.size() < kMostFile) {
    const std::size_t filled = unpacked.size();
    unpacked.resize(std::max<std::size_t>(64u << 10, filled * 2));
    const Progress progress = step(std::span(unpacked).subspan(filled));
    unpacked.resize(filled + progress.written);
    if (progress.is_done) return unpacked;
    if (progress.failed) return {};
  }
  return {};
}

std::vector<std::byte> unpack_zstd_file(Bytes packed) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(::ZSTD_createDStream(),
                                                                             ::ZSTD_freeDStream);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  return unpack_growing([&](std::span<std::byte> room) {
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t left = ::ZSTD_decompressStream(stream.get(), &out, &in);
    const bool stands_still = in.pos == in.size && out.pos < out.size;
    return Progress{out.pos, left == 0 && in.pos == in.size,
                    ::ZSTD_isError(left) != 0 || stands_still};
  });
}

std::vector<std::byte> unpack_gzip_file(Bytes packed) {
  constexpr int kGzipWindow = 15 + 16;
  if (packed.size() > std::numeric_limits<uInt>::max()) return {};
  z_stream stream{};
  if (::inflateInit2(&stream, kGzipWindow) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  auto unpacked = unpack_growing([&](std::span<std::byte> room) {
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    return Progress{room.size() - stream.avail_out, status == Z_STREAM_END, status != Z_OK};
  });
  ::inflateEnd(&stream);
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
  const Bytes packed = in.take(in.remaining());
  if (type == ELFCOMPRESS_ZLIB) return unpack_zlib(packed, size);
  if (type == kElfCompressZstd) return unpack_zstd(packed, size);
  return {};
}

std::vector<std::byte> unpack_gnu_section(Bytes section) {
  ByteReader in(section, ByteOrder::big);
  const Bytes magic = in.take(4);
  const std::uint64_t size = in.u64();
  if (!in.ok() || std::memcmp(magic.data(), "ZLIB", 4) != 0) return {};
  return unpack_zlib(in.take(in.remaining()), size);
}

std::vector<std::byte> unpack_xz(Bytes packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (::lzma_stream_decoder(&stream, kMostXzMemory, LZMA_CONCATENATED) != LZMA_OK) return {};
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  auto unpacked = unpack_growing([&](std::span<std::byte> room) {
    stream.next_out = reinterpret_cast<std::uint8_t*>(room.data());
    stream.avail_out = room.size();
    const lzma_ret status = ::lzma_code(&stream, LZMA_FINISH);
    return Progress{room.size() - stream.avail_out, status == LZMA_STREAM_END, status != LZMA_OK};
  });
  ::lzma_end(&stream);
  return unpacked;
}

bool is_packed_file(Bytes bytes) {
  return starts_with(bytes, kXz) || starts_with(bytes, kZstd) || starts_with(bytes, kGzip);
}

std::vector<std::byte> unpack_file(Bytes packed) {
  if (starts_with(packed, kXz)) return unpack_xz(packed);
  if (starts_with(packed, kZstd)) return unpack_zstd_file(packed);
  if (starts_with(packed, kGzip)) return unpack_gzip_file(packed);
  return {};
}

}  // namespace loft::symbols
