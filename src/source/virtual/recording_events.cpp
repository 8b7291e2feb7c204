#include "source/virtual/recording_events.hpp"

#include <cstring>

#include "event/virtual_names.hpp"

namespace loft::source::virtual_pmu {
namespace {

using format::ByteBuilder;
using scheduler::Moment;
using scheduler::TaskId;

// Above those that a scheduler's recording gives.
constexpr std::uint64_t kFirstId = std::uint64_t{1} << 42;
constexpr std::uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

std::vector<std::byte> whole_record(std::uint32_t type, std::uint16_t misc,
                                    const ByteBuilder& body) {
  const auto size = static_cast<std::uint16_t>(sizeof(perf_event_header) + body.size());
  ByteBuilder record;
  record.u32(type).u16(misc).u16(size).bytes(body.view());
  return {record.view().begin(), record.view().end()};
}

// Who and when, behind every record that is no sample.
void add_tail(ByteBuilder& body, TaskId task, std::uint64_t time) {
  body.u32(task.pid).u32(task.tid).u64(time).u32(0).u32(0).u64(kFirstId);
}

}  // namespace

std::string full_name(const event::Event& event) {
  return event.name.starts_with(event::kVirtualPrefix)
             ? event.name
             : std::string(event::kVirtualPrefix) + event.name;
}

scheduler::KernelEvent describe_event(const event::Event& event, std::size_t index) {
  scheduler::KernelEvent described;
  described.name = full_name(event);
  described.ids = {kFirstId + index};
  perf_event_attr& attr = described.attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_period = 1;
  attr.sample_type = kSampleType;
  attr.sample_id_all = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return described;
}

std::vector<std::byte> count_record(std::size_t index, TaskId task, Moment at,
                                    std::uint64_t address, std::uint64_t count) {
  ByteBuilder body;
  body.u64(kFirstId + index).u64(address).u32(task.pid).u32(task.tid).u64(at.time);
  body.u32(at.cpu).u32(0).u64(count);
  return whole_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
}

std::vector<std::byte> comm_record(TaskId task, std::uint64_t time, const std::string& name,
                                   bool is_exec) {
  ByteBuilder body;
  body.u32(task.pid).u32(task.tid).text_padded(name, 8);
  add_tail(body, task, time);
  return whole_record(PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0, body);
}

std::vector<std::byte> map_record(const engine::MappingEntry& mapping, std::uint64_t time) {
  ByteBuilder body;
  const std::string path = mapping.path[0] == '\0' ? "//anon" : mapping.path;
  body.u32(mapping.process).u32(mapping.process);
  body.u64(mapping.start).u64(mapping.end - mapping.start).u64(mapping.file_offset);
  body.text_padded(path, 8);
  add_tail(body, {mapping.process, mapping.process}, time);
  return whole_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, body);
}

}  // namespace loft::source::virtual_pmu
