#include "source/scheduler/read_table.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

namespace loft::source::scheduler {
namespace {

// The word at a place of a record; 0 behind its end.
std::uint64_t word(std::span<const std::byte> record, std::size_t index) {
  std::uint64_t value = 0;
  const std::size_t place = sizeof(perf_event_header) + index * sizeof value;
  if (place + sizeof value <= record.size())
    std::memcpy(&value, record.data() + place, sizeof value);
  return value;
}

TaskId task_in(std::uint64_t value) {
  TaskId task;
  std::memcpy(&task.pid, &value, 4);
  std::memcpy(&task.tid, reinterpret_cast<const char*>(&value) + 4, 4);
  return task;
}

std::uint32_t first_half(std::uint64_t value) {
  std::uint32_t half = 0;
  std::memcpy(&half, &value, sizeof half);
  return half;
}

constexpr std::size_t kTailWords = 4;  // task, time, CPU, identifier

Moment moment_at_end(std::span<const std::byte> record) {
  const std::size_t words = (record.size() - sizeof(perf_event_header)) / 8;
  if (words < kTailWords) return {};
  return {word(record, words - 3), first_half(word(record, words - 2))};
}

}  // namespace

std::optional<std::size_t> ReadTable::member(std::uint64_t id) const {
  const auto found = member_of_.find(id);
  if (found == member_of_.end() || found->second >= members_) return std::nullopt;
  return found->second;
}

std::uint64_t ReadTable::advance(std::uint64_t id, std::uint32_t tid, std::uint64_t value) {
  std::uint64_t& last = last_[{id, tid}];
  const std::uint64_t more = value - std::min(value, last);
  last = value;
  given_[id] += more;
  return more;
}

ReadTable::Times ReadTable::advance_times(std::uint64_t leader, std::uint32_t tid, Times so_far,
                                          std::uint64_t pending) {
  ThreadTimes& times = times_[tid];
  times.enabled = std::max(times.enabled, so_far.enabled_ns);
  times.running[leader] = so_far.running_ns;
  std::uint64_t running = 0;
  for (const auto& [id, ns] : times.running) running += ns;
  const std::uint64_t enabled = std::max(running, times.enabled - std::min(times.enabled, pending));
  const Times more{enabled - std::min(enabled, times.given_enabled),
                   running - std::min(running, times.given_running)};
  times.given_enabled += more.enabled_ns;
  times.given_running += more.running_ns;
  given_enabled_ += more.enabled_ns;
  given_running_ += more.running_ns;
  return more;
}

// Its number may be used again.
void ReadTable::forget(std::uint32_t tid) {
  times_.erase(tid);
  for (const auto& [id, place] : member_of_) last_.erase({id, tid});
}

void ReadTable::take_sample(std::span<const std::byte> record, bool has_counts,
                            TaskEvents& events) {
  ++records_;
  perf_event_header header;
  std::memcpy(&header, record.data(), sizeof header);
  Slice slice;
  slice.ip = word(record, 1);
  slice.ip_is_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  slice.task = task_in(word(record, 2));
  slice.end = {word(record, 3), first_half(word(record, 4))};
  last_moment_ = slice.end;
  if (!has_counts) {
    slice.run_ns = word(record, 5);
    events.take(slice);
    return;
  }
  std::vector<std::uint64_t> values(members_);
  const std::uint64_t count = std::min<std::uint64_t>(word(record, 6), members_);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = word(record, 9 + 2 * i + 1);
    if (const auto place = member(id))
      values[*place] = advance(id, slice.task.tid, word(record, 9 + 2 * i));
  }
  const Times times =
      advance_times(word(record, 0), slice.task.tid, {word(record, 7), word(record, 8)},
                    slice_ns_ * (leaders_ - std::min<std::size_t>(leaders_, 1)));
  const SetTime sets[] = {{}, {times.enabled_ns, times.running_ns}};
  slice.sets = sets;
  slice.run_ns = values.front();
  slice.counts = std::span<const std::uint64_t>(values).subspan(1);
  events.take(slice);
}

// pid and tid, then values; one record of each event and CPU, when a thread has ended. The events
// leave their group one after the other, and each record has all that are still in it.
void ReadTable::take_read(std::span<const std::byte> record, bool has_counts) {
  const TaskId task = task_in(word(record, 0));
  Ending& ending = endings_[task.tid];
  ending.task = task;
  ending.rest.resize(members_);
  ++ending.reads;
  const auto add = [&](std::uint64_t id, std::uint64_t value) {
    if (const auto place = member(id)) ending.rest[*place] += advance(id, task.tid, value);
  };
  if (!has_counts) {  // value, enabled, running, id
    add(word(record, 4), word(record, 1));
    return;
  }
  // number, enabled, running, and of each value and id, the leader first
  const Times times =
      advance_times(word(record, 5), task.tid, {word(record, 2), word(record, 3)}, 0);
  ending.enabled_ns += times.enabled_ns;
  ending.running_ns += times.running_ns;
  const std::uint64_t count = std::min<std::uint64_t>(word(record, 1), members_);
  for (std::size_t i = 0; i < count; ++i) add(word(record, 5 + 2 * i), word(record, 4 + 2 * i));
}

void ReadTable::take_other(std::span<const std::byte> record, TaskEvents& events) {
  perf_event_header header;
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type == PERF_RECORD_LOST) {
    lost_ += word(record, 1);
    events.take_lost(word(record, 1));
    return;
  }
  if (tells_of_tasks(header.type)) ++records_;
  if (header.type == PERF_RECORD_FORK) ++births_;
  if (header.type == PERF_RECORD_EXIT) {
    // pid and parent's pid, tid and parent's tid
    const TaskId task{first_half(word(record, 0)), first_half(word(record, 1))};
    Ending& ending = endings_[task.tid];
    ending.task = task;
    ending.at = moment_at_end(record);
    ending.has_ended = true;
    ending.rest.resize(members_);
    last_moment_ = ending.at;
  }
  events.take_raw(record);
}

void ReadTable::write(const Ending& ending, TaskEvents& events) {
  if (std::ranges::all_of(ending.rest, [](std::uint64_t value) { return value == 0; })) return;
  Slice slice;
  slice.task = ending.task;
  slice.end = ending.at;
  slice.run_ns = ending.rest.front();
  const SetTime sets[] = {{}, {ending.enabled_ns, ending.running_ns}};
  slice.sets = sets;
  slice.counts = std::span<const std::uint64_t>(ending.rest).subspan(1);
  ++records_;
  events.take(slice);
}

void ReadTable::hand_over(TaskEvents& events) {
  std::erase_if(endings_, [&](const auto& entry) {
    const Ending& ending = entry.second;
    if (!ending.has_ended || ending.reads < member_of_.size()) return false;
    write(ending, events);
    ++endings_written_;
    forget(entry.first);
    return true;
  });
}

std::string ReadTable::why_rest_is_missing() const {
  if (!first_) return "threads that were there before cannot be told apart at the end";
  if (lost_ > 0) return fmt::format("{} records were lost", lost_);
  if (endings_written_ < births_)
    return fmt::format(
        "{} threads left no last values, or still run, so that their own last slices are missing, "
        "too",
        births_ - endings_written_);
  return {};
}

void ReadTable::finish(TaskEvents& events) {
  for (const auto& [tid, ending] : endings_)
    if (ending.reads > 0) write(ending, events);
  if (!why_rest_is_missing().empty()) return;
  Ending rest;
  rest.task = *first_;
  rest.at = last_moment_;
  rest.rest.resize(members_);
  for (const auto& [id, total] : totals_)
    if (const auto place = member(id)) rest.rest[*place] += total - std::min(total, given_[id]);
  rest.enabled_ns = total_enabled_ - std::min(total_enabled_, given_enabled_);
  rest.running_ns = total_running_ - std::min(total_running_, given_running_);
  write(rest, events);
}

}  // namespace loft::source::scheduler
