#include "source/perf_events/thread_table.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace loft::source::perf_events {
namespace {

// The T at `offset`, or nothing when the record is too short for it.
template <class T>
std::optional<T> field(std::span<const std::byte> record, std::size_t offset) {
  if (record.size() < offset + sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

// With sample_type TID|TIME every record ends in pid, tid, time.
constexpr std::size_t kTrailer = 16;

}  // namespace

void ThreadTable::take(std::span<const std::byte> record) {
  const auto header = field<perf_event_header>(record, 0);
  if (!header) return;
  switch (header->type) {
    case PERF_RECORD_READ:
      return take_read(record);
    case PERF_RECORD_COMM:
      return take_comm(record);
    case PERF_RECORD_FORK:
      return take_fork(record);
    case PERF_RECORD_LOST:
      lost_ += field<std::uint64_t>(record, 16).value_or(1);  // header, id, lost
      return;
    default:
      return;
  }
}

// header, pid, tid, value, enabled, running, id
void ThreadTable::take_read(std::span<const std::byte> record) {
  const auto pid = field<std::uint32_t>(record, 8);
  const auto tid = field<std::uint32_t>(record, 12);
  const auto value = field<std::uint64_t>(record, 16);
  const auto enabled = field<std::uint64_t>(record, 24);
  const auto running = field<std::uint64_t>(record, 32);
  const auto id = field<std::uint64_t>(record, 40);
  if (!id) return;
  Thread& thread = threads_[static_cast<pid_t>(*tid)];
  thread.pid = static_cast<pid_t>(*pid);
  RawReading& reading = thread.by_event_id[*id];
  reading.value += *value;
  reading.enabled += nanoseconds(*enabled);
  reading.running += nanoseconds(*running);
}

// header, pid, tid, name
void ThreadTable::take_comm(std::span<const std::byte> record) {
  const auto tid = field<std::uint32_t>(record, 12);
  if (!tid || record.size() < 16 + kTrailer) return;
  const auto time = field<std::uint64_t>(record, record.size() - 8);
  const char* name = reinterpret_cast<const char*>(record.data()) + 16;
  const std::size_t length = ::strnlen(name, record.size() - 16 - kTrailer);
  namings_.push_back({*time, static_cast<pid_t>(*tid), 0, std::string(name, length)});
}

// header, pid, parent pid, tid, parent tid, time
void ThreadTable::take_fork(std::span<const std::byte> record) {
  const auto tid = field<std::uint32_t>(record, 16);
  const auto parent = field<std::uint32_t>(record, 20);
  const auto time = field<std::uint64_t>(record, 24);
  if (!time) return;
  namings_.push_back({*time, static_cast<pid_t>(*tid), static_cast<pid_t>(*parent), {}});
}

std::map<pid_t, std::string> ThreadTable::names() const {
  std::vector<Naming> ordered = namings_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Naming& a, const Naming& b) { return a.time < b.time; });
  std::map<pid_t, std::string> names;
  for (const Naming& naming : ordered) {
    if (naming.parent == 0) {
      names[naming.tid] = naming.comm;
    } else if (const auto parent = names.find(naming.parent); parent != names.end()) {
      names[naming.tid] = parent->second;
    }
  }
  return names;
}

std::size_t ThreadTable::silent() const {
  std::set<pid_t> silent;
  for (const Naming& naming : namings_)
    if (naming.parent != 0 && !threads_.contains(naming.tid)) silent.insert(naming.tid);
  return silent.size();
}

std::map<pid_t, ThreadTable::Thread> ThreadTable::threads() const {
  std::map<pid_t, Thread> threads = threads_;
  const auto known = names();
  for (auto& [tid, thread] : threads)
    if (const auto name = known.find(tid); name != known.end()) thread.comm = name->second;
  return threads;
}

}  // namespace loft::source::perf_events
