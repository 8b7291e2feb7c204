#include "base/file_replacement.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.hpp"

namespace loft {
namespace {

struct Target {
  std::string path;  // what a link leads to
  bool is_regular = true;
  std::optional<struct stat> before;  // of the file that is replaced
};

Target target_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {path, true, std::nullopt};
  if (!S_ISREG(status.st_mode)) return {path, false, std::nullopt};
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return {error ? path : real.string(), true, status};
}

Result<std::string> random_name_beside(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    return failure_of_errno(errno, "choose a name beside '" + path + "'");
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return path + ".new-" + digits;
}

// Gives the new file what the old one had. Where the group cannot be given away, its members get no
// more than everybody gets: they are others than before.
bool keep_owner_and_mode(const Fd& fd, const struct stat& before) {
  mode_t mode = before.st_mode & 0777;
  const bool same_owner = ::fchown(fd.get(), before.st_uid, before.st_gid) == 0;
  if (!same_owner && ::fchown(fd.get(), static_cast<uid_t>(-1), before.st_gid) != 0)
    mode &= 0707u | ((mode & 0007u) << 3);
  return ::fchmod(fd.get(), mode) == 0;
}

std::string name_of(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// In the folder of `path`, without a name; closed where that cannot be, or could not get one later.
Fd open_nameless(const std::string& path, mode_t mode) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd fd(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode));
  const bool can_be_named = fd.is_open() && ::access(name_of(fd).c_str(), F_OK) == 0;
  return can_be_named ? std::move(fd) : Fd();
}

}  // namespace

Result<FileReplacement> FileReplacement::of(const std::string& path, mode_t mode) {
  const Target target = target_of(path);
  if (!target.is_regular) {
    Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd.is_open()) return failure_of_errno(errno, "write to '" + path + "'");
    return FileReplacement(std::move(fd), path, {}, false);
  }
  LOFT_TRY(std::string beside, random_name_beside(target.path));
  const mode_t first_mode = target.before ? kForOwnerOnly : mode;
  Fd fd = open_nameless(target.path, first_mode);
  const bool is_named = !fd.is_open();
  if (is_named) {
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    fd = Fd(::open(beside.c_str(), flags, first_mode));
  }
  if (!fd.is_open()) return failure_of_errno(errno, "create '" + path + "'");
  FileReplacement replacement(std::move(fd), target.path, std::move(beside), is_named);
  if (target.before && !keep_owner_and_mode(replacement.fd_, *target.before))
    return failure_of_errno(errno, "keep the mode of '" + path + "'");
  return replacement;
}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, {})),
      is_named_(std::exchange(other.is_named_, false)),
      is_regular_(other.is_regular_),
      kept_old_(other.kept_old_) {}

FileReplacement& FileReplacement::operator=(FileReplacement&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(beside_, other.beside_);
  std::swap(is_named_, other.is_named_);
  std::swap(is_regular_, other.is_regular_);
  std::swap(kept_old_, other.kept_old_);
  return *this;
}

FileReplacement::~FileReplacement() {
  if (is_named_) ::unlink(beside_.c_str());
}

Result<void> FileReplacement::write(std::string_view text) { return write_all(fd_, text, path_); }

Result<void> FileReplacement::commit() {
  if (beside_.empty()) return {};
  if (::fsync(fd_.get()) != 0 && errno != EINVAL)
    return failure_of_errno(errno, "write '" + path_ + "'");
  if (!is_named_ &&
      ::linkat(AT_FDCWD, name_of(fd_).c_str(), AT_FDCWD, beside_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return failure_of_errno(errno, "name '" + path_ + "'");
  is_named_ = true;
  if (::rename(beside_.c_str(), path_.c_str()) != 0)
    return failure_of_errno(errno, "replace '" + path_ + "'");
  is_named_ = false;
  beside_.clear();
  return {};
}

Result<void> FileReplacement::commit_keeping_old() {
  struct stat status {};
  const bool has_old = !beside_.empty() && ::stat(path_.c_str(), &status) == 0 &&
                       S_ISREG(status.st_mode) && status.st_size > 0;
  const std::string old = path_ + ".old";
  if (has_old && ::rename(path_.c_str(), old.c_str()) != 0)
    return failure_of_errno(errno, "keep the old '" + path_ + "' as '" + old + "'");
  kept_old_ = has_old;
  return commit();
}

void FileReplacement::withdraw() {
  if (!is_regular_) return;
  if (beside_.empty())
    ::unlink(path_.c_str());
  else if (is_named_)
    ::unlink(beside_.c_str());
  beside_.clear();
  is_named_ = false;
  is_regular_ = false;  // nothing of it is left
  if (std::exchange(kept_old_, false)) ::rename((path_ + ".old").c_str(), path_.c_str());
}

}  // namespace loft
