#include "base/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/fd.hpp"
#include "base/file_replacement.hpp"

namespace loft {

namespace {

// Whether somebody has opened the pipe for writing, now or before. poll tells of bytes and of a
// writer that left; tee(2), which takes nothing out of the pipe, gives 0 only where there is no
// writer.
bool has_writer(const Fd& fd) {
  pollfd state{fd.get(), POLLIN, 0};
  if (::poll(&state, 1, 0) > 0) return true;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return true;
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  return ::tee(fd.get(), in.get(), 1, SPLICE_F_NONBLOCK) != 0;
}

}  // namespace

Result<Fd> open_input(const std::string& path, std::chrono::milliseconds patience) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open()) return failure_of_errno(errno, "open '" + path + "'");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failure_of_errno(errno, "open '" + path + "'");
  if (S_ISFIFO(status.st_mode)) {
    constexpr std::chrono::milliseconds kStep{10};
    for (; !has_writer(fd); patience -= kStep) {
      if (patience <= kStep)
        return failure(ErrorKind::io, "read '" + path + "'", "it is a pipe that nobody writes to");
      std::this_thread::sleep_for(kStep);
    }
  }
  if (::fcntl(fd.get(), F_SETFL, 0) != 0) return failure_of_errno(errno, "open '" + path + "'");
  return fd;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  LOFT_TRY(const Fd fd, open_input(path));
  std::string content;
  std::array<char, 16384> chunk;
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got == 0) return content;
    if (got < 0) {
      if (errno == EINTR) continue;
      return failure_of_errno(errno, "read '" + path + "'");
    }
    if (content.size() + static_cast<std::size_t>(got) > limit)
      return failure(ErrorKind::limit, "read '" + path + "'",
                     "it is larger than " + std::to_string(limit) + " bytes");
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> read_line(const std::string& path) {
  LOFT_TRY(std::string content, read_file(path));
  content.resize(std::min(content.find('\n'), content.size()));
  return content;
}

Result<void> replace_file(const std::string& path, std::string_view content) {
  std::error_code ignored;  // a directory that cannot be made shows as the failed open below
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  LOFT_TRY(auto file, FileReplacement::of(path));
  LOFT_CHECK(file.write(content));
  return file.commit();
}

Result<void> write_all(const Fd& fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure_of_errno(errno, "write '" + path + "'");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> write_all_at(const Fd& fd, std::uint64_t offset, Bytes bytes,
                          const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure_of_errno(written < 0 ? errno : ENOSPC, "write '" + path + "'");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return failure_of_errno(errno, "list '" + path + "'");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string join_path(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty()) return std::string(left.empty() ? right : left);
  while (left.ends_with('/')) left.remove_suffix(1);
  while (right.starts_with('/')) right.remove_prefix(1);
  return std::string(left) + "/" + std::string(right);
}

}  // namespace loft
