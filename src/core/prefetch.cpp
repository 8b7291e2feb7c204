#include "core/prefetch.hpp"

#include <algorithm>
#include <bit>

namespace loft::core {
namespace {

constexpr std::uint32_t kPage = 4096;
constexpr std::int64_t kNear = 4;  // lines; farther apart they are no stream
constexpr std::uint8_t kSure = 2;  // repetitions before anything is fetched

}  // namespace

Prefetchers::Prefetchers(const PrefetchGeometry& geometry, std::uint32_t line_bytes)
    : geometry_(geometry), page_shift_(std::countr_zero(std::max(1u, kPage / line_bytes))) {
  pages_.fill(~std::uint64_t{0});
}

std::span<const Prefetch> Prefetchers::train(std::uint64_t line, std::uint64_t ip) {
  count_ = 0;
  if (geometry_.next_line && in_page(line, line + 1)) add(line + 1, PrefetchKind::next_line);
  if (geometry_.stream_lines > 0) follow_stream(line);
  if (geometry_.stride_steps > 0 && ip != 0) follow_stride(line, ip);
  return {wanted_.data(), count_};
}

void Prefetchers::follow_stream(std::uint64_t line) {
  const std::uint64_t page = line >> page_shift_;
  if (pages_[last_stream_] != page) {
    const auto found = std::find(pages_.begin(), pages_.end(), page);
    last_stream_ = static_cast<std::size_t>(found - pages_.begin()) % kStreams;
    if (found == pages_.end()) {
      last_stream_ = next_stream_;
      pages_[next_stream_] = page;
      streams_[next_stream_] = {.last = line, .ahead = line};
      next_stream_ = (next_stream_ + 1) % kStreams;
      return;
    }
  }
  Stream& stream = streams_[last_stream_];
  const auto step = static_cast<std::int64_t>(line - stream.last);
  if (step == 0) return;
  const std::int8_t direction = step > 0 ? 1 : -1;
  stream.last = line;
  if (direction != stream.direction || step > kNear || step < -kNear) {
    stream.direction = direction;
    stream.confidence = 1;
    stream.ahead = line;
    return;
  }
  if (stream.confidence < kSure) ++stream.confidence;
  if (stream.confidence < kSure) return;
  const auto ahead = static_cast<std::int64_t>(stream.ahead - line) * direction;
  if (ahead < 0) stream.ahead = line;
  const std::uint64_t end = line + static_cast<std::uint64_t>(direction * geometry_.stream_lines);
  while (stream.ahead != end) {
    const std::uint64_t next = stream.ahead + static_cast<std::uint64_t>(std::int64_t{direction});
    if (!in_page(next, line)) return;
    stream.ahead = next;
    add(next, PrefetchKind::stream);
  }
}

void Prefetchers::follow_stride(std::uint64_t line, std::uint64_t ip) {
  Stride& stride = strides_[(ip ^ (ip >> 8)) % strides_.size()];
  const auto step = static_cast<std::int64_t>(line - stride.last);
  if (stride.ip != ip) {
    stride = {.ip = ip, .last = line};
    return;
  }
  if (step == 0) return;
  stride.last = line;
  if (step != stride.step) {
    stride.step = step;
    stride.confidence = 0;
    return;
  }
  if (stride.confidence < kSure) ++stride.confidence;
  if (stride.confidence < kSure) return;
  for (std::int64_t i = 1; i <= geometry_.stride_steps; ++i) {
    const std::uint64_t next = line + static_cast<std::uint64_t>(step * i);
    if (in_page(next, line)) add(next, PrefetchKind::stride);
  }
}

}  // namespace loft::core
