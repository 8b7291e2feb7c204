#include "source/file/schedule.hpp"

#include <unordered_map>

namespace loft::source {
namespace {

namespace perf = format::perf;

class ScheduleReader {
 public:
  explicit ScheduleReader(const Recording& recording) : recording_(recording) {}

  std::vector<RunSlice> read() {
    recording_.in_order([&](const PlacedRecord& placed) {
      take(placed);
      return true;
    });
    for (const auto& [tid, running] : running_)
      if (running.is_running) add(tid, running, last_);
    return std::move(slices_);
  }

 private:
  struct Running {
    bool is_running = false;
    std::optional<std::uint32_t> cpu;
    std::uint64_t since = 0;
  };

  void take(const PlacedRecord& placed) {
    if (placed.time.value_or(0) != 0) {  // what was there before has no time
      if (first_ == 0) first_ = *placed.time;
      last_ = std::max(last_, *placed.time);
    }
    const auto& record = placed.record;
    if (record.type == RecordType::switch_ || record.type == RecordType::switch_cpu_wide) {
      if (const auto change = perf::read_switch(record)) take_switch(record, *change);
    } else if (record.type == RecordType::fork) {
      if (const auto task = perf::read_task(record)) born_[task->tid] = task->time;
    } else if (record.type == RecordType::exit) {
      if (const auto task = perf::read_task(record)) take_exit(task->tid, task->time);
    }
  }

  void take_switch(const RawRecord& record, const perf_data::Switch& change) {
    const auto event = recording_.events().event_of_record(record);
    if (!event) return;
    const auto who = recording_.events().layout(*event).read_tail(record);
    if (!who.tid || *who.tid == 0 || !who.time) return;
    const auto [entry, is_new] = running_.try_emplace(*who.tid);
    Running& running = entry->second;
    if (!change.is_out) {
      running = {true, who.cpu, *who.time};
      return;
    }
    if (is_new) {
      const auto born = born_.find(*who.tid);
      running = {true, who.cpu, born == born_.end() ? first_ : born->second};
    }
    if (running.is_running && running.cpu == who.cpu) add(*who.tid, running, *who.time);
    running.is_running = false;
  }

  void take_exit(std::uint32_t tid, std::uint64_t time) {
    const auto entry = running_.find(tid);
    if (entry == running_.end()) return;
    if (entry->second.is_running) add(tid, entry->second, time);
    running_.erase(entry);  // the number may be given to another thread
    born_.erase(tid);
  }

  void add(std::uint32_t tid, const Running& running, std::uint64_t end) {
    if (end > running.since) slices_.push_back({tid, running.cpu, running.since, end});
  }

  const Recording& recording_;
  std::unordered_map<std::uint32_t, Running> running_;     // by tid
  std::unordered_map<std::uint32_t, std::uint64_t> born_;  // by tid: when it was forked
  std::vector<RunSlice> slices_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace

std::vector<RunSlice> read_schedule(const Recording& recording) {
  const auto& records = recording.summary().records;
  const bool has_switches = std::any_of(records.begin(), records.end(), [](const auto& entry) {
    return entry.first.starts_with("SWITCH") && entry.second != 0;
  });
  return has_switches ? ScheduleReader(recording).read() : std::vector<RunSlice>{};
}

}  // namespace loft::source
