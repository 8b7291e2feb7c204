// A file that takes the place of another in one step: a reader sees the old or the new, never a
// half. It has no name until it is whole, so that it leaves no trace when it is dropped before, or
// its writer is killed. Where the file system has no such files, it is written under a name beside.
//
//   LOFT_TRY(auto file, FileReplacement::of("roof.html"));
//   LOFT_CHECK(file.write(text));
//   LOFT_CHECK(file.commit());
//
// Owner, group and mode of what is replaced are kept. The name beside is random and must be new, so
// that nobody else who may write to the folder can put a link there. A link called `path` is
// followed. What is no regular file (/dev/null, a pipe) cannot be replaced and is written to as it
// stands.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

class FileReplacement {
 public:
  static constexpr mode_t kForAll = 0666;        // less the umask
  static constexpr mode_t kForOwnerOnly = 0600;  // a recording shows what a program did

  // `mode` is for a file that was not there before.
  [[nodiscard]] static Result<FileReplacement> of(const std::string& path, mode_t mode = kForAll);

  FileReplacement(FileReplacement&& other) noexcept;
  FileReplacement& operator=(FileReplacement&& other) noexcept;
  ~FileReplacement();

  // Open for reading and writing, but for devices and pipes, which are only written to.
  [[nodiscard]] const Fd& fd() const { return fd_; }

  [[nodiscard]] Result<void> write(std::string_view text);

  // Puts the file in place, safely on the disk. It may be written further.
  [[nodiscard]] Result<void> commit();
  // What stood there stays as PATH.old, if it was not empty.
  [[nodiscard]] Result<void> commit_keeping_old();

  // As if the file had never been: what commit_keeping_old() moved away comes back.
  void withdraw();

 private:
  FileReplacement(Fd fd, std::string path, std::string beside, bool is_named)
      : fd_(std::move(fd)),
        path_(std::move(path)),
        beside_(std::move(beside)),
        is_named_(is_named),
        is_regular_(!beside_.empty()) {}

  Fd fd_;
  std::string path_;
  std::string beside_;     // empty: in place already, or never to be renamed
  bool is_named_ = false;  // it has that name
  bool is_regular_ = false;
  bool kept_old_ = false;
};

}  // namespace loft
