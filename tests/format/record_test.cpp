#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "format/perf/records.hpp"

namespace loft::format::perf {
namespace {

ByteBuilder comm_body(std::uint32_t pid, const char* name, ByteOrder order = ByteOrder::little) {
  ByteBuilder body(order);
  body.u32(pid).u32(pid).text_padded(name, 8);
  return body;
}

Bytes comms(int count) {
  ByteBuilder out(ByteOrder::little);
  for (int i = 0; i < count; ++i)
    out.bytes(
        record_bytes(RecordType::comm, 0, comm_body(static_cast<std::uint32_t>(100 + i), "app")));
  return {out.view().begin(), out.view().end()};
}

std::vector<std::uint32_t> pids_of(RecordWalker& walker) {
  std::vector<std::uint32_t> pids;
  RawRecord record;
  while (walker.next(record))
    if (const auto comm = read_comm(record)) pids.push_back(comm->pid);
  return pids;
}

TEST(RecordWalker, GivesEveryRecordOfWholeBytes) {
  const Bytes bytes = comms(5);
  RecordWalker walker(bytes, ByteOrder::little);
  EXPECT_EQ(pids_of(walker), (std::vector<std::uint32_t>{100, 101, 102, 103, 104}));
  EXPECT_TRUE(walker.damages().empty());
}

TEST(RecordWalker, FindsTheNextGoodRecordAfterDamage) {
  Bytes bytes = comms(10);
  const std::size_t size = bytes.size() / 10;
  for (std::size_t i = 0; i < size; ++i) bytes[3 * size + i] = std::byte{0xEE};
  RecordWalker walker(bytes, ByteOrder::little);
  EXPECT_EQ(pids_of(walker),
            (std::vector<std::uint32_t>{100, 101, 102, 104, 105, 106, 107, 108, 109}));
  ASSERT_EQ(walker.damages().size(), 1u);
  EXPECT_EQ(walker.damages()[0].offset, 3 * size);
  EXPECT_EQ(walker.damages()[0].size, size);
}

TEST(RecordWalker, ARecordThatLiesAboutItsSizeDoesNotSwallowTheOthers) {
  Bytes bytes = comms(10);
  const std::size_t size = bytes.size() / 10;
  bytes[2 * size + 6] = static_cast<std::byte>(2 * size + 4);  // into the middle of a later one
  RecordWalker walker(bytes, ByteOrder::little);
  EXPECT_EQ(pids_of(walker),
            (std::vector<std::uint32_t>{100, 101, 103, 104, 105, 106, 107, 108, 109}));
}

TEST(RecordWalker, ReadsACutFileUpToItsLastWholeRecord) {
  Bytes bytes = comms(4);
  bytes.resize(bytes.size() - 5);
  RecordWalker walker(bytes, ByteOrder::little);
  EXPECT_EQ(pids_of(walker), (std::vector<std::uint32_t>{100, 101, 102}));
  ASSERT_EQ(walker.damages().size(), 1u);
  EXPECT_TRUE(walker.damages()[0].is_tail);
}

TEST(RecordWalker, SkipsTextBehindTheRecords) {
  Bytes bytes = comms(4);
  for (const char c : std::string_view("[ perf record: Woken up 1 times ]\n"))
    bytes.push_back(static_cast<std::byte>(c));
  RecordWalker walker(bytes, ByteOrder::little);
  EXPECT_EQ(pids_of(walker).size(), 4u);
}

TEST(RecordWalker, CountsARecordOfAnUnknownTypeAndGoesOn) {
  ByteBuilder out(ByteOrder::little);
  out.bytes(comms(1)).bytes(record_bytes(static_cast<RecordType>(200), 0, comm_body(1, "new")));
  out.bytes(comms(2));
  RecordWalker walker(out.view(), ByteOrder::little);
  int unknown = 0;
  int known = 0;
  RawRecord record;
  while (walker.next(record))
    (static_cast<std::uint32_t>(record.type) == 200 ? unknown : known) += 1;
  EXPECT_EQ(unknown, 1);
  EXPECT_EQ(known, 3);
}

TEST(RecordWalker, GivesThePayloadBehindAnAuxtraceRecord) {
  ByteBuilder body(ByteOrder::little);
  body.u64(16).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
  ByteBuilder out(ByteOrder::little);
  out.bytes(record_bytes(RecordType::auxtrace, 0, body)).u64(0).u64(0).bytes(comms(2));
  RecordWalker walker(out.view(), ByteOrder::little);
  RawRecord record;
  ASSERT_TRUE(walker.next(record));
  EXPECT_EQ(record.payload.size(), 16u);
  EXPECT_EQ(pids_of(walker).size(), 2u);
}

TEST(RecordWalker, APayloadThatClaimsMoreThanTheFileIsCut) {
  ByteBuilder body(ByteOrder::little);
  body.u64(~std::uint64_t{0}).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
  const Bytes bytes = record_bytes(RecordType::auxtrace, 0, body);
  RecordWalker walker(bytes, ByteOrder::little);
  RawRecord record;
  ASSERT_TRUE(walker.next(record));
  EXPECT_TRUE(record.payload.empty());
  EXPECT_FALSE(walker.next(record));
}

// Linux keeps the mark of a build id from one recorder's record for that of the next.
TEST(Records, InodeNumbersAreNotTakenForABuildId) {
  ByteBuilder body(ByteOrder::little);
  body.u32(5).u32(6).u64(0x1000).u64(0x2000).u64(0x3000);
  body.u32(254).u32(1).u64(4711).u64(99);  // major, minor, inode, generation
  body.u32(5).u32(2).text_padded("/bin/app", 8);
  const Bytes bytes = record_bytes(RecordType::mmap2, kMiscMmapBuildId | 2, body);
  RecordWalker walker(bytes, ByteOrder::little);
  RawRecord record;
  ASSERT_TRUE(walker.next(record));
  const auto map = read_mmap(record);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->build_id.empty());
  EXPECT_EQ(map->inode, 4711u);
  EXPECT_EQ(map->path, "/bin/app");
}

TEST(Records, ReadsAnMmap2WithABuildId) {
  ByteBuilder body(ByteOrder::big);
  body.u32(5).u32(6).u64(0x1000).u64(0x2000).u64(0x3000);
  body.u8(3).u8(0).u16(0).u8(0xAB).u8(0xCD).u8(0xEF);
  for (int i = 0; i < 17; ++i) body.u8(0);
  body.u32(5).u32(2).text_padded("/bin/app", 8);
  const Bytes bytes = record_bytes(RecordType::mmap2, kMiscMmapBuildId | 2, body);
  RecordWalker walker(bytes, ByteOrder::big);
  RawRecord record;
  ASSERT_TRUE(walker.next(record));
  const auto map = read_mmap(record);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->start, 0x1000u);
  EXPECT_EQ(map->path, "/bin/app");
  EXPECT_EQ(to_hex(map->build_id), "abcdef");
  EXPECT_EQ(record.mode(), CpuMode::user);
}

TEST(Records, RefusesCountsLargerThanTheRecord) {
  ByteBuilder body(ByteOrder::little);
  body.u32(1).u32(1).u64(~std::uint64_t{0});
  RawRecord record{RecordType::namespaces, 0, ByteOrder::little, 0, body.view(), {}};
  EXPECT_FALSE(read_namespaces(record));
  ByteBuilder index(ByteOrder::little);
  index.u64(1u << 20).u64(0);
  RawRecord ids{RecordType::id_index, 0, ByteOrder::little, 0, index.view(), {}};
  EXPECT_FALSE(read_id_index(ids));
}

}  // namespace
}  // namespace loft::format::perf
