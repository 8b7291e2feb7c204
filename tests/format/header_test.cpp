#include "format/perf/header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "format/perf/event_name.hpp"

namespace loft::format::perf {
namespace {

RecordingBuilder with_records(ByteOrder order, int count) {
  RecordingBuilder file(order);
  BuiltEvent event;
  event.ids = {4, 5};
  file.event(event);
  for (int i = 0; i < count; ++i) {
    ByteBuilder body = file.body();
    body.u32(1).u32(1).text_padded("app", 8).u32(1).u32(1).u64(0);
    file.record(RecordType::comm, 0, body);
  }
  return file;
}

TEST(Header, ReadsEventsAndIdsInBothByteOrders) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto header = read_header(with_records(order, 3).finish());
    ASSERT_TRUE(header);
    EXPECT_EQ(header->order, order);
    ASSERT_EQ(header->events.size(), 1u);
    EXPECT_EQ(header->events[0].ids, (std::vector<std::uint64_t>{4, 5}));
    EXPECT_EQ(header->data.size, 3u * 40);
    EXPECT_FALSE(header->was_cut_off);
  }
}

TEST(Header, ARecorderThatWasKilledLeavesAllItsRecords) {
  for (const std::uint64_t claimed : {0u, 40u}) {
    const auto header =
        read_header(with_records(ByteOrder::little, 5).claimed_data_size(claimed).finish());
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->was_cut_off);
    EXPECT_EQ(header->data.size, 5u * 40);
    EXPECT_FALSE(header->notes.empty());
  }
}

TEST(Header, ASizeBeyondTheFileIsCutToTheFile) {
  const auto header =
      read_header(with_records(ByteOrder::little, 2).claimed_data_size(1u << 30).finish());
  ASSERT_TRUE(header);
  EXPECT_EQ(header->data.size, 2u * 40);
  EXPECT_FALSE(header->notes.empty());
}

TEST(Header, TakesAttributesOfOtherSizes) {
  for (const std::size_t size : {64u, 72u, 96u, 136u, 256u}) {
    RecordingBuilder file;
    BuiltEvent event;
    event.attr_size = size;
    event.ids = {9};
    file.event(event);
    const auto header = read_header(file.finish());
    ASSERT_TRUE(header);
    ASSERT_EQ(header->events.size(), 1u) << size;
    EXPECT_EQ(header->events[0].ids, std::vector<std::uint64_t>{9});
  }
}

TEST(Header, RefusesWhatIsNoRecording) {
  EXPECT_FALSE(read_header(Bytes(200)));
  EXPECT_FALSE(read_header({}));
  Bytes cut = with_records(ByteOrder::little, 0).finish();
  cut.resize(20);
  EXPECT_FALSE(read_header(cut));
}

TEST(Header, KnowsAPipeByItsShortHeader) {
  const auto header = read_header(pipe_start(ByteOrder::big));
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->is_pipe);
  EXPECT_EQ(header->order, ByteOrder::big);
}

TEST(Header, IdListsThatClaimTheWholeFileForEveryEventStayBounded) {
  RecordingBuilder file;
  for (int i = 0; i < 100; ++i) file.event({});
  Bytes bytes = file.finish();
  for (std::size_t at = 104; at + 144 <= bytes.size(); at += 144)
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 136 + i] = std::byte{0xFF};
  const auto header = read_header(bytes);
  ASSERT_TRUE(header);
  std::size_t ids = 0;
  for (const auto& event : header->events) ids += event.ids.size();
  EXPECT_LE(ids, bytes.size() / 8);
}

TEST(EventName, NamesWhatTheRecordingDoesNot) {
  perf_data::Metadata metadata;
  metadata.pmu_types = {{9, "armv8_pmuv3"}};
  perf_data::EventAttr attr;
  EXPECT_EQ(name_of_event(attr, metadata), "cycles");
  attr.exclude_kernel = true;
  attr.precise_ip = 2;
  EXPECT_EQ(name_of_event(attr, metadata), "cycles:upp");
  attr = {};
  attr.type = 3;
  attr.config = 0x10003;
  EXPECT_EQ(name_of_event(attr, metadata), "dTLB-load-misses");
  attr.type = 9;
  attr.config = 0x11;
  EXPECT_EQ(name_of_event(attr, metadata), "armv8_pmuv3/config=0x11/");
}

TEST(Foreign, IsToldForWhatItIs) {
  const auto why = [](std::string_view text) {
    const auto header = read_header(std::as_bytes(std::span(text.data(), text.size())));
    return header ? "" : header.error().why + "; " + header.error().hint;
  };
  EXPECT_THAT(why(""), testing::HasSubstr("it is empty"));
  EXPECT_THAT(why("\x1F\x8B\b\x01"), testing::HasSubstr("gzip -dc FILE | loft report -"));
  EXPECT_THAT(why("\x28\xB5\x2F\xFD\x01"), testing::HasSubstr("zstd -dc FILE | loft report -"));
  EXPECT_THAT(why("\x7F"
                  "ELF\x02"),
              testing::HasSubstr("loft record -- FILE"));
  EXPECT_THAT(why("{\"a\": 1}"), testing::HasSubstr("JSON"));
  EXPECT_THAT(why("app 1 [000] 1.0: cycles:\n"), testing::HasSubstr("it is text"));
  EXPECT_THAT(why(std::string_view("\0\0\0\0", 4)), testing::HasSubstr("zeros"));
  EXPECT_THAT(why("PERFILE2"), testing::HasSubstr("ends within its header"));
  EXPECT_THAT(why("\x01\x02\x03"), testing::HasSubstr("PERFILE2"));
}

}  // namespace
}  // namespace loft::format::perf
