#include "source/file/spool.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/nameless_file.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kBuffer = 1u << 20;

}  // namespace

Result<Spool> Spool::create() {
  LOFT_TRY(Fd fd, temporary_file());
  return Spool(std::move(fd));
}

Result<void> Spool::flush() {
  std::span<const std::byte> left = buffer_;
  while (!left.empty()) {
    const ssize_t wrote = ::write(fd_.get(), left.data(), left.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return failure_of_errno(errno, "write a temporary file", "set TMPDIR to a folder with room");
    }
    left = left.subspan(static_cast<std::size_t>(wrote));
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

Result<void> Spool::append(std::span<const std::byte> bytes) {
  if (buffer_.capacity() == 0) buffer_.reserve(2 * kBuffer);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kBuffer ? flush() : Result<void>{};
}

Result<void> Spool::append_all(const Fd& fd) {
  std::vector<std::byte> chunk(kBuffer);
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got == 0) return {};
    if (got < 0) {
      if (errno == EINTR) continue;
      return failure_of_errno(errno, "read the recording");
    }
    LOFT_CHECK(append(std::span(chunk).first(static_cast<std::size_t>(got))));
  }
}

Result<Mapping> Spool::finish() {
  LOFT_CHECK(flush());
  buffer_.shrink_to_fit();
  if (written_ == 0) return Mapping();
  return Mapping::shared(fd_, static_cast<std::size_t>(written_), Mapping::Access::read);
}

}  // namespace loft::source
