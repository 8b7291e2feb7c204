#include "roof/once.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "roof/run_file.hpp"
#include "roof/work_events.hpp"
#include "source/virtual/recording.hpp"

namespace loft::roof {
namespace {

// Looked at so often that phases show, and so seldom that looking costs nothing.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(20);

// A folder for one file, gone with everything in it when nobody needs it any more.
class OwnFolder {
 public:
  static Result<OwnFolder> make() {
    std::error_code failed;
    std::string path = std::filesystem::temp_directory_path(failed) / "loft-XXXXXX";
    if (failed || ::mkdtemp(path.data()) == nullptr)
      return failure_of_errno(errno, "make a temporary folder", "set TMPDIR to a folder with room");
    return OwnFolder(std::move(path));
  }
  OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace

Result<CountedRun> run_once(const std::vector<std::string>& command, const std::string& file) {
  LOFT_TRY(const OwnFolder folder, OwnFolder::make());
  source::scheduler::RecordRequest request;
  LOFT_TRY(request.events, virtual_events(work_and_engine_event_names()));
  request.command = command;
  request.slice = kSlice;
  request.output = file.empty() ? folder.path() + "/once.data" : file;
  request.version = LOFT_VERSION;
  request.command_line = {"loft", "roof"};
  request.command_line.insert(request.command_line.end(), command.begin(), command.end());
  LOFT_TRY(const auto result, source::virtual_pmu::record(request, loop_features));
  if (result.broken) return Failure(*result.broken);
  LOFT_TRY(const auto recording, source::Recording::open(request.output));
  LOFT_TRY(CountedRun run, read_counted(*recording));
  run.notes.insert(run.notes.begin(), result.notes.begin(), result.notes.end());
  return run;
}

}  // namespace loft::roof
