#include "source/perf_events/thread_table.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>

#include "source/perf_events/combine.hpp"

namespace loft::source::perf_events {
namespace {

// A record built field by field, as the kernel lays it out.
class Record {
 public:
  explicit Record(std::uint32_t type) { add(type).add(std::uint16_t{0}).add(std::uint16_t{0}); }

  template <class T>
  Record& add(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Record& text(std::string_view name) {
    for (const char c : name) add(c);
    do add('\0');
    while (bytes_.size() % 8 != 0);
    return *this;
  }
  std::span<const std::byte> done() {
    const auto size = static_cast<std::uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + 6, &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

Record comm(std::uint32_t tid, std::string_view name, std::uint64_t time) {
  Record record(PERF_RECORD_COMM);
  record.add(std::uint32_t{1}).add(tid).text(name).add(std::uint32_t{1}).add(tid).add(time);
  return record;
}

Record fork(std::uint32_t tid, std::uint32_t parent, std::uint64_t time) {
  Record record(PERF_RECORD_FORK);
  record.add(std::uint32_t{1}).add(std::uint32_t{1}).add(tid).add(parent).add(time);
  record.add(std::uint32_t{1}).add(tid).add(time);
  return record;
}

Record read(std::uint32_t tid, std::uint64_t value, std::uint64_t id) {
  Record record(PERF_RECORD_READ);
  record.add(std::uint32_t{1})
      .add(tid)
      .add(value)
      .add(std::uint64_t{10})
      .add(std::uint64_t{10})
      .add(id);
  return record;
}

TEST(ThreadTable, KeepsCountsPerThreadAndEvent) {
  ThreadTable table;
  table.take(read(7, 100, 1).done());
  table.take(read(7, 5, 2).done());
  table.take(read(8, 30, 1).done());
  const auto threads = table.threads();
  EXPECT_EQ(threads.at(7).by_event_id.at(1).value, 100u);
  EXPECT_EQ(threads.at(7).by_event_id.at(2).value, 5u);
  EXPECT_EQ(threads.at(8).by_event_id.at(1).value, 30u);
}

TEST(ThreadTable, AThreadHasItsParentsNameUntilItTakesAnother) {
  ThreadTable table;
  table.take(comm(8, "worker", 30).done());  // the rings of two CPUs arrive in any order
  table.take(fork(8, 7, 20).done());
  table.take(fork(9, 7, 21).done());
  table.take(comm(7, "main", 10).done());
  EXPECT_EQ(table.names().at(8), "worker");
  EXPECT_EQ(table.names().at(9), "main");
}

TEST(ThreadTable, CountsWhatWasLost) {
  ThreadTable table;
  Record lost(PERF_RECORD_LOST);
  lost.add(std::uint64_t{1}).add(std::uint64_t{42});
  table.take(lost.done());
  EXPECT_EQ(table.lost(), 42u);
}

TEST(ThreadTable, IgnoresRecordsThatAreTooShort) {
  ThreadTable table;
  Record whole = read(7, 100, 1);
  const auto bytes = whole.done();
  for (std::size_t size = 0; size < bytes.size(); ++size) table.take(bytes.first(size));
  Record name = comm(7, "main", 1);
  const auto name_bytes = name.done();
  for (std::size_t size = 0; size < 32; ++size) table.take(name_bytes.first(size));
  EXPECT_TRUE(table.threads().empty());
  EXPECT_TRUE(table.names().empty());
}

RawReading reading(std::uint64_t value, long enabled, long running) {
  return {value, Nanoseconds(enabled), Nanoseconds(running)};
}

event::Event hardware() {
  event::Event event;
  event.encoding = {"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
  return event;
}

TEST(CountOverCpus, ATaskThatMovedWasCountedAllTheTime) {
  const std::vector readings{reading(300, 10'000'000, 4'000'000),
                             reading(500, 10'000'000, 6'000'000)};
  const auto count = count_over_cpus(readings, hardware());
  EXPECT_EQ(count.origin, sample::Origin::counted);
  EXPECT_EQ(count.raw, 800u);
}

TEST(CountOverCpus, SharedCountersAreScaledByTheirRealShare) {
  const std::vector readings{reading(300, 10'000'000, 2'000'000),
                             reading(500, 10'000'000, 3'000'000)};
  const auto count = count_over_cpus(readings, hardware());
  EXPECT_EQ(count.origin, sample::Origin::scaled);
  EXPECT_DOUBLE_EQ(count.value(), 1600);
}

}  // namespace
}  // namespace loft::source::perf_events
