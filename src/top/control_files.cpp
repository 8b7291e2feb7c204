#include "top/control_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::top {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

}  // namespace

Result<std::string> parse_control_file(std::string_view text) {
  std::vector<std::string> events;
  for (const std::string_view line : split(text, '\n')) {
    std::string_view rest = trim(line.substr(0, line.find('#')));
    while (rest.ends_with(',')) rest = trim(rest.substr(0, rest.size() - 1));
    if (!rest.empty()) events.emplace_back(rest);
  }
  if (events.empty())
    return failure(ErrorKind::invalid_input, "change events", "the file names none");
  return join(events, ",");
}

std::optional<ControlFiles::Stamp> ControlFiles::stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Stamp{found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino, found.st_size};
}

Result<ControlFiles> ControlFiles::open(std::string folder, const CpuList& cpus,
                                        const std::string& events) {
  ControlFiles files;
  if (::mkdir(folder.c_str(), 0700) == 0)
    files.made_folder_ = true;
  else if (errno != EEXIST)
    return failure_of_errno(errno, "make the folder '" + folder + "'");
  files.folder_ = std::move(folder);
  for (const int cpu : cpus) {
    Watched file{cpu, fmt::format("{}/cpu{}", files.folder_, cpu), std::nullopt, false};
    if (!file_exists(file.path)) {
      LOFT_CHECK(replace_file(
          file.path,
          fmt::format("# What CPU {} counts; read again when it changes.\n{}\n", cpu, events)));
      file.is_ours = true;
      file.seen = stamp_of(file.path);
    }
    files.files_.push_back(std::move(file));
  }
  return files;
}

ControlFiles::~ControlFiles() {
  for (const Watched& file : files_)
    if (file.is_ours) ::unlink(file.path.c_str());
  if (made_folder_ && !folder_.empty()) ::rmdir(folder_.c_str());  // stays when it is not empty
}

std::vector<FileChange> ControlFiles::changed() {
  std::vector<FileChange> changes;
  for (Watched& file : files_) {
    const auto stamp = stamp_of(file.path);
    if (!stamp || stamp == file.seen) continue;
    file.seen = stamp;
    const auto text = read_file(file.path, kMostBytes);
    changes.push_back({file.cpu, text ? parse_control_file(*text)
                                      : Result<std::string>(tl::make_unexpected(text.error()))});
  }
  return changes;
}

}  // namespace loft::top
