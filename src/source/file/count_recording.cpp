#include "source/file/count_recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "event/virtual_names.hpp"
#include "format/perf/header.hpp"
#include "format/perf/sample.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;
using sample::Count;
using sample::Origin;

constexpr std::uint32_t kSoftware = 1;  // PERF_TYPE_SOFTWARE
constexpr std::uint64_t kDummy = 9;     // PERF_COUNT_SW_DUMMY: counts nothing, carries side records

// task-clock and cpu-clock
bool is_clock(const perf_data::EventAttr& attr) {
  return attr.type == kSoftware && attr.config <= 1;
}

// The kernel has no type for the virtual PMU's events: in a file their names tell them.
event::Identity identity_of(const perf_data::EventAttr& attr, const std::string& name,
                            bool is_virtual) {
  event::Identity id;
  id.encoding.type = is_virtual ? event::kTypeVirtual : attr.type;
  id.encoding.config = attr.config;
  id.modifiers = {!attr.exclude_user, !attr.exclude_kernel, !attr.exclude_hv, attr.precise_ip};
  id.meaning = event::meaning_of(id.encoding, name);
  return id;
}

// One counter of the kernel. Counters that are inherited have one value for each thread and CPU;
// all others are told apart by their id alone.
struct CounterKey {
  std::uint64_t id = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;

  auto operator<=>(const CounterKey&) const = default;
};

struct Counter {
  std::uint32_t event = 0;
  std::uint64_t value = 0;
  std::uint64_t enabled = 0;
  std::uint64_t running = 0;
};

Nanoseconds claimed_time(std::uint64_t claimed) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 4);
  return Nanoseconds(static_cast<Nanoseconds::rep>(std::min(claimed, kMost)));
}

Count count_of(const Counter& counter) {
  return Count::of_reading(counter.value, claimed_time(counter.enabled),
                           claimed_time(counter.running));
}

struct Periods {
  std::uint64_t samples = 0;
  std::uint64_t sum = 0;
  bool overflowed = false;
};

class RecordingCounter {
 public:
  explicit RecordingCounter(const Recording& recording)
      : recording_(recording), events_(recording.events()), periods_(events_.size()) {}

  void take(const PlacedRecord& placed) {
    const RawRecord& record = placed.record;
    if (record.type == RecordType::sample) return take_sample(record);
    if (record.type == RecordType::read) return take_read(record);
    if (record.type == RecordType::stat) return take_stat(record);
    if (record.type == RecordType::stat_round) return take_round(record);
  }

  sample::RunCounts result();

 private:
  void take_sample(const RawRecord& record);
  void take_read(const RawRecord& record);
  void take_stat(const RawRecord& record);
  void take_round(const RawRecord& record);
  void take_reading(const perf_data::CounterReading& reading, std::optional<std::uint64_t> own_id,
                    std::optional<std::uint32_t> tid, std::optional<std::uint32_t> cpu);
  [[nodiscard]] std::vector<Count> totals(const std::map<CounterKey, Counter>& before) const;
  [[nodiscard]] Count count_of_event(std::uint32_t event, const std::vector<Count>& read) const;
  [[nodiscard]] Count estimate_by_periods(std::uint32_t event) const;
  void set_times(sample::RunCounts& run) const;

  const Recording& recording_;
  const perf::EventTable& events_;
  std::map<CounterKey, Counter> counters_;
  std::map<CounterKey, Counter> last_round_;
  std::vector<Periods> periods_;
  std::vector<sample::IntervalCounts> intervals_;
  Nanoseconds wall_{};
  bool is_stat_ = false;
};

void RecordingCounter::take_sample(const RawRecord& record) {
  const auto event = events_.event_of_sample(record);
  if (!event) return;
  const perf::SampleLayout& layout = events_.layout(*event);
  perf::BriefSample brief;
  if (!perf::read_brief(record, layout, brief)) return;
  Periods& periods = periods_[*event];
  ++periods.samples;
  periods.overflowed |= __builtin_add_overflow(periods.sum, brief.period, &periods.sum);
  if (!layout.has(perf::kRead)) return;
  const auto sample = perf::read_sample(record, layout);
  if (sample && sample->reading)
    take_reading(*sample->reading, sample->who.id, sample->who.tid, sample->who.cpu);
}

// A thread's last reading, given at its end. Without readings in the samples it says nothing of the
// threads that were still there.
void RecordingCounter::take_read(const RawRecord& record) {
  const auto event = events_.event_of_record(record);
  if (!event || !events_.layout(*event).has(perf::kRead)) return;
  const auto read = perf::read_read(record, events_.layout(*event).attr());
  if (!read) return;
  const auto who = events_.layout(*event).read_tail(record);
  take_reading(read->reading, who.id, read->tid, who.cpu);
}

void RecordingCounter::take_reading(const perf_data::CounterReading& reading,
                                    std::optional<std::uint64_t> own_id,
                                    std::optional<std::uint32_t> tid,
                                    std::optional<std::uint32_t> cpu) {
  for (const auto& value : reading.values) {
    const auto id = value.id ? value.id : own_id;
    const auto event = id ? events_.event_of_id(*id) : std::nullopt;
    if (!event) continue;
    CounterKey key{*id, 0, 0};
    if (events_.layout(*event).attr().inherit) key = {*id, tid.value_or(0), cpu.value_or(0)};
    Counter& counter = counters_[key];
    counter.event = *event;
    // Readings only grow: the largest is the last, in whatever order they stand in the file.
    counter.value = std::max(counter.value, value.value);
    counter.enabled = std::max(counter.enabled, reading.time_enabled.value_or(0));
    counter.running = std::max(counter.running, reading.time_running.value_or(0));
  }
}

void RecordingCounter::take_stat(const RawRecord& record) {
  const auto stat = perf::read_stat(record);
  const auto event = stat ? events_.event_of_id(stat->id) : std::nullopt;
  if (!event) return;
  is_stat_ = true;
  counters_[{stat->id, stat->thread, stat->cpu}] = {*event, stat->value, stat->enabled,
                                                    stat->running};
}

void RecordingCounter::take_round(const RawRecord& record) {
  constexpr std::uint64_t kInterval = 0;
  const auto round = perf::read_stat_round(record);
  if (!round) return;
  const Nanoseconds end = claimed_time(round->time);
  if (round->kind == kInterval) {
    intervals_.push_back({wall_, end, totals(last_round_)});
    last_round_ = counters_;
  }
  wall_ = std::max(wall_, end);
}

// By event: what all its counters read, less what they had read before.
std::vector<Count> RecordingCounter::totals(const std::map<CounterKey, Counter>& before) const {
  std::vector<Count> sums(events_.size(), Count::missing("the recording has no count of it"));
  std::vector<bool> seen(events_.size());
  for (const auto& [key, counter] : counters_) {
    Counter grown = counter;
    if (const auto earlier = before.find(key); earlier != before.end()) {
      if (counter.value < earlier->second.value || counter.enabled < earlier->second.enabled ||
          counter.running < earlier->second.running)
        continue;  // another counter under a used id: nothing is known of the difference
      grown.value -= earlier->second.value;
      grown.enabled -= earlier->second.enabled;
      grown.running -= earlier->second.running;
    }
    // A counter that was never switched on saw nothing and says nothing.
    if (is_stat_ && grown.enabled == 0 && grown.value == 0) continue;
    if (seen[counter.event])
      sums[counter.event] += count_of(grown);
    else
      sums[counter.event] = count_of(grown);
    seen[counter.event] = true;
  }
  return sums;
}

Count RecordingCounter::estimate_by_periods(std::uint32_t event) const {
  const auto& attr = events_.layout(event).attr();
  const Periods& periods = periods_[event];
  const bool has_period = (attr.sample_type & perf::kPeriod) != 0 || !attr.freq;
  if (!has_period) return Count::missing("its samples do not say how much they stand for");
  if (periods.overflowed) return Count::missing("its periods add up to more than a count can hold");
  const bool every_one = !attr.freq && attr.sample_period == 1;
  if (periods.samples == 0 && !every_one)
    return Count::missing("the recording has no sample of it: too few to be known");
  Count count = Count::exact(periods.sum);
  if (!every_one || recording_.summary().lost > 0) count.origin = Origin::scaled;
  return count;
}

Count RecordingCounter::count_of_event(std::uint32_t event, const std::vector<Count>& read) const {
  if (is_stat_) return read[event];
  const bool was_read =
      std::ranges::any_of(counters_, [&](const auto& each) { return each.second.event == event; });
  if (!was_read) return estimate_by_periods(event);
  Count count = read[event];
  // What came after a counter's last sample is not in it.
  if (count.is_available()) count.origin = Origin::scaled;
  return count;
}

void RecordingCounter::set_times(sample::RunCounts& run) const {
  run.wall = wall_;
  if (is_stat_ && wall_.count() > 0) return;
  run.wall_origin = Origin::missing;
  if (run.has_engine_time()) return;
  const auto range = recording_.time_range();
  if (!range || range->second <= range->first) return;
  run.wall = claimed_time(range->second - range->first);
  run.wall_origin = Origin::scaled;
}

sample::RunCounts RecordingCounter::result() {
  sample::RunCounts run;
  const auto& summary = recording_.summary();
  run.source = sample::Source::file;
  run.target = summary.path;
  run.command = summary.metadata.command_line;
  const bool is_virtual_run = std::ranges::any_of(summary.metadata.events, [](const auto& event) {
    return event.name.starts_with(event::kVirtualPrefix);
  });
  if (is_virtual_run) run.source = sample::Source::virtual_pmu;
  set_times(run);
  const auto read = totals({});
  std::vector<std::uint32_t> kept;
  for (std::uint32_t event = 0; event < events_.size(); ++event) {
    const auto& attr = events_.layout(event).attr();
    const auto& described = summary.metadata.events[event];
    // The virtual PMU has no events of the kernel's: what it counted is exact, and in the samples.
    const bool is_virtual = described.name.starts_with(event::kVirtualPrefix);
    if (attr.type == kSoftware && attr.config == kDummy && !is_virtual) continue;
    sample::CountedEvent counted;
    counted.name = described.name;
    counted.origin = "recording";
    counted.unit = described.unit.empty() && is_clock(attr) ? "ns" : described.unit;
    counted.scale = described.scale;
    counted.id = identity_of(attr, described.name, is_virtual);
    counted.total = is_virtual && !periods_[event].overflowed ? Count::exact(periods_[event].sum)
                                                              : count_of_event(event, read);
    run.events.push_back(std::move(counted));
    kept.push_back(event);
  }
  for (sample::IntervalCounts& interval : intervals_) {
    std::vector<Count> counts;
    for (const std::uint32_t event : kept) counts.push_back(std::move(interval.counts[event]));
    run.intervals.push_back({interval.start, interval.end, std::move(counts)});
  }
  std::vector<std::string> estimated;
  for (const sample::CountedEvent& event : run.events)
    if (event.total.origin == Origin::scaled) estimated.push_back(event.name);
  if (!is_stat_ && !estimated.empty())
    run.notes.push_back(estimated.size() == run.events.size()
                            ? "counts are estimated from samples, up to the last one of each event"
                            : "estimated from samples, up to the last one of each event: " +
                                  join(estimated, ", "));
  if (summary.lost > 0)
    run.notes.push_back(fmt::format("the recorder lost {} samples or records", summary.lost));
  return run;
}

}  // namespace

Result<bool> is_recording(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failure_of_errno(errno, "open '" + path + "'");
  if (S_ISDIR(status.st_mode)) return true;
  if (!S_ISREG(status.st_mode)) return false;  // what is read from a pipe is gone
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return failure_of_errno(errno, "open '" + path + "'");
  std::array<std::byte, format::perf::kMagicSize> magic{};
  const auto got = ::read(file.get(), magic.data(), magic.size());
  return format::perf::has_magic(
      std::span(magic).first(got < 0 ? 0 : static_cast<std::size_t>(got)));
}

sample::RunCounts count_recording(const Recording& recording) {
  RecordingCounter counter(recording);
  recording.in_file_order([&](const PlacedRecord& placed) {
    counter.take(placed);
    return true;
  });
  return counter.result();
}

}  // namespace loft::source
