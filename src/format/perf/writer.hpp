// Writes perf.data files that perf and loft read.
//
//   RecordingWriter writer(write_at, events);
//   LOFT_CHECK(writer.start());
//   while (running) LOFT_CHECK(writer.append(whole_records));   // as the ring buffers give them
//   LOFT_CHECK(writer.finish_round());                          // after each drain of all buffers
//   writer.add_text(Feature::hostname, "box");
//   LOFT_CHECK(writer.finish());
//
// The file is valid after every call: the header's size of the data follows each round, and
// features are named in it only once they are written. A recorder that is killed loses at most what
// it had not yet appended, for loft as for perf.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "format/byte_builder.hpp"
#include "format/perf/features.hpp"
#include "format/perf/record.hpp"

namespace loft::format::perf {

// A file can be written at any place. A stream (a pipe, a FIFO) is written in order: events and
// features are records there, as perf writes them to a pipe.
enum class Medium { file, stream };

// Puts bytes at an offset of the file; in a stream each call goes on where the one before ended.
using WriteAt = std::function<Result<void>(std::uint64_t offset, std::span<const std::byte> bytes)>;

struct WrittenEvent {
  std::vector<std::byte> attr;     // the kernel's perf_event_attr as it was opened
  std::vector<std::uint64_t> ids;  // one per descriptor
  std::string name;
};

class RecordingWriter {
 public:
  RecordingWriter(WriteAt write, std::vector<WrittenEvent> events, Medium medium = Medium::file);

  // The header, the events and their ids. Every attribute must have the same size.
  [[nodiscard]] Result<void> start();

  // Whole records. They reach the header's count with the next finish_round() or finish().
  [[nodiscard]] Result<void> append(std::span<const std::byte> records);

  // Says that nothing older than the round before will come, and makes the data so far official.
  [[nodiscard]] Result<void> finish_round();

  // Makes the data so far official and no more: what is left to do where the disk is full.
  [[nodiscard]] Result<void> update_sizes() { return write_header(false); }

  void add_text(Feature feature, const std::string& text);
  void add_texts(Feature feature, const std::vector<std::string>& texts);
  // Any other feature, its bytes as they stand; bits above 127 are for what perf has no place for.
  void add_feature(std::uint32_t bit, std::vector<std::byte> bytes);

  // Features, then the header that names them. Nothing may be appended afterwards, but features
  // may be added, and this be called again.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::uint64_t data_size() const { return data_size_; }

 private:
  [[nodiscard]] Result<void> start_stream();
  [[nodiscard]] Result<void> write_header(bool with_features);
  void add_event_descriptions();

  WriteAt write_;
  std::vector<WrittenEvent> events_;
  Medium medium_;
  std::map<std::uint32_t, std::vector<std::byte>> features_;
  std::uint64_t attrs_offset_ = 0;
  std::uint64_t data_offset_ = 0;
  std::uint64_t data_size_ = 0;
};

// One record: header and body, padded to 8 bytes. A body that a record cannot hold is an error.
[[nodiscard]] Result<std::vector<std::byte>> make_record(RecordType type, std::uint16_t misc,
                                                         std::span<const std::byte> body,
                                                         ByteOrder order = kHostOrder);

}  // namespace loft::format::perf
