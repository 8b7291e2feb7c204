#include "source/perf_events/ring_buffer.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>

namespace loft::source::perf_events {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

std::size_t ring_pages(std::size_t bytes) {
  return std::bit_ceil(std::max<std::size_t>(8, (bytes + page_size() - 1) / page_size()));
}

Result<RingBuffer> RingBuffer::map(const Fd& fd, std::size_t pages) {
  auto mapping = Mapping::shared(fd, (1 + pages) * page_size(), Mapping::Access::read_write);
  if (!mapping) {
    Error error = std::move(mapping).error();
    if (error.kind == ErrorKind::permission)
      error.hint =
          "the locked memory for rings is used up (sysctl kernel.perf_event_mlock_kb, "
          "ulimit -l); grant CAP_IPC_LOCK, or watch fewer CPUs";
    return Failure(std::move(error));
  }
  return RingBuffer(*std::move(mapping));
}

Result<RingBuffer> RingBuffer::map_most(const Fd& fd, std::size_t pages) {
  auto ring = map(fd, pages);
  for (pages /= 2; !ring && pages >= 8; pages /= 2) ring = map(fd, pages);
  return ring;
}

std::atomic_ref<__u64> RingBuffer::head_word() {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(mapping_.writable_bytes().data());
  return std::atomic_ref(page->data_head);
}

std::atomic_ref<__u64> RingBuffer::tail_word() {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(mapping_.writable_bytes().data());
  return std::atomic_ref(page->data_tail);
}

std::span<const std::byte> RingBuffer::record_at(std::uint64_t position, std::uint64_t available) {
  const std::span<const std::byte> data = mapping_.bytes().subspan(page_size());
  const std::size_t offset = position & (data.size() - 1);
  perf_event_header header;
  std::memcpy(&header, data.data() + offset, sizeof header);  // 8 bytes, never split by the wrap
  if (header.size < sizeof header || header.size > available) return {};
  if (offset + header.size <= data.size()) return data.subspan(offset, header.size);
  const std::size_t first = data.size() - offset;
  wrapped_.resize(header.size);
  std::memcpy(wrapped_.data(), data.data() + offset, first);
  std::memcpy(wrapped_.data() + first, data.data(), header.size - first);
  return wrapped_;
}

}  // namespace loft::source::perf_events
