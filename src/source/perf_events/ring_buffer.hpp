// The reader's side of a perf_events ring: records as the kernel wrote them, in order.
//
//   LOFT_TRY(auto ring, RingBuffer::map(fd, 8));
//   ring.drain([](std::span<const std::byte> record) { ... });
#pragma once

#include <linux/perf_event.h>

#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "base/result.hpp"

namespace loft::source::perf_events {

// So many bytes, and at least 8 pages, as data pages of a ring.
[[nodiscard]] std::size_t ring_pages(std::size_t bytes);

class RingBuffer {
 public:
  // `pages` data pages, a power of two.
  [[nodiscard]] static Result<RingBuffer> map(const Fd& fd, std::size_t pages);
  // As many of `pages` as this user's share of locked memory allows, at least 8.
  [[nodiscard]] static Result<RingBuffer> map_most(const Fd& fd, std::size_t pages);

  // Hands over every complete record and frees its space. A record is valid during the call only.
  template <class Visitor>
  void drain(Visitor&& visit) {
    // The kernel publishes data before data_head; acquire pairs with that on every architecture.
    const std::uint64_t head = head_word().load(std::memory_order_acquire);
    std::uint64_t tail = tail_word().load(std::memory_order_relaxed);
    while (tail < head) {
      const std::span<const std::byte> record = record_at(tail, head - tail);
      if (record.empty()) break;  // not a record: never walk on nonsense
      visit(record);
      tail += record.size();
    }
    tail_word().store(tail, std::memory_order_release);
  }

 private:
  explicit RingBuffer(Mapping mapping) : mapping_(std::move(mapping)) {}

  std::atomic_ref<__u64> head_word();
  std::atomic_ref<__u64> tail_word();
  // The record at `position`, copied together when it wraps around; empty when malformed.
  std::span<const std::byte> record_at(std::uint64_t position, std::uint64_t available);

  Mapping mapping_;
  std::vector<std::byte> wrapped_;
};

}  // namespace loft::source::perf_events
