#include "base/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/fd.hpp"

namespace loft {
namespace {

Result<void> write_all(const Fd& fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return failure_of_errno(errno, "write '" + path + "'");
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "open '" + path + "'");
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

Destination destination_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) return {path, true};
  if (!std::filesystem::is_regular_file(status)) return {path, false};
  const auto real = std::filesystem::canonical(path, error);
  return {error ? path : real.string(), true};
}

Result<void> replace_file(const std::string& path, std::string_view content) {
  std::error_code ignored;  // a directory that cannot be made shows as the failed open below
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  const Destination to = destination_of(path);
  if (!to.can_be_replaced) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.is_open()) return failure_of_errno(errno, "write to '" + path + "'");
    return write_all(fd, content, path);
  }
  const std::string beside = to.path + ".new-" + std::to_string(::getpid());
  auto written = [&]() -> Result<void> {
    const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.is_open()) return failure_of_errno(errno, "create '" + path + "'");
    LOFT_CHECK(write_all(fd, content, path));
    if (::fsync(fd.get()) != 0 && errno != EINVAL)
      return failure_of_errno(errno, "write '" + path + "'");
    if (::rename(beside.c_str(), to.path.c_str()) != 0)
      return failure_of_errno(errno, "replace '" + path + "'");
    return {};
  }();
  if (!written) ::unlink(beside.c_str());
  return written;
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
