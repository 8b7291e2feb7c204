// A place on disk for bytes that come from a pipe or out of a decompressor: written once, then
// mapped like a file, so that everything behind it reads mapped bytes only. The file has no name
// and goes with its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "base/mapping.hpp"

namespace loft::source {

class Spool {
 public:
  // In $TMPDIR, or /var/tmp, which unlike /tmp is seldom memory. It takes `limit` bytes, and never
  // more than half of the room that was there: others need the disk, too.
  [[nodiscard]] static Result<Spool> create(std::uint64_t limit = ~std::uint64_t{0});

  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);

  // What one call of read gives, which stays good until the next append.
  [[nodiscard]] Result<std::span<const std::byte>> append_some(const Fd& fd);

  // Everything that can be read from `fd` up to its end.
  [[nodiscard]] Result<void> append_all(const Fd& fd);

  [[nodiscard]] std::uint64_t size() const { return written_ + buffer_.size(); }
  [[nodiscard]] Result<Mapping> finish();

 private:
  Spool(Fd fd, std::uint64_t limit) : fd_(std::move(fd)), limit_(limit) {}
  [[nodiscard]] Result<void> flush();

  Fd fd_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> chunk_;  // what was read last
  std::uint64_t written_ = 0;
  std::uint64_t limit_;
};

}  // namespace loft::source
