#include "source/file/schedule.hpp"

#include <algorithm>

namespace loft::source {

namespace perf = format::perf;

std::optional<TaskSwitch> ScheduleReader::take(const PlacedRecord& placed) {
  const std::uint64_t time = placed.time.value_or(0);
  if (time != 0) {  // what was there before the recording has no time
    if (first_ == 0) first_ = time;
    last_ = std::max(last_, time);
  }
  const RawRecord& record = placed.record;
  switch (record.type) {
    case RecordType::switch_:
    case RecordType::switch_cpu_wide:
      break;
    case RecordType::comm:
      take_exec(record, time);
      return std::nullopt;
    case RecordType::fork:
      if (const auto task = perf::read_task(record)) take_fork(task->tid, task->time);
      return std::nullopt;
    case RecordType::exit:
      if (const auto task = perf::read_task(record)) threads_[task->tid].exited = task->time;
      return std::nullopt;
    default:
      return std::nullopt;
  }
  const auto change = perf::read_switch(record);
  const auto event = recording_.events().event_of_record(record);
  if (!change || !event) return std::nullopt;
  const auto who = recording_.events().layout(*event).read_tail(record);
  if (!who.tid || *who.tid == 0 || !who.time) return std::nullopt;
  const TaskSwitch found{who.pid.value_or(0), *who.tid,       who.cpu,
                         *who.time,           change->is_out, change->is_preempted};
  take_switch(found);
  return found;
}

// The number may have belonged to a thread that has exited.
void ScheduleReader::take_fork(std::uint32_t tid, std::uint64_t time) {
  Thread& thread = threads_[tid];
  if (thread.is_running && thread.exited) end_run(tid, thread, *thread.exited);
  thread = {};
  thread.born = time;
}

// A program is on a CPU when it execs. Nothing reports that it was switched to.
void ScheduleReader::take_exec(const RawRecord& record, std::uint64_t time) {
  const auto comm = perf::read_comm(record);
  const auto event = recording_.events().event_of_record(record);
  if (!comm || !comm->is_exec || !event || time == 0) return;
  Thread& thread = threads_[comm->tid];
  if (thread.is_running) return;
  thread.is_running = true;
  thread.since = time;
  thread.cpu = recording_.events().layout(*event).read_tail(record).cpu;
  take_cpu(comm->tid, thread.cpu, time);
}

// Whoever had the CPU has left it, whether that was reported or not.
void ScheduleReader::take_cpu(std::uint32_t tid, std::optional<std::uint32_t> cpu,
                              std::uint64_t time) {
  if (!cpu) return;
  const auto [other, is_first] = running_on_.try_emplace(*cpu, tid);
  if (is_first || other->second == tid) return;
  Thread& before = threads_[other->second];
  if (before.is_running && before.cpu == cpu)
    end_run(other->second, before, before.exited.value_or(time));
  other->second = tid;
}

void ScheduleReader::take_switch(const TaskSwitch& change) {
  has_switches_ = true;
  Thread& thread = threads_[change.tid];
  if (!change.is_out) {
    if (thread.is_running && thread.exited) end_run(change.tid, thread, *thread.exited);
    thread = {};
    thread.is_running = true;
    thread.cpu = change.cpu;
    thread.since = change.time;
    take_cpu(change.tid, change.cpu, change.time);
  } else if (thread.is_running) {
    if (thread.cpu == change.cpu) end_run(change.tid, thread, change.time, change.is_preempted);
  } else if (!thread.was_switched && !thread.exited) {
    thread.cpu = change.cpu;
    thread.since = unseen_start(thread, change);
    end_run(change.tid, thread, change.time, change.is_preempted);
  }
  if (change.is_out) thread.is_running = false;
  thread.was_switched = true;
  if (change.cpu) last_switch_on_[*change.cpu] = change.time;
}

std::uint64_t ScheduleReader::unseen_start(const Thread& thread, const TaskSwitch& change) const {
  const std::uint64_t start = thread.born.value_or(first_);
  if (!change.cpu) return start;
  const auto other = last_switch_on_.find(*change.cpu);
  return other == last_switch_on_.end() ? start : std::max(start, other->second);
}

void ScheduleReader::end_run(std::uint32_t tid, Thread& thread, std::uint64_t time,
                             bool was_preempted) {
  thread.is_running = false;
  if (time > thread.since) on_run_({tid, thread.cpu, thread.since, time, was_preempted});
}

void ScheduleReader::finish() {
  if (!has_switches_) return;
  for (auto& [tid, thread] : threads_)
    if (thread.is_running) end_run(tid, thread, thread.exited.value_or(last_));
}

std::vector<RunSlice> read_schedule(const Recording& recording) {
  const auto& records = recording.summary().records;
  const bool has_switches = std::any_of(records.begin(), records.end(), [](const auto& entry) {
    return entry.first.starts_with("SWITCH") && entry.second != 0;
  });
  std::vector<RunSlice> slices;
  if (!has_switches) return slices;
  ScheduleReader reader(recording, [&](const RunSlice& slice) { slices.push_back(slice); });
  recording.in_order([&](const PlacedRecord& placed) {
    (void)reader.take(placed);
    return true;
  });
  reader.finish();
  std::ranges::stable_sort(slices, {}, &RunSlice::end);
  return slices;
}

}  // namespace loft::source
