#include "source/scheduler/off_cpu.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/recording_schema.hpp"

namespace loft::source::scheduler {
namespace {

// Of a sample with identifier, address, task, time, CPU and period, in this order.
constexpr std::size_t kIdentifierAt = 8;
constexpr std::size_t kTaskAt = 24;
constexpr std::size_t kTimeAt = 32;
constexpr std::size_t kPeriodAt = 48;
constexpr std::size_t kLeastSample = 56;
// Of the kernel's own record of a switch: a header and the tail with task, time, CPU, identifier.
constexpr std::size_t kSwitchSize = 40;
// Of birth and end: process, its parent, thread, its parent.
constexpr std::size_t kTaskRecordSize = 24;

// So many pairs of tasks tell who woke whom; of more, the rest is not kept.
constexpr std::size_t kMostPairs = 1 << 16;

// Interrupts are no task; no thread has this number.
constexpr TaskId kInterrupt{0xFFFFFFFF, 0xFFFFFFFF};

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TaskId task_at(std::span<const std::byte> bytes, std::size_t at) {
  return {read_at<std::uint32_t>(bytes, at), read_at<std::uint32_t>(bytes, at + 4)};
}

std::string name_of(const TaskId& task) {
  if (task.tid == 0) return {};
  const auto text = read_file(fmt::format("/proc/{}/task/{}/comm", task.pid, task.tid), 64);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace

perf_events::SampledEvent blocking_event() {
  event::Event event;
  event.name = std::string(event::recording::kOffCpuTime);
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES};
  return {.candidates = {event}, .period = 1, .needs_kernel = true, .has_period_field = true};
}

OffCpuTimes::Task& OffCpuTimes::task(const TaskId& id) {
  Task& task = tasks_[id.tid];
  task.id = id;
  return task;
}

void OffCpuTimes::take(const Switch& change) {
  if (change.out_is_ours)
    note(change.out, {change.at.time, change.out_can_run ? Kind::preempted : Kind::blocked});
  if (change.in_is_ours) note(change.in, {change.at.time, Kind::came, change.waker});
  behind_->take(change);
}

void OffCpuTimes::take(const Fork& fork) {
  task(fork.child).has_ended = false;
  behind_->take(fork);
}

void OffCpuTimes::take(const Exit& exit) {
  task(exit.task).has_ended = true;
  behind_->take(exit);
}

void OffCpuTimes::take_raw(std::span<const std::byte> record) {
  const auto header = read_at<perf_event_header>(record, 0);
  if (header.type == PERF_RECORD_SAMPLE && record.size() >= kLeastSample &&
      ids_.contains(read_at<std::uint64_t>(record, kIdentifierAt))) {
    hold(record);
    return;
  }
  if (header.type == PERF_RECORD_SWITCH && record.size() >= kSwitchSize) {
    const bool is_out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    const bool can_run = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    note(task_at(record, 8), {read_at<std::uint64_t>(record, 16), !is_out   ? Kind::came
                                                                  : can_run ? Kind::preempted
                                                                            : Kind::blocked});
  }
  const bool is_birth = header.type == PERF_RECORD_FORK;
  if ((is_birth || header.type == PERF_RECORD_EXIT) && record.size() >= kTaskRecordSize)
    task({read_at<std::uint32_t>(record, 8), read_at<std::uint32_t>(record, 16)}).has_ended =
        !is_birth;
  behind_->take_raw(record);
}

void OffCpuTimes::hold(std::span<const std::byte> record) {
  Held held{read_at<std::uint64_t>(record, kTimeAt), {record.begin(), record.end()}};
  task(task_at(record, kTaskAt)).held.push_back(std::move(held));
}

void OffCpuTimes::write_finished() {
  for (auto at = tasks_.begin(); at != tasks_.end();) {
    write_finished(at->second);
    const bool is_done = at->second.has_ended && at->second.held.empty();
    at = is_done ? tasks_.erase(at) : std::next(at);
  }
}

// Rings of several CPUs are drained one after the other: marks come in no order.
void OffCpuTimes::write_finished(Task& task) {
  std::ranges::stable_sort(task.marks, {}, &Mark::time);
  std::ranges::stable_sort(task.held, {}, &Held::time);
  Mark out;  // its last switch from a CPU; of kind `came` while it has one
  std::size_t used = 0;
  for (std::size_t i = 0; i < task.marks.size(); ++i) {
    const Mark mark = task.marks[i];
    if (mark.kind != Kind::came) {
      out = mark;
      continue;
    }
    if (out.kind == Kind::blocked) {
      end_block(task, out.time, mark);
      note_waker(task, mark.waker.value_or(Waker{}), mark.time - out.time);
    }
    std::erase_if(task.held, [&](const Held& held) { return held.time < mark.time; });
    out = mark;
    used = i + 1;
  }
  task.marks.erase(task.marks.begin(), task.marks.begin() + static_cast<std::ptrdiff_t>(used));
  // What an ended task left behind is its last switch, from which it does not come back.
  if (task.has_ended) task.held.clear();
}

void OffCpuTimes::end_block(Task& task, std::uint64_t since, const Mark& end) {
  ++total_.times;
  total_.blocked_ns += end.time - since;
  // The last sample before: earlier ones are of switches that were not seen.
  Held* last = nullptr;
  for (Held& held : task.held)
    if (held.time < end.time) last = &held;
  if (last != nullptr) hand_over(*last, since, end.time);
}

// Written when it is over, at that time: so is every sample, at the end of what it counts.
void OffCpuTimes::hand_over(Held& held, std::uint64_t since, std::uint64_t until) {
  const std::uint64_t period = until - std::min(until, since);
  std::memcpy(held.record.data() + kTimeAt, &until, sizeof until);
  std::memcpy(held.record.data() + kPeriodAt, &period, sizeof period);
  behind_->take_raw(held.record);
}

void OffCpuTimes::note_waker(const Task& task, const Waker& waker, std::uint64_t blocked_ns) {
  const TaskId who = waker.is_interrupt ? kInterrupt : waker.task;
  const Pair pair{who, task.id};
  auto found = wakeups_.find(pair);
  if (found == wakeups_.end()) {
    if (wakeups_.size() >= kMostPairs) return;
    sample::Wakeups first;
    first.by_interrupt = waker.is_interrupt;
    if (!waker.is_interrupt) first.waker = {who.pid, who.tid, name_of(who)};
    first.woken = {task.id.pid, task.id.tid, name_of(task.id)};
    found = wakeups_.emplace(pair, std::move(first)).first;
  }
  ++found->second.times;
  found->second.blocked_ns += blocked_ns;
  if (waker.is_interrupt || waker.task.tid != 0) ++total_.wakeups;
}

void OffCpuTimes::finish(std::uint64_t now) {
  write_finished();
  for (auto& [tid, task] : tasks_) {
    const auto out =
        std::ranges::find_if(task.marks, [](const Mark& mark) { return mark.kind != Kind::came; });
    if (task.has_ended || out == task.marks.end() || out->kind != Kind::blocked) continue;
    end_block(task, out->time, {now, Kind::came, {}});
  }
}

std::vector<sample::Wakeups> OffCpuTimes::wakeups() const {
  std::vector<sample::Wakeups> all;
  for (const auto& [pair, one] : wakeups_) all.push_back(one);
  sample::sort_wakeups(all);
  return all;
}

}  // namespace loft::source::scheduler
