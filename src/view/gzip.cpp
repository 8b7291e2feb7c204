#include "view/gzip.hpp"

#include <zlib.h>

namespace loft::view {

Result<std::string> gzipped(const std::string& plain, const std::string& what) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return failure(ErrorKind::internal, what, "zlib cannot start");
  std::string packed(deflateBound(&stream, static_cast<uLong>(plain.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_done = plain.size() <= 0xFFFFFFFF && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!is_done) return failure(ErrorKind::limit, what, "it is too large");
  return packed;
}

}  // namespace loft::view
