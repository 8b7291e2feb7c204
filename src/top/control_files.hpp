// A file for each core that says what it counts. Whoever writes it changes the events of that core.
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

class ControlFiles {
 public:
  // In `folder`, which is made where it does not exist: "cpu0", "cpu1", ...
  [[nodiscard]] static Result<ControlFiles> open(std::string folder, const CpuList& cpus,
                                                 const std::string& events);
  ControlFiles(ControlFiles&&) noexcept = default;
  ControlFiles& operator=(ControlFiles&&) = delete;
  ~ControlFiles();

  // Files whose time stamp has changed since the last call. One that is gone changes nothing.
  [[nodiscard]] std::vector<FileChange> changed();

 private:
  struct Stamp {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Watched {
    int cpu = -1;
    std::string path;
    std::optional<Stamp> seen;
    bool is_ours = false;
  };
  ControlFiles() = default;
  [[nodiscard]] static std::optional<Stamp> stamp_of(const std::string& path);

  std::string folder_;
  bool made_folder_ = false;
  std::vector<Watched> files_;
};

}  // namespace loft::top
