// Every kind of record, in both byte orders, and cut off at every byte.
#include "format/perf/records.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "format/builders.hpp"

namespace loft::format::perf {
namespace {

class Records : public testing::TestWithParam<ByteOrder> {
 protected:
  [[nodiscard]] static ByteBuilder body() { return ByteBuilder(GetParam()); }

  static RawRecord raw(const ByteBuilder& bytes, RecordType type = RecordType::mmap,
                       std::uint16_t misc = 0) {
    RawRecord record;
    record.type = type;
    record.misc = misc;
    record.order = GetParam();
    record.body = bytes.view();
    return record;
  }

  // Nothing must come out of a record that is shorter than `least` bytes.
  template <class Read>
  static void expect_whole(const Read& read, RawRecord record, std::size_t least) {
    const auto whole = record.body;
    for (std::size_t size = 0; size < least; ++size) {
      record.body = whole.first(size);
      EXPECT_FALSE(read(record)) << size << " bytes of " << whole.size();
    }
    record.body = whole.first(least);
    EXPECT_TRUE(read(record));
  }
};

INSTANTIATE_TEST_SUITE_P(BothOrders, Records, testing::Values(ByteOrder::little, ByteOrder::big));

TEST_P(Records, MmapHasItsPlaceAndPath) {
  const auto bytes = body().u32(7).u32(8).u64(0x1000).u64(0x2000).u64(0x30).text_padded("/a", 8);
  const auto map = read_mmap(raw(bytes, RecordType::mmap, kMiscMmapData));
  ASSERT_TRUE(map);
  EXPECT_EQ(map->pid, 7u);
  EXPECT_EQ(map->tid, 8u);
  EXPECT_EQ(map->start, 0x1000u);
  EXPECT_EQ(map->length, 0x2000u);
  EXPECT_EQ(map->file_offset, 0x30u);
  EXPECT_EQ(map->path, "/a");
  EXPECT_TRUE(map->is_data);
  expect_whole(read_mmap, raw(bytes), 32);
}

TEST_P(Records, Mmap2HasInodesOrABuildId) {
  const auto start = [] { return body().u32(1).u32(2).u64(3).u64(4).u64(5); };
  const auto inodes = start().u32(8).u32(1).u64(99).u64(7).u32(5).u32(2).text_padded("/a", 8);
  const auto plain = read_mmap(raw(inodes, RecordType::mmap2));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->inode, 99u);
  EXPECT_EQ(plain->inode_generation, 7u);
  EXPECT_EQ(plain->protection, 5u);
  EXPECT_TRUE(plain->build_id.empty());

  auto with_id = start().u8(4).u8(0).u16(0).u32(1);
  for (int i = 0; i < 4; ++i) with_id.u32(0);
  with_id.u32(5).u32(2).text_padded("/b", 8);
  const auto identified = read_mmap(raw(with_id, RecordType::mmap2, kMiscMmapBuildId));
  ASSERT_TRUE(identified);
  EXPECT_EQ(identified->build_id.size(), 4u);
  EXPECT_EQ(identified->path, "/b");
  EXPECT_EQ(identified->protection, 5u);

  // Some kernels mark records that hold inode numbers all the same.
  const auto marked = read_mmap(raw(inodes, RecordType::mmap2, kMiscMmapBuildId));
  ASSERT_TRUE(marked);
  EXPECT_TRUE(marked->build_id.empty());
  EXPECT_EQ(marked->inode, 99u);
}

TEST_P(Records, CommSaysWhetherItWasAnExec) {
  const auto bytes = body().u32(7).u32(8).text_padded("a name", 8);
  EXPECT_EQ(read_comm(raw(bytes))->name, "a name");
  EXPECT_FALSE(read_comm(raw(bytes))->is_exec);
  EXPECT_TRUE(read_comm(raw(bytes, RecordType::comm, kMiscCommExec))->is_exec);
  expect_whole(read_comm, raw(bytes), 8);
}

TEST_P(Records, TasksHaveParents) {
  const auto bytes = body().u32(1).u32(2).u32(3).u32(4).u64(5);
  const auto task = read_task(raw(bytes));
  ASSERT_TRUE(task);
  EXPECT_EQ(task->pid, 1u);
  EXPECT_EQ(task->parent_pid, 2u);
  EXPECT_EQ(task->tid, 3u);
  EXPECT_EQ(task->parent_tid, 4u);
  EXPECT_EQ(task->time, 5u);
  expect_whole(read_task, raw(bytes), 24);
}

TEST_P(Records, WhatWasLostIsCounted) {
  const auto lost = body().u64(9).u64(1000);
  EXPECT_EQ(read_lost(raw(lost))->count, 1000u);
  EXPECT_EQ(read_lost_samples(raw(lost))->count, 9u);
  expect_whole(read_lost, raw(lost), 16);
  expect_whole(read_lost_samples, raw(lost), 8);
}

TEST_P(Records, SwitchesKnowTheirDirection) {
  const auto other = body().u32(5).u32(6);
  const auto in = read_switch(raw(other, RecordType::switch_cpu_wide));
  ASSERT_TRUE(in);
  EXPECT_FALSE(in->is_out);
  EXPECT_EQ(in->other_tid, 6u);
  const auto out =
      read_switch(raw(other, RecordType::switch_cpu_wide, kMiscSwitchOut | kMiscSwitchOutPreempt));
  EXPECT_TRUE(out->is_out && out->is_preempted);
  const auto own = read_switch(raw(body(), RecordType::switch_, kMiscSwitchOutPreempt));
  ASSERT_TRUE(own);
  EXPECT_FALSE(own->is_preempted) << "only who leaves can be pushed off";
  EXPECT_FALSE(own->other_pid);
  expect_whole(read_switch, raw(other, RecordType::switch_cpu_wide), 8);
}

TEST_P(Records, RefusesACountThatTheRecordCannotHold) {
  const auto namespaces = body().u32(1).u32(2).u64(2).u64(3).u64(4).u64(5).u64(6);
  EXPECT_EQ(read_namespaces(raw(namespaces))->links.at(1).inode, 6u);
  expect_whole(read_namespaces, raw(namespaces), 48);
  const auto endless = body().u32(1).u32(2).u64(~std::uint64_t{0}).u64(0);
  EXPECT_FALSE(read_namespaces(raw(endless)));
  EXPECT_FALSE(read_deferred(raw(body().u64(1).u64(~std::uint64_t{0} / 8))));
  EXPECT_FALSE(read_id_index(raw(body().u64(1u << 30).u64(0))));
  EXPECT_FALSE(read_thread_map(raw(body().u64(2).u64(1).u64(0).u64(0))));
}

TEST_P(Records, TheKernelsOwnCodeIsNamed) {
  const auto symbol = body().u64(0xffff0000).u32(64).u16(1).u16(1).text_padded("bpf_prog_x", 8);
  EXPECT_EQ(read_ksymbol(raw(symbol))->name, "bpf_prog_x");
  EXPECT_EQ(read_ksymbol(raw(symbol))->flags, 1u);
  const auto bpf = body().u16(1).u16(0).u32(42).text("12345678");
  EXPECT_EQ(read_bpf_event(raw(bpf))->id, 42u);
  EXPECT_EQ(to_hex(read_bpf_event(raw(bpf))->tag), "3132333435363738");
  expect_whole(read_bpf_event, raw(bpf), 16);
  const auto poke = body().u64(0x1000).u16(1).u16(2).u8(0x90).u8(0xeb).u8(0xfe);
  EXPECT_EQ(read_text_poke(raw(poke))->new_bytes.size(), 2u);
  expect_whole(read_text_poke, raw(poke), 15);
}

TEST_P(Records, ReadingsOfAGroupHaveTheFieldsThatTheEventSays) {
  const std::uint64_t format = kReadGroup | kReadId | kReadTotalTimeEnabled | kReadTotalTimeRunning;
  const auto bytes = body().u32(1).u32(2).u64(2).u64(100).u64(50).u64(11).u64(1).u64(22).u64(2);
  EventAttr attr;
  attr.read_format = format;
  const auto read = read_read(raw(bytes), attr);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reading.time_enabled, 100u);
  EXPECT_EQ(read->reading.time_running, 50u);
  ASSERT_EQ(read->reading.values.size(), 2u);
  EXPECT_EQ(read->reading.values[1].value, 22u);
  EXPECT_EQ(read->reading.values[1].id, 2u);
  EXPECT_FALSE(read->reading.values[1].lost);
  expect_whole([&](const RawRecord& record) { return read_read(record, attr); }, raw(bytes), 64);
  attr.read_format = kReadLost;
  const auto single = read_read(raw(body().u32(1).u32(2).u64(33).u64(4)), attr);
  ASSERT_TRUE(single);
  EXPECT_EQ(single->reading.values.at(0).value, 33u);
  EXPECT_EQ(single->reading.values.at(0).lost, 4u);
  EXPECT_FALSE(single->reading.time_enabled);
}

TEST_P(Records, BuildIdsHaveTheirSizeSincePerfTellsIt) {
  auto bytes = body().u32(5);
  for (int i = 0; i < 20; ++i) bytes.u8(0xab);
  bytes.u8(8).u8(0).u16(0).text_padded("/bin/app", 8);
  EXPECT_EQ(read_build_id(raw(bytes))->bytes.size(), 20u);
  const auto sized = read_build_id(raw(bytes, RecordType::header_build_id, kMiscBuildIdSize | 1));
  EXPECT_EQ(sized->bytes.size(), 8u);
  EXPECT_TRUE(sized->is_kernel);
  EXPECT_EQ(sized->path, "/bin/app");
  expect_whole(read_build_id, raw(bytes), 28);
}

TEST_P(Records, UpdatesOfEventsAreOfFourKinds) {
  const auto update = [](std::uint64_t kind) { return body().u64(kind).u64(7); };
  const auto named = update(2).text_padded("new", 8);
  EXPECT_EQ(read_event_update(raw(named))->text, "new");
  const auto scale = read_event_update(raw(update(1).u64(std::bit_cast<std::uint64_t>(0.5))));
  EXPECT_EQ(scale->scale, 0.5);
  const auto cpus = read_event_update(raw(update(3).u16(0).u16(2).u16(4).u16(6)));
  EXPECT_EQ(cpus->cpus.size(), 2u);
  const auto fewer = read_event_update(raw(update(3).u16(0).u16(9).u16(4)));
  EXPECT_EQ(fewer->cpus.size(), 1u) << "as many as are there";
  EXPECT_FALSE(read_event_update(raw(update(4)))) << "an unknown kind";
}

TEST_P(Records, CountsOfPerfStatAreRead) {
  const auto stat = body().u64(1).u32(2).u32(3).u64(4).u64(5).u64(6);
  EXPECT_EQ(read_stat(raw(stat))->cpu, 2u);
  EXPECT_EQ(read_stat(raw(stat))->running, 6u);
  expect_whole(read_stat, raw(stat), 40);
  const auto round = body().u64(1).u64(77);
  EXPECT_EQ(read_stat_round(raw(round))->time, 77u);
  expect_whole(read_stat_round, raw(round), 16);
  const auto times = body().u64(10).u64(20).u64(30);
  EXPECT_EQ(read_time_conversion(raw(times))->multiplier, 20u);
  expect_whole(read_time_conversion, raw(times), 24);
  const auto threads = body().u64(1).u64(9).text_padded("main", 16);
  EXPECT_EQ(read_thread_map(raw(threads))->entries.at(0).comm, "main");
  const auto ids = body().u64(1).u64(5).u64(6).u64(7).u64(8);
  EXPECT_EQ(read_id_index(raw(ids))->entries.at(0).tid, 8u);
}

}  // namespace
}  // namespace loft::format::perf
