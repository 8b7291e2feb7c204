#include "source/scheduler/recording_output.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"
#include "base/nameless_file.hpp"

namespace loft::source::scheduler {
namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool is_stream(const std::string& path) {
  struct stat status {};
  if (path == kStandardOutput) return true;
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

Result<RecordingOutput> RecordingOutput::file(const std::string& path) {
  if (scheduler::is_stream(path)) return stream(path);
  RecordingOutput output;
  output.path_ = path;
  LOFT_TRY(output.replacement_, FileReplacement::of(path, FileReplacement::kForOwnerOnly));
  return output;
}

Result<RecordingOutput> RecordingOutput::temporary() {
  RecordingOutput output;
  output.path_ = "the recording";
  LOFT_TRY(output.nameless_, temporary_file());
  return output;
}

Result<RecordingOutput> RecordingOutput::stream(const std::string& path) {
  RecordingOutput output;
  output.path_ = path;
  output.is_stream_ = true;
  // A FIFO is opened once it has a reader. A reader that goes away is an error, not a signal.
  output.nameless_ = Fd(path == kStandardOutput ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                                : ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!output.nameless_.is_open()) return failure_of_errno(errno, "write to " + path);
  if (::isatty(output.nameless_.get()) == 1)
    return failure(ErrorKind::invalid_input, "write the recording to a terminal", "it is no text",
                   "send it to a program: loft record -o - -- ./app | loft report -");
  ::signal(SIGPIPE, SIG_IGN);
  return output;
}

Result<void> RecordingOutput::write_at(std::uint64_t offset, Bytes bytes) {
  auto written = is_stream_ ? write_all(nameless_, text_of(bytes), path_)
                            : loft::write_all_at(fd(), offset, bytes, path_);
  if (written) return written;
  // Readers would take what was written of it for a part of the recording.
  if (!is_stream_ && offset > 0) (void)!::ftruncate(fd().get(), static_cast<off_t>(offset));
  written.error().hint = "what was recorded until now is kept";
  return written;
}

Result<void> RecordingOutput::take_place() {
  return replacement_ ? replacement_->commit() : Result<void>();
}

Result<void> RecordingOutput::take_place_keeping_old() {
  return replacement_ ? replacement_->commit_keeping_old() : Result<void>();
}

void RecordingOutput::discard() {
  if (replacement_) replacement_->withdraw();
}

}  // namespace loft::source::scheduler
