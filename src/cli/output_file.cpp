#include "cli/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.hpp"

namespace loft::cli {

Result<OutputFile> OutputFile::create(const std::string& path) {
  const Destination to = destination_of(path);
  std::string beside = to.path + ".new-" + std::to_string(::getpid());
  if (!to.can_be_replaced) beside = path;
  Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.is_open()) return failure_of_errno(errno, "create '" + beside + "'");
  return OutputFile(std::move(fd), to.path, std::move(beside));
}

OutputFile::~OutputFile() {
  if (fd_.is_open() && beside_ != path_) ::unlink(beside_.c_str());  // never committed
}

bool OutputFile::write(std::string_view text) {
  while (!text.empty() && failed_with_ == 0) {
    const ssize_t wrote = ::write(fd_.get(), text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      failed_with_ = errno;
    }
  }
  return failed_with_ == 0;
}

Result<void> OutputFile::commit() {
  if (failed_with_ != 0) return failure_of_errno(failed_with_, "write '" + path_ + "'");
  if (beside_ != path_ && ::rename(beside_.c_str(), path_.c_str()) != 0)
    return failure_of_errno(errno, "replace '" + path_ + "'");
  fd_ = Fd();
  return {};
}

}  // namespace loft::cli
