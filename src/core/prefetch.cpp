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

std::size_t Prefetchers::stream_of(std::uint64_t line) {
  const std::uint64_t page = line >> page_shift_;
  if (pages_[last_stream_] == page) return last_stream_;
  std::size_t from = kStreams;  // a page beside it, whose stream comes here
  for (std::size_t i = 0; i < kStreams; ++i) {
    const std::uint64_t apart = pages_[i] - page + 1;
    if (apart > 2) continue;
    if (apart == 1) return i;
    const auto step = static_cast<std::int64_t>(line - streams_[i].last);
    if (streams_[i].confidence >= kSure && step <= kNear && step >= -kNear) from = i;
  }
  if (from != kStreams) {
    pages_[from] = page;
    return from;
  }
  const std::size_t fresh = next_stream_;
  pages_[fresh] = page;
  streams_[fresh] = {.last = line, .ahead = line};
  next_stream_ = (next_stream_ + 1) % kStreams;
  return fresh;
}

void Prefetchers::follow_stream(std::uint64_t line) {
  last_stream_ = stream_of(line);
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
    stream.ahead += static_cast<std::uint64_t>(std::int64_t{direction});
    add(stream.ahead, PrefetchKind::stream);
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
