// The owner of an mmap: unmaps it when it goes.
//
//   LOFT_TRY(const auto file, Mapping::of_file("perf.data"));
//   parse(file.bytes());
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

class Mapping {
 public:
  enum class Access { read, read_write };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // The whole of a regular file, read only and private. An empty file gives an empty mapping.
  [[nodiscard]] static Result<Mapping> of_file(const std::string& path);

  // `size` bytes of `fd` from `offset`, shared with whoever else maps it.
  [[nodiscard]] static Result<Mapping> shared(const Fd& fd, std::size_t size, Access access,
                                              std::size_t offset = 0);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {start_, size_}; }
  [[nodiscard]] std::span<std::byte> writable_bytes() noexcept { return {start_, size_}; }
  [[nodiscard]] bool is_mapped() const noexcept { return start_ != nullptr; }

 private:
  Mapping(std::byte* start, std::size_t size) noexcept : start_(start), size_(size) {}

  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace loft
