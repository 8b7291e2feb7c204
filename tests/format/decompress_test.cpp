// zstd inside recordings: one stream, cut into records wherever the recorder's buffer was full.
#include "format/perf/decompress.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include "format/builders.hpp"

namespace loft::format::perf {
namespace {

Bytes content_of(std::size_t size) {
  Bytes content(size);
  std::uint32_t state = 1;
  for (std::byte& byte : content) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 29);  // few values: it can be compressed
  }
  return content;
}

Bytes packed(std::span<const std::byte> content) {
  Bytes out(ZSTD_compressBound(content.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 1));
  return out;
}

RawRecord record_of(std::span<const std::byte> body, RecordType type = RecordType::compressed,
                    ByteOrder order = ByteOrder::little) {
  RawRecord record;
  record.type = type;
  record.order = order;
  record.body = body;
  return record;
}

class Collected {
 public:
  Result<void> add(Decompressor& stream, const RawRecord& record) {
    return stream.add(record, [this](std::span<const std::byte> piece) -> Result<void> {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return {};
    });
  }
  Bytes bytes;
};

// More than comes out in one piece (64 KiB), cut where no record, block or word ends.
TEST(Decompressor, RecordsOfOneStreamGiveOneContent) {
  const Bytes content = content_of(300'000);
  const Bytes frame = packed(content);
  for (const std::size_t step : {std::size_t{1009}, frame.size() / 2 + 1, frame.size()}) {
    Decompressor stream;
    Collected got;
    for (std::size_t at = 0; at < frame.size(); at += step)
      ASSERT_TRUE(got.add(
          stream, record_of(std::span(frame).subspan(at, std::min(step, frame.size() - at)))));
    EXPECT_EQ(got.bytes == content, true) << step << " bytes in each record";
  }
}

TEST(Decompressor, ARecordMayHoldSeveralFrames) {
  const Bytes one = content_of(10), two = content_of(70'000);
  Bytes frames = packed(one);
  const Bytes second = packed(two);
  frames.insert(frames.end(), second.begin(), second.end());
  Decompressor stream;
  Collected got;
  ASSERT_TRUE(got.add(stream, record_of(frames)));
  Bytes both = one;
  both.insert(both.end(), two.begin(), two.end());
  EXPECT_EQ(got.bytes == both, true);
}

TEST(Decompressor, PaddingOfTheSecondKindIsNotPartOfTheStream) {
  const Bytes content = content_of(100);
  const Bytes frame = packed(content);
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    ByteBuilder body(order);
    body.u64(frame.size()).bytes(frame).u64(0xFFFFFFFFFFFFFFFF);
    Decompressor stream;
    Collected got;
    ASSERT_TRUE(got.add(stream, record_of(body.view(), RecordType::compressed2, order)));
    EXPECT_EQ(got.bytes, content);
  }
}

TEST(Decompressor, RefusesASizeBeyondTheRecord) {
  const Bytes frame = packed(content_of(100));
  for (const std::uint64_t size : {std::uint64_t{frame.size() + 1}, ~std::uint64_t{0}}) {
    ByteBuilder body(ByteOrder::little);
    body.u64(size).bytes(frame);
    Decompressor stream;
    Collected got;
    const auto added = got.add(stream, record_of(body.view(), RecordType::compressed2));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().why, "its size lies");
    EXPECT_TRUE(got.bytes.empty());
  }
  Decompressor stream;
  Collected got;
  EXPECT_FALSE(got.add(stream, record_of(Bytes(7), RecordType::compressed2))) << "no size at all";
}

TEST(Decompressor, GoesOnWithANewFrameBehindDamage) {
  const Bytes content = content_of(5'000);
  Bytes damaged = packed(content);
  damaged[0] ^= std::byte{1};  // no zstd any more
  Decompressor stream;
  Collected got;
  const auto first = got.add(stream, record_of(damaged));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::malformed);
  got.bytes.clear();
  ASSERT_TRUE(got.add(stream, record_of(packed(content))));
  EXPECT_EQ(got.bytes == content, true);
}

TEST(Decompressor, WhatTheTakerRefusesEndsIt) {
  const Bytes frame = packed(content_of(300'000));
  Decompressor stream;
  int calls = 0;
  const auto added = stream.add(record_of(frame), [&](std::span<const std::byte>) -> Result<void> {
    if (++calls == 2) return failure(ErrorKind::limit, "take it", "it is too much");
    return {};
  });
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().why, "it is too much");
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace loft::format::perf
