// zstd inside recordings (`perf record -z`): one stream per file, cut into COMPRESSED records.
//
//   Decompressor stream;
//   LOFT_CHECK(stream.add(record, take));   // takes bytes of records, not whole ones
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "format/perf/record.hpp"

namespace loft::format::perf {

class Decompressor {
 public:
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;

  Decompressor();

  // Feeds a COMPRESSED or COMPRESSED2 record; `sink` gets what comes out, in pieces.
  [[nodiscard]] Result<void> add(const RawRecord& record, const Sink& sink);

 private:
  struct Stream;
  struct Free {
    void operator()(Stream* stream) const;
  };
  std::unique_ptr<Stream, Free> stream_;
};

}  // namespace loft::format::perf
