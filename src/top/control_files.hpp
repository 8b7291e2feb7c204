// Files that say what is counted. Whoever writes one changes the events.
//
//   LOFT_TRY(auto file, ControlFile::open("/tmp/events", "cycles,instructions", "the program"));
//   if (const auto change = file.changed()) use(*change);
//
//   LOFT_TRY(auto files, ControlFiles::open("/tmp/events", {0, 1}, "cycles,instructions"));
//   for (const FileChange& change : files.changed()) use(change.cpu, change.events);
//
// Files that are not there are made, and taken away in the end; those that were there are read and
// stay. Events stand on lines of their own or between commas; '#' begins a comment.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/result.hpp"

namespace loft::top {

struct FileChange {
  int cpu = -1;
  Result<std::string> events;  // comma-separated; an error where the file cannot be used
};

// The events of a file; an error where there are none.
[[nodiscard]] Result<std::string> parse_control_file(std::string_view text);

class ControlFile {
 public:
  // `who` counts them, for the comment in a file that is made.
  [[nodiscard]] static Result<ControlFile> open(std::string path, const std::string& events,
                                                const std::string& who);
  ControlFile(ControlFile&& other) noexcept;
  ControlFile& operator=(ControlFile&&) = delete;
  ~ControlFile();

  // Its events, if its time stamp has changed since the last call; an error where it cannot be
  // used. A file that is gone changes nothing.
  [[nodiscard]] std::optional<Result<std::string>> changed();

 private:
  struct Stamp {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    bool operator==(const Stamp&) const = default;
  };
  explicit ControlFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] static std::optional<Stamp> stamp_of(const std::string& path);

  std::string path_;
  std::optional<Stamp> seen_;
  bool is_ours_ = false;
};

class ControlFiles {
 public:
  // In `folder`, which is made where it does not exist: "cpu0", "cpu1", ...
  [[nodiscard]] static Result<ControlFiles> open(std::string folder, const CpuList& cpus,
                                                 const std::string& events);
  ControlFiles(ControlFiles&&) noexcept = default;
  ControlFiles& operator=(ControlFiles&&) = delete;
  ~ControlFiles();

  [[nodiscard]] std::vector<FileChange> changed();

 private:
  struct Watched {
    int cpu = -1;
    ControlFile file;
  };
  ControlFiles() = default;

  std::string folder_;
  bool made_folder_ = false;
  std::vector<Watched> files_;
};

}  // namespace loft::top
