#include "format/perf/sample.hpp"

#include <gtest/gtest.h>

#include "format/builders.hpp"

namespace loft::format::perf {
namespace {

SampleLayout layout_of(const BuiltEvent& event, ByteOrder order = ByteOrder::little) {
  return SampleLayout(read_attr(attr_bytes(event, order), order).value());
}

RawRecord sample_of(const ByteBuilder& body) {
  return {RecordType::sample, 2, body.order(), 0, body.view(), {}};
}

TEST(Sample, ReadsEveryFieldInTheKernelsOrder) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    BuiltEvent event;
    event.sample_type = kKnownSampleBits & ~std::uint64_t{kWeight};
    event.read_format = kReadGroup | kReadId | kReadLost | kReadTotalTimeEnabled;
    event.branch_sample_type = kBranchHardwareIndex;
    event.regs_user = 0b1010;
    event.regs_intr = 0b1;
    ByteBuilder body(order);
    body.u64(77).u64(0x401000).u32(10).u32(11).u64(123456).u64(0xADD2).u64(77).u64(5);
    body.u32(3).u32(0).u64(1000);                                         // cpu, period
    body.u64(2).u64(900).u64(1).u64(77).u64(0).u64(2).u64(78).u64(9);     // group of two
    body.u64(2).u64(perf_data::kContextUser).u64(0x401000);               // chain
    body.u32(4).u8('r').u8('a').u8('w').u8(0);                            // raw
    body.u64(1).u64(42).u64(0x1).u64(0x2);                                // one branch
    body.u64(order == ByteOrder::little ? 0b1 : std::uint64_t{1} << 63);  // mispredicted
    body.u64(2).u64(0xA).u64(0xB);                                        // user registers
    body.u64(8).u64(0x1122334455667788).u64(4);                           // stack: 4 bytes are real
    body.u64(6).u64(0xD).u64(0x7);           // weight, source, transaction
    body.u64(2).u64(0xC).u64(0xFA).u64(99);  // intr regs, phys, cgroup
    body.u64(4096).u64(2048).u64(8).u64(0);  // page sizes, aux
    const auto sample = read_sample(sample_of(body), layout_of(event, order));
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->ip, 0x401000u);
    EXPECT_EQ(sample->who.tid, 11u);
    EXPECT_EQ(sample->who.time, 123456u);
    EXPECT_EQ(sample->who.cpu, 3u);
    EXPECT_EQ(sample->period, 1000u);
    ASSERT_TRUE(sample->reading);
    ASSERT_EQ(sample->reading->values.size(), 2u);
    EXPECT_EQ(sample->reading->values[1].id, 78u);
    EXPECT_EQ(sample->reading->values[1].lost, 9u);
    EXPECT_EQ(sample->reading->time_enabled, 900u);
    ASSERT_EQ(sample->call_chain.size(), 2u);
    EXPECT_EQ(sample->call_chain[1], 0x401000u);
    EXPECT_EQ(sample->raw.size(), 4u);
    ASSERT_EQ(sample->branches.size(), 1u);
    EXPECT_TRUE(sample->branches[0].mispredicted);
    EXPECT_FALSE(sample->branches[0].predicted);
    EXPECT_EQ(sample->branch_hardware_index, 42u);
    ASSERT_EQ(sample->user_registers.values.size(), 2u);
    EXPECT_EQ(sample->user_registers.values[1], 0xBu);
    EXPECT_EQ(sample->user_stack.size(), 4u);
    EXPECT_EQ(sample->weight, 6u);
    EXPECT_EQ(sample->data_source, 0xDu);
    EXPECT_EQ(sample->interrupt_registers.values[0], 0xCu);
    EXPECT_EQ(sample->physical_address, 0xFAu);
    EXPECT_EQ(sample->cgroup, 99u);
    EXPECT_EQ(sample->code_page_size, 2048u);
    EXPECT_EQ(sample->aux.size(), 8u);
  }
}

TEST(Sample, AFieldThatIsNotRecordedIsAbsentNotZero) {
  BuiltEvent event;
  event.sample_type = kIp;
  ByteBuilder body(ByteOrder::little);
  body.u64(1);
  const auto sample = read_sample(sample_of(body), layout_of(event));
  ASSERT_TRUE(sample);
  EXPECT_FALSE(sample->period);
  EXPECT_FALSE(sample->who.cpu);
  EXPECT_FALSE(sample->who.time);
}

TEST(Sample, RefusesACallChainLargerThanItsRecord) {
  BuiltEvent event;
  event.sample_type = kIp | kCallchain;
  ByteBuilder body(ByteOrder::little);
  body.u64(1).u64(std::uint64_t{1} << 61).u64(2);
  EXPECT_FALSE(read_sample(sample_of(body), layout_of(event)));
  BriefSample brief;
  EXPECT_FALSE(read_brief(sample_of(body), layout_of(event), brief));
}

TEST(Sample, RefusesAGroupLargerThanItsRecord) {
  BuiltEvent event;
  event.sample_type = kIp | kRead | kCallchain;
  event.read_format = kReadGroup | kReadId;
  ByteBuilder body(ByteOrder::little);
  body.u64(1).u64(0x1000000000000000).u64(2).u64(3);
  EXPECT_FALSE(read_sample(sample_of(body), layout_of(event)));
  BriefSample brief;
  EXPECT_FALSE(read_brief(sample_of(body), layout_of(event), brief));
}

TEST(Sample, TheBriefOneAgreesWithTheWholeOne) {
  BuiltEvent event;
  event.sample_type = kIdentifier | kIp | kTid | kTime | kCpu | kPeriod | kRead | kCallchain;
  event.read_format = kReadTotalTimeRunning | kReadId;
  ByteBuilder body(ByteOrder::big);
  body.u64(1).u64(0xAA).u32(5).u32(6).u64(70).u32(2).u32(0).u64(11);
  body.u64(1).u64(2).u64(3).u64(1).u64(0xBB);
  BriefSample brief;
  ASSERT_TRUE(read_brief(sample_of(body), layout_of(event, ByteOrder::big), brief));
  EXPECT_EQ(brief.ip, 0xAAu);
  EXPECT_EQ(brief.pid, 5u);
  EXPECT_EQ(brief.tid, 6u);
  EXPECT_EQ(brief.time, 70u);
  EXPECT_EQ(brief.cpu, 2u);
  EXPECT_EQ(brief.period, 11u);
  ASSERT_EQ(brief.call_chain.size(), 1u);
  EXPECT_EQ(brief.call_chain[0], 0xBBu);
}

std::vector<perf_data::EventDescription> events_of(const std::vector<BuiltEvent>& built) {
  std::vector<perf_data::EventDescription> events;
  for (const auto& event : built) {
    events.emplace_back();
    events.back().attr = read_attr(attr_bytes(event, ByteOrder::little), ByteOrder::little).value();
    events.back().ids = event.ids;
  }
  return events;
}

TEST(EventTable, FindsTheEventByItsIdentifierWhateverTheLayout) {
  BuiltEvent a, b;
  a.sample_type = kIdentifier | kIp;
  a.ids = {1, 2};
  b.sample_type = kIdentifier | kTime | kCpu;
  b.ids = {3};
  const EventTable table(events_of({a, b}));
  ByteBuilder body(ByteOrder::little);
  body.u64(3).u64(500).u32(1).u32(0);
  EXPECT_EQ(table.event_of_sample(sample_of(body)), 1u);
  EXPECT_EQ(table.time_of(sample_of(body)), 500u);
}

TEST(EventTable, FindsTheEventByTrialWhenLayoutsDiffer) {
  BuiltEvent a, b;
  a.sample_type = kIp | kId;
  a.ids = {1};
  b.sample_type = kIp | kTime | kId;
  b.ids = {9};
  const EventTable table(events_of({a, b}));
  ByteBuilder body(ByteOrder::little);
  body.u64(0xF00).u64(1234).u64(9);
  EXPECT_EQ(table.event_of_sample(sample_of(body)), 1u);
}

TEST(EventTable, AnUnknownIdIsOfNoEvent) {
  BuiltEvent a, b;
  a.sample_type = b.sample_type = kIdentifier | kIp;
  a.ids = {1};
  b.ids = {2};
  const EventTable table(events_of({a, b}));
  ByteBuilder body(ByteOrder::little);
  body.u64(99).u64(0);
  EXPECT_FALSE(table.event_of_sample(sample_of(body)));
}

TEST(EventTable, ReadsTheTailOfOtherRecords) {
  BuiltEvent event;
  event.sample_type = kTid | kTime | kCpu | kIdentifier;
  const EventTable table(events_of({event}));
  ByteBuilder body(ByteOrder::little);
  body.u32(1).u32(2).text_padded("comm", 8).u32(7).u32(8).u64(1000).u32(4).u32(0).u64(55);
  const RawRecord record{RecordType::comm, 0, ByteOrder::little, 0, body.view(), {}};
  const auto id = table.layout(0).read_tail(record);
  EXPECT_EQ(id.pid, 7u);
  EXPECT_EQ(id.tid, 8u);
  EXPECT_EQ(id.time, 1000u);
  EXPECT_EQ(id.cpu, 4u);
  EXPECT_EQ(id.id, 55u);
  EXPECT_EQ(table.time_of(record), 1000u);
}

}  // namespace
}  // namespace loft::format::perf
