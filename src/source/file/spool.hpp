// A place on disk for bytes that come from a pipe or out of a decompressor: written once, then
// mapped like a file, so that everything behind it reads mapped bytes only. The file has no name
// and goes with its owner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "base/mapping.hpp"

namespace loft::source {

class Spool {
 public:
  // In $TMPDIR, or /var/tmp, which unlike /tmp is seldom memory.
  [[nodiscard]] static Result<Spool> create();

  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);

  // Everything that can be read from `fd` up to its end.
  [[nodiscard]] Result<void> append_all(const Fd& fd);

  [[nodiscard]] std::uint64_t size() const { return written_ + buffer_.size(); }
  [[nodiscard]] Result<Mapping> finish();

 private:
  explicit Spool(Fd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] Result<void> flush();

  Fd fd_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
};

}  // namespace loft::source
