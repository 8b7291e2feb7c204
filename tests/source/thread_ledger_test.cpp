#include "source/perf_events/thread_ledger.hpp"

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

TEST(ThreadLedger, KeepsCountsPerThreadAndEvent) {
  ThreadLedger ledger;
  ledger.take(read(7, 100, 1).done());
  ledger.take(read(7, 5, 2).done());
  ledger.take(read(8, 30, 1).done());
  const auto threads = ledger.threads();
  EXPECT_EQ(threads.at(7).by_event_id.at(1).value, 100u);
  EXPECT_EQ(threads.at(7).by_event_id.at(2).value, 5u);
  EXPECT_EQ(threads.at(8).by_event_id.at(1).value, 30u);
}

TEST(ThreadLedger, AThreadHasItsParentsNameUntilItTakesAnother) {
  ThreadLedger ledger;
  ledger.take(comm(8, "worker", 30).done());  // the rings of two CPUs arrive in any order
  ledger.take(fork(8, 7, 20).done());
  ledger.take(fork(9, 7, 21).done());
  ledger.take(comm(7, "main", 10).done());
  EXPECT_EQ(ledger.names().at(8), "worker");
  EXPECT_EQ(ledger.names().at(9), "main");
}

TEST(ThreadLedger, CountsWhatWasLost) {
  ThreadLedger ledger;
  Record lost(PERF_RECORD_LOST);
  lost.add(std::uint64_t{1}).add(std::uint64_t{42});
  ledger.take(lost.done());
  EXPECT_EQ(ledger.lost(), 42u);
}

TEST(ThreadLedger, IgnoresRecordsThatAreTooShort) {
  ThreadLedger ledger;
  Record whole = read(7, 100, 1);
  const auto bytes = whole.done();
  for (std::size_t size = 0; size < bytes.size(); ++size) ledger.take(bytes.first(size));
  Record name = comm(7, "main", 1);
  const auto name_bytes = name.done();
  for (std::size_t size = 0; size < 32; ++size) ledger.take(name_bytes.first(size));
  EXPECT_TRUE(ledger.threads().empty());
  EXPECT_TRUE(ledger.names().empty());
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
