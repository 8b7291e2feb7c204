// Prefetchers: from the lines that miss, the lines that will be asked for next.
//
//   Prefetchers prefetchers(geometry, 64);
//   for (const Prefetch& next : prefetchers.train(line, ip)) bring(next.line, next.into());
//
// They are trained by demand misses of L1D and by the first use of lines they brought, so that a
// stream keeps running ahead. Streams go on in the next page of 4 KiB: walks over pages in order
// are nearly as fast as walks within large pages, and several times as fast as over pages in random
// order. The others stay in theirs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/cache.hpp"

namespace loft::core {

struct PrefetchGeometry {
  bool next_line = false;         // the following line, into L1
  std::uint8_t stream_lines = 0;  // how far ahead of an ascending or descending stream, into L2
  std::uint8_t stride_steps = 0;  // how many strides ahead of one instruction, into L1

  static constexpr std::uint8_t kMostLines = 32;
  bool operator==(const PrefetchGeometry&) const = default;
};

enum class PrefetchKind : std::uint8_t { next_line, stream, stride, count_ };

struct Prefetch {
  std::uint64_t line = 0;
  PrefetchKind kind = PrefetchKind::next_line;

  [[nodiscard]] Level into() const { return kind == PrefetchKind::stream ? Level::l2 : Level::l1; }
};

class Prefetchers {
 public:
  Prefetchers(const PrefetchGeometry& geometry, std::uint32_t line_bytes);

  [[nodiscard]] bool any() const { return geometry_ != PrefetchGeometry{}; }
  // Valid until the next call.
  std::span<const Prefetch> train(std::uint64_t line, std::uint64_t ip);

 private:
  static constexpr std::size_t kStreams = 32;
  struct Stream {
    std::uint64_t last = 0;
    std::uint64_t ahead = 0;  // the furthest line asked for
    std::int8_t direction = 0;
    std::uint8_t confidence = 0;
  };
  struct Stride {
    std::uint64_t ip = 0;
    std::uint64_t last = 0;
    std::int64_t step = 0;
    std::uint8_t confidence = 0;
  };

  void add(std::uint64_t line, PrefetchKind kind) {
    if (count_ < wanted_.size()) wanted_[count_++] = {line, kind};
  }
  [[nodiscard]] bool in_page(std::uint64_t line, std::uint64_t other) const {
    return line >> page_shift_ == other >> page_shift_;
  }
  // Which stream the page has; begins one where there is none.
  [[nodiscard]] std::size_t stream_of(std::uint64_t line);
  void follow_stream(std::uint64_t line);
  void follow_stride(std::uint64_t line, std::uint64_t ip);

  PrefetchGeometry geometry_;
  int page_shift_;  // from lines to pages
  // The page of each stream, for the search, and its last line.
  std::array<std::uint64_t, kStreams> pages_;
  std::array<Stream, kStreams> streams_{};
  std::size_t last_stream_ = 0;  // that was followed
  std::size_t next_stream_ = 0;  // to be replaced
  std::array<Stride, 256> strides_{};
  std::array<Prefetch, 2 * PrefetchGeometry::kMostLines + 1> wanted_{};
  std::size_t count_ = 0;
};

}  // namespace loft::core
