// Where the bytes of a recording go: a file that takes its place in one step, a file without a
// name, or a stream.
//
//   LOFT_TRY(auto output, RecordingOutput::file("perf.data"));
//   LOFT_CHECK(output.write_at(0, header));
//   LOFT_CHECK(output.take_place_keeping_old());     // and goes on being written
#pragma once

#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/fd.hpp"
#include "base/file_replacement.hpp"
#include "base/result.hpp"

namespace loft::source::scheduler {

inline constexpr std::string_view kStandardOutput = "-";
// Whether a recording at this path is written in order: standard output, or a FIFO.
[[nodiscard]] bool is_stream(const std::string& path);

class RecordingOutput {
 public:
  // Beside `path` until it takes its place. "-" is standard output; it and a FIFO are streams.
  [[nodiscard]] static Result<RecordingOutput> file(const std::string& path);
  // Vanishes with this object.
  [[nodiscard]] static Result<RecordingOutput> temporary();

  // A part that could not be written whole is taken back, where that can be done. In a stream each
  // call goes on where the one before ended.
  [[nodiscard]] Result<void> write_at(std::uint64_t offset, Bytes bytes);

  [[nodiscard]] Result<void> take_place();
  [[nodiscard]] Result<void> take_place_keeping_old();
  // As if it had never been created; what was written to a stream stays.
  void discard();

  [[nodiscard]] bool is_stream() const { return is_stream_; }
  [[nodiscard]] const Fd& fd() const { return replacement_ ? replacement_->fd() : nameless_; }

 private:
  [[nodiscard]] static Result<RecordingOutput> stream(const std::string& path);

  std::string path_;
  std::optional<FileReplacement> replacement_;
  Fd nameless_;  // a stream, or a temporary file
  bool is_stream_ = false;
};

}  // namespace loft::source::scheduler
