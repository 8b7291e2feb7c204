#include "format/perf/decompress.hpp"

#include <zstd.h>

#include <array>

namespace loft::format::perf {

struct Decompressor::Stream {
  ZSTD_DStream* zstd = ZSTD_createDStream();
  std::array<std::byte, 1u << 16> buffer;
};

void Decompressor::Free::operator()(Stream* stream) const {
  ZSTD_freeDStream(stream->zstd);
  delete stream;
}

Decompressor::Decompressor() : stream_(new Stream) {}

Result<void> Decompressor::add(const RawRecord& record, const Sink& sink) {
  std::span<const std::byte> packed = record.body;
  if (record.type == RecordType::compressed2) {
    ByteReader in(record.body, record.order);
    const auto size = in.u64();  // without the padding
    packed = in.take(size);
    if (!in.ok()) return failure(ErrorKind::malformed, "unpack a record", "its size lies");
  }
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  for (;;) {
    ZSTD_outBuffer output{stream_->buffer.data(), stream_->buffer.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_->zstd, &output, &input);
    if (ZSTD_isError(status) != 0) {
      ZSTD_initDStream(stream_->zstd);  // a later record may start a new frame
      return failure(ErrorKind::malformed, "unpack a record", ZSTD_getErrorName(status));
    }
    LOFT_CHECK(sink(std::span(stream_->buffer).first(output.pos)));
    if (output.pos < output.size && input.pos == input.size) return {};
  }
}

}  // namespace loft::format::perf
