#include "source/file/spool.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.hpp"
#include "base/nameless_file.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kBuffer = 1u << 20;

}  // namespace

Result<Spool> Spool::create(std::uint64_t limit) {
  LOFT_TRY(Fd fd, temporary_file());
  struct statvfs room {};
  if (::fstatvfs(fd.get(), &room) == 0)
    limit = std::min<std::uint64_t>(limit, std::uint64_t{room.f_bavail} * room.f_frsize / 2);
  return Spool(std::move(fd), limit);
}

Result<void> Spool::flush() {
  const auto done = write_all_at(fd_, written_, buffer_, "a temporary file");
  if (!done) {
    Error error = done.error();
    error.hint = "set TMPDIR to a folder with room";
    return Failure(std::move(error));
  }
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

Result<void> Spool::append(std::span<const std::byte> bytes) {
  if (bytes.size() > limit_ - std::min(limit_, size()))
    return failure(ErrorKind::limit, "keep the recording on disk",
                   "it is longer than " + std::to_string(limit_) + " bytes",
                   "set TMPDIR to a folder with more room, or write it to a file");
  if (buffer_.capacity() == 0) buffer_.reserve(2 * kBuffer);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kBuffer ? flush() : Result<void>{};
}

Result<std::span<const std::byte>> Spool::append_some(const Fd& fd) {
  chunk_.resize(kBuffer);
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk_.data(), chunk_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure_of_errno(errno, "read the recording");
    const auto bytes = std::span(chunk_).first(static_cast<std::size_t>(got));
    LOFT_CHECK(append(bytes));
    return bytes;
  }
}

Result<void> Spool::append_all(const Fd& fd) {
  for (;;) {
    LOFT_TRY(const auto bytes, append_some(fd));
    if (bytes.empty()) return {};
  }
}

Result<Mapping> Spool::finish() {
  LOFT_CHECK(flush());
  buffer_.shrink_to_fit();
  chunk_ = {};
  if (written_ == 0) return Mapping();
  return Mapping::shared(fd_, static_cast<std::size_t>(written_), Mapping::Access::read);
}

}  // namespace loft::source
