// From the probe's records to what happened to tasks. For the file that has the probe alone: nobody
// else needs to know how it talks.
#pragma once

#include <cstring>
#include <span>

#include <probes/scheduler/wire.h>
#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

template <class Record>
Record copy_record(std::span<const std::byte> bytes) {
  Record record{};
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  return record;
}

inline void take_slice(const loft_slice& record, const EventSets& events, TaskEvents& sink) {
  std::uint64_t counts[LOFT_MAX_COUNTERS];
  std::memcpy(counts, record.counts, sizeof counts);
  SetTime times[LOFT_MAX_SETS];
  for (std::size_t s = 0; s < LOFT_MAX_SETS; ++s)
    times[s] = {record.run_ns, record.running_ns[s], record.work[s]};
  Slice slice;
  slice.end = {record.head.time, record.head.cpu};
  slice.task = {record.head.pid, record.head.tid};
  slice.ip = record.ip;
  slice.ip_is_kernel = record.ip_is_kernel != 0;
  slice.run_ns = record.run_ns;
  slice.wait_ns = record.wait_ns;
  slice.switches = record.switches;
  slice.migrations = record.migrations;
  slice.counts = std::span<const std::uint64_t>(counts).first(events.events.size());
  slice.sets = std::span<const SetTime>(times).first(events.sets.size());
  sink.take(slice);
}

inline std::optional<Waker> waker_in(const loft_switch& record) {
  if ((record.flags & LOFT_NEXT_WAS_WOKEN) == 0) return std::nullopt;
  return Waker{{record.waker_pid, record.waker_tid}, (record.flags & LOFT_WOKEN_BY_INTERRUPT) != 0};
}

inline void take_probe_record(std::span<const std::byte> bytes, const EventSets& events,
                              TaskEvents& sink) {
  if (bytes.size() < sizeof(loft_head)) return;
  const auto head = copy_record<loft_head>(bytes);
  const Moment moment{head.time, head.cpu};
  const TaskId task{head.pid, head.tid};
  switch (head.kind) {
    case LOFT_SWITCH: {
      const auto record = copy_record<loft_switch>(bytes);
      sink.take(Switch{moment,
                       task,
                       {record.next_pid, record.next_tid},
                       (record.flags & LOFT_PREV_IS_OURS) != 0,
                       (record.flags & LOFT_NEXT_IS_OURS) != 0,
                       (record.flags & LOFT_PREV_CAN_RUN) != 0,
                       waker_in(record)});
      break;
    }
    case LOFT_SLICE:
      take_slice(copy_record<loft_slice>(bytes), events, sink);
      break;
    case LOFT_FORK: {
      const auto record = copy_record<loft_fork>(bytes);
      sink.take(Fork{moment, task, {record.parent_pid, record.parent_tid}});
      break;
    }
    case LOFT_EXIT:
      sink.take(Exit{moment, task});
      break;
    case LOFT_MIGRATE:
      sink.take(Migration{moment, task, copy_record<loft_migrate>(bytes).from});
      break;
    default:
      break;
  }
}

}  // namespace loft::source::scheduler
