// The events of a recording: their attributes, ids and names, also of those that come while it is
// written.
#include <algorithm>
#include <cstring>
#include <utility>

#include "source/perf_events/attr.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {
namespace {

namespace schema = event::recording;
using format::ByteBuilder;
using format::perf::RecordType;

// Of an event_update record: what it tells.
constexpr std::uint64_t kIsUnit = 0;
constexpr std::uint64_t kIsName = 2;
constexpr std::uint64_t kTailType =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
constexpr std::uint64_t kSampleType = kTailType | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
constexpr std::uint64_t kReadFormat = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                      PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                                      PERF_FORMAT_GROUP;

perf_event_attr software(std::uint64_t config) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  return attr;
}

void finish_attr(perf_event_attr& attr, std::uint64_t sample_type) {
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.disabled = 0;
}

std::vector<std::byte> bytes_of(const perf_event_attr& attr) {
  std::vector<std::byte> bytes(sizeof attr);
  std::memcpy(bytes.data(), &attr, sizeof attr);
  return bytes;
}

}  // namespace

format::perf::WrittenEvent RecordingFile::describe(std::size_t number, std::string name,
                                                   perf_event_attr attr,
                                                   std::uint64_t sample_type) const {
  finish_attr(attr, sample_type);
  format::perf::WrittenEvent event{bytes_of(attr), {}, std::move(name)};
  for (std::uint32_t cpu = 0; cpu < plan_.cpus; ++cpu) event.ids.push_back(id_of(number, cpu));
  return event;
}

format::perf::WrittenEvent RecordingFile::describe_counter(std::size_t counter) const {
  const event::Event& event = plan_.counters.events[counter];
  perf_event_attr attr = perf_events::make_attr(event, {});
  attr.read_format = kReadFormat;
  return describe(plan_.basics + counter, event.name, attr, kSampleType | PERF_SAMPLE_READ);
}

std::vector<format::perf::WrittenEvent> RecordingFile::describe_events() const {
  std::vector<format::perf::WrittenEvent> events;
  std::size_t number = 0;
  const auto add = [&](std::string name, perf_event_attr attr, std::uint64_t sample_type) {
    events.push_back(describe(number++, std::move(name), attr, sample_type));
  };
  const std::uint64_t configs[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_DUMMY,
                                   PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
  for (std::size_t i = 0; i < plan_.basics; ++i) {
    perf_event_attr attr = software(configs[i]);
    attr.read_format = kReadFormat;
    attr.sample_period = i == 0 ? plan_.slice_ns : 0;
    attr.context_switch = i == 0;
    add(std::string(kSliceEvents[i]), attr, kSampleType | PERF_SAMPLE_READ);
  }
  for (std::size_t i = 0; i < plan_.counters.events.size(); ++i, ++number)
    if (!plan_.counters.events[i].name.empty()) events.push_back(describe_counter(i));
  for (std::size_t s = 0; s < sums_.work_events().size(); ++s) {
    if (sums_.work_events()[s] == 0) continue;
    perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
    attr.read_format = kReadFormat;
    add(std::string(schema::kSetWorkPrefix) + std::to_string(s), attr,
        kSampleType | PERF_SAMPLE_READ);
  }
  if (plan_.migrations) {
    perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
    attr.sample_period = 1;
    add(std::string(schema::kMigration), attr, kSampleType);
  }
  for (const std::string& meter : plan_.meters) {
    perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
    attr.sample_period = 1;
    add(meter, attr, kSampleType);
  }
  for (const KernelEvent& event : plan_.kernel_events)
    events.push_back({bytes_of(event.attr), event.ids, event.name});
  return events;
}

void RecordingFile::put_update(std::uint64_t kind, std::uint64_t id, const std::string& text) {
  ByteBuilder body;
  body.u64(kind).u64(id).text_padded(text, 8);
  const auto record = format::perf::make_record(RecordType::event_update, 0, body.view());
  if (record) buffer_.insert(buffer_.end(), record->begin(), record->end());
}

// The names once more, as records: a file that was never finished has no features.
void RecordingFile::name_events() {
  const auto events = describe_events();
  for (std::size_t i = 0; i < events.size(); ++i)
    if (!events[i].ids.empty()) put_update(kIsName, events[i].ids.front(), events[i].name);
  if (plan_.basics > 1) put_update(kIsUnit, id_of(1, 0), "ns");
  for (std::size_t i = 0; i < plan_.meters.size(); ++i)
    put_update(kIsUnit, id_of(first_meter_ + i, 0), "uJ");
}

// As a record among the others, as events of a stream are.
Result<std::size_t> RecordingFile::add_counter(const event::Event& event) {
  auto& counters = plan_.counters.events;
  const auto free = std::ranges::find(counters, std::string(), &event::Event::name);
  if (free == counters.end())
    return failure(ErrorKind::limit, "add '" + event.name + "' to the recording",
                   "it has no room for more events");
  const auto place = static_cast<std::size_t>(free - counters.begin());
  const event::Event before = std::exchange(*free, event);
  const auto added = describe_counter(place);
  ByteBuilder body;
  body.bytes(added.attr);
  for (const std::uint64_t id : added.ids) body.u64(id);
  const auto record = format::perf::make_record(RecordType::header_attr, 0, body.view());
  if (!record) {
    *free = before;
    return Failure(record.error());
  }
  buffer_.insert(buffer_.end(), record->begin(), record->end());
  put_update(kIsName, added.ids.front(), added.name);
  return place;
}

}  // namespace loft::source::scheduler
