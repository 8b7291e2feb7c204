// Memory to measure with: aligned to 2 MiB, in huge or in small pages as asked, every page touched
// with numbers that are neither zero nor denormal.
#pragma once

#include <cstddef>
#include <span>

#include "base/places.hpp"
#include "base/result.hpp"

namespace loft::machine {

inline constexpr std::size_t kLine = 64;  // bytes of a cache line

enum class Pages { huge, small };

class Buffer {
 public:
  Buffer() = default;
  [[nodiscard]] static Result<Buffer> allocate(std::size_t size, Pages pages);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  // Writes all of it; the thread that calls this decides on which NUMA node the pages are.
  void touch();

  // Links the first `nodes` lines of `stride` bytes into one random ring: each holds the address of
  // the next. Large rings are rounded down to a power of two or three times one. `spread` moves
  // each line inside its stride, so that they fall into all cache sets.
  void link_ring(std::size_t nodes, std::size_t stride, bool spread = false);

  [[nodiscard]] std::byte* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The share of it that the kernel really put into huge pages, 0 to 1.
  [[nodiscard]] double huge_share() const;

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes that a test may take: a quarter of what is free, less where a limit says so.
std::size_t memory_allowance(const SystemRoot& root = {});

}  // namespace loft::machine
