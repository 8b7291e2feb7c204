#include "top/control_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

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

std::optional<ControlFile::Stamp> ControlFile::stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Stamp{found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino, found.st_size};
}

Result<ControlFile> ControlFile::open(std::string path, const std::string& events,
                                      const std::string& who) {
  ControlFile file(std::move(path));
  if (file_exists(file.path_)) return file;
  LOFT_CHECK(replace_file(
      file.path_, fmt::format("# What {} counts; read again when it changes.\n{}\n", who, events)));
  file.is_ours_ = true;
  file.seen_ = stamp_of(file.path_);
  return file;
}

ControlFile::ControlFile(ControlFile&& other) noexcept
    : path_(std::move(other.path_)),
      seen_(other.seen_),
      is_ours_(std::exchange(other.is_ours_, false)) {}

ControlFile::~ControlFile() {
  if (is_ours_) ::unlink(path_.c_str());
}

std::optional<Result<std::string>> ControlFile::changed() {
  const auto stamp = stamp_of(path_);
  if (!stamp || stamp == seen_) return std::nullopt;
  seen_ = stamp;
  const auto text = read_file(path_, kMostBytes);
  if (!text) return Failure(text.error());
  return parse_control_file(*text);
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
    LOFT_TRY(auto file, ControlFile::open(fmt::format("{}/cpu{}", files.folder_, cpu), events,
                                          fmt::format("CPU {}", cpu)));
    files.files_.push_back({cpu, std::move(file)});
  }
  return files;
}

ControlFiles::~ControlFiles() {
  files_.clear();
  if (made_folder_ && !folder_.empty()) ::rmdir(folder_.c_str());  // stays when it is not empty
}

std::vector<FileChange> ControlFiles::changed() {
  std::vector<FileChange> changes;
  for (Watched& watched : files_)
    if (auto events = watched.file.changed()) changes.push_back({watched.cpu, *std::move(events)});
  return changes;
}

}  // namespace loft::top
