// The owner of an mmap: unmaps it when it goes.
//
//   LOFT_TRY(const auto file, Mapping::of_file("perf.data"));
//   parse(file.bytes());
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/fault_guard.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

class Mapping {
 public:
  enum class Access { read, read_write };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        guard_(std::move(other.guard_)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    std::swap(guard_, other.guard_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // The whole of a regular file, read only and private. An empty file gives an empty mapping. What
  // is cut off the file later reads as zeros; has_changed() tells.
  [[nodiscard]] static Result<Mapping> of_file(const std::string& path);

  // `size` bytes of `fd` from `offset`, shared with whoever else maps it.
  [[nodiscard]] static Result<Mapping> shared(const Fd& fd, std::size_t size, Access access,
                                              std::size_t offset = 0);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {start_, size_}; }
  [[nodiscard]] std::span<std::byte> writable_bytes() noexcept { return {start_, size_}; }
  [[nodiscard]] bool is_mapped() const noexcept { return start_ != nullptr; }
  [[nodiscard]] bool has_changed() const { return guard_.has_faulted(); }

 private:
  Mapping(std::byte* start, std::size_t size) noexcept : start_(start), size_(size) {}

  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
  FaultGuard guard_;
};

}  // namespace loft
