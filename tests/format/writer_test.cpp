#include "format/perf/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "format/builders.hpp"
#include "format/perf/header.hpp"
#include "format/perf/records.hpp"

namespace loft::format::perf {
namespace {

// A file in memory.
class MemoryFile {
 public:
  WriteAt writer() {
    return [this](std::uint64_t offset, std::span<const std::byte> more) -> Result<void> {
      if (bytes.size() < offset + more.size()) bytes.resize(offset + more.size());
      std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
      return {};
    };
  }
  Bytes bytes;
};

std::vector<WrittenEvent> one_event() {
  return {{attr_bytes({}, kHostOrder), {11, 12}, "cpu-clock:u"}};
}

Bytes comm_record() {
  ByteBuilder body;
  body.u32(1).u32(1).text_padded("app", 8);
  return record_bytes(RecordType::comm, 0, body);
}

std::size_t records_in(const Bytes& file, const FileHeader& header) {
  const std::span<const std::byte> data =
      std::span(file).subspan(header.data.offset, header.data.size);
  RecordWalker walker(data, header.order);
  RawRecord record;
  std::size_t count = 0;
  while (walker.next(record)) ++count;
  EXPECT_TRUE(walker.damages().empty());
  return count;
}

TEST(RecordingWriter, WhatIsWrittenIsReadBack) {
  MemoryFile file;
  RecordingWriter writer(file.writer(), one_event());
  ASSERT_TRUE(writer.start());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.append(comm_record()));
  ASSERT_TRUE(writer.finish_round());
  writer.add_text(Feature::hostname, "box");
  writer.add_texts(Feature::command_line, {"loft", "record"});
  writer.add_feature(200, {std::byte{1}});
  ASSERT_TRUE(writer.finish());

  const auto header = read_header(file.bytes);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->notes.empty());
  EXPECT_EQ(records_in(file.bytes, *header), 4u);
  perf_data::Metadata metadata;
  metadata.events = header->events;
  for (const auto& feature : header->features)
    EXPECT_TRUE(read_feature(
        feature.bit, std::span(file.bytes).subspan(feature.where.offset, feature.where.size),
        header->order, metadata));
  EXPECT_EQ(metadata.hostname, "box");
  EXPECT_EQ(metadata.command_line, (std::vector<std::string>{"loft", "record"}));
  ASSERT_EQ(metadata.events.size(), 1u);
  EXPECT_EQ(metadata.events[0].name, "cpu-clock:u");
  EXPECT_EQ(metadata.events[0].ids, (std::vector<std::uint64_t>{11, 12}));
  ASSERT_EQ(metadata.other_features.size(), 1u);
  EXPECT_EQ(metadata.other_features[0].first, 200u);
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  char chunk[512];
  while (const auto got = std::fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, got);
  return ::pclose(pipe) == 0 ? output : std::string();
}

TEST(RecordingWriter, PerfReadsWhatIsWritten) {
  if (output_of("perf --version 2>/dev/null").empty()) GTEST_SKIP() << "perf is not installed";
  MemoryFile file;
  RecordingWriter writer(
      file.writer(),
      {{attr_bytes({.sample_type = kIp | kTid | kTime | kPeriod, .ids = {}}, kHostOrder),
        {11},
        "cpu-clock:u"}});
  ASSERT_TRUE(writer.start());
  ByteBuilder comm;
  comm.u32(77).u32(77).text_padded("written", 8).u32(77).u32(77).u64(1'000'000'000);
  ASSERT_TRUE(writer.append(record_bytes(RecordType::comm, 0, comm)));
  ByteBuilder sample;
  sample.u64(0x1234).u32(77).u32(77).u64(2'000'000'000).u64(42);
  ASSERT_TRUE(writer.append(record_bytes(RecordType::sample, 2, sample)));
  ASSERT_TRUE(writer.finish_round());
  writer.add_text(Feature::hostname, "box");
  writer.add_feature(200, {std::byte{1}});  // a place of our own, which perf must step over
  ASSERT_TRUE(writer.finish());

  std::string path = testing::TempDir() + "loft-writer-XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  EXPECT_EQ(::write(fd, file.bytes.data(), file.bytes.size()),
            static_cast<ssize_t>(file.bytes.size()));
  ::close(fd);
  const auto text = output_of("perf script -F comm,pid,time,period,ip -i " + path + " 2>/dev/null");
  ::unlink(path.c_str());
  EXPECT_NE(text.find("written"), std::string::npos) << text;
  EXPECT_NE(text.find("77"), std::string::npos) << text;
  EXPECT_NE(text.find("2.000000"), std::string::npos) << text;
  EXPECT_NE(text.find("1234"), std::string::npos) << text;
}

TEST(RecordingWriter, AFileWhoseWriterDiedReadsUpToItsLastRecord) {
  MemoryFile file;
  RecordingWriter writer(file.writer(), one_event());
  ASSERT_TRUE(writer.start());
  ASSERT_TRUE(writer.append(comm_record()));
  ASSERT_TRUE(writer.finish_round());
  const auto official = read_header(file.bytes);
  ASSERT_TRUE(official);
  EXPECT_EQ(records_in(file.bytes, *official), 2u);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.append(comm_record()));
  Bytes cut = file.bytes;
  cut.resize(cut.size() - 3);  // in the middle of a write
  const auto header = read_header(cut);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->was_cut_off);
  const std::span<const std::byte> data =
      std::span(cut).subspan(header->data.offset, header->data.size);
  RecordWalker walker(data, header->order);
  RawRecord record;
  int count = 0;
  while (walker.next(record)) ++count;
  EXPECT_EQ(count, 6);
}

TEST(RecordingWriter, RefusesARecordThatIsTooLong) {
  EXPECT_FALSE(make_record(RecordType::comm, 0, Bytes(70000)));
}

}  // namespace
}  // namespace loft::format::perf
