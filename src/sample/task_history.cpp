#include "sample/task_history.hpp"

#include <algorithm>

namespace loft::sample {

TaskHistory::TaskHistory() : names_{""}, name_index_{{"", kNoName}} {}

std::uint32_t TaskHistory::intern(MappedBinary binary) {
  std::string key = binary.path;
  for (const auto& part :
       {binary.build_id, std::string(binary.is_kernel ? "k" : "u"),
        std::to_string(binary.kernel_text), std::to_string(binary.jit_pid), binary.only_symbol}) {
    key += '\0';
    key += part;
  }
  const auto [entry, is_new] =
      binary_index_.emplace(std::move(key), static_cast<std::uint32_t>(binaries_.size()));
  if (!is_new) return entry->second;
  if (const auto dump = jit_dumps_.find(binary.jit_pid); dump != jit_dumps_.end())
    binary.jit_dump = dump->second;
  binaries_.push_back(std::move(binary));
  return entry->second;
}

std::uint32_t TaskHistory::intern_name(std::string_view name) {
  const auto [entry, is_new] =
      name_index_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

std::uint32_t TaskHistory::add_mapping(const Mapping& mapping) {
  mappings_.push_back(mapping);
  return static_cast<std::uint32_t>(mappings_.size() - 1);
}

// Events of one moment leave one version: the last.
void TaskHistory::append(Versions& versions, std::uint64_t time, std::uint32_t value) {
  if (!versions.empty() && versions.back().time >= time) {
    versions.back().value = value;
  } else {
    versions.push_back({time, value});
  }
}

TaskHistory::Span TaskHistory::span_in(const Versions& versions, std::uint64_t time) {
  const auto after = std::upper_bound(
      versions.begin(), versions.end(), time,
      [](std::uint64_t moment, const Version& version) { return moment < version.time; });
  Span span;
  span.until = after == versions.end() ? ~std::uint64_t{0} : after->time;
  if (after != versions.begin()) {
    const auto current = std::prev(after);
    span.from = current->time;
    span.value = current->value;
  }
  return span;
}

Process& TaskHistory::process(std::uint32_t pid) {
  const auto [entry, is_new] = process_index_.emplace(pid, processes_.size());
  if (is_new) processes_.push_back({.pid = pid});
  return processes_[entry->second];
}

void TaskHistory::add_map(const MapEvent& event) {
  Versions& versions = space_versions_[event.pid];
  const Root current = versions.empty() ? AddressSpaces::kEmpty : versions.back().value;
  const auto index = add_mapping(event.mapping);
  append(versions, event.time,
         spaces_.map(current, {event.mapping.start, event.mapping.end, index}));
  ++process(event.pid).maps;
}

void TaskHistory::add_kernel_map(std::uint64_t time, const Mapping& mapping) {
  const Root current = kernel_.empty() ? AddressSpaces::kEmpty : kernel_.back().value;
  const auto index = add_mapping(mapping);
  append(kernel_, time, spaces_.map(current, {mapping.start, mapping.end, index}));
}

void TaskHistory::remove_kernel_map(std::uint64_t time, std::uint64_t start, std::uint64_t end) {
  const Root current = kernel_.empty() ? AddressSpaces::kEmpty : kernel_.back().value;
  append(kernel_, time, spaces_.map(current, {start, end, AddressSpaces::kNothing}));
}

void TaskHistory::add_comm(const CommEvent& event) {
  const auto name = intern_name(event.name);
  append(comm_versions_[event.tid], event.time, name);
  pid_of_tid_[event.tid] = event.pid;
  Process& owner = process(event.pid);
  if (event.pid == event.tid || owner.comm == kNoName) owner.comm = name;
  if (!event.is_exec) return;
  append(space_versions_[event.pid], event.time, AddressSpaces::kEmpty);
  owner.maps = 0;
}

void TaskHistory::add_fork(const TaskEvent& event) {
  pid_of_tid_[event.tid] = event.pid;
  append(comm_versions_[event.tid], event.time, comm_at(event.parent_tid, event.time));
  if (event.pid == event.parent_pid) return;  // a thread
  append(space_versions_[event.pid], event.time, space_at(event.parent_pid, event.time));
  const std::uint64_t maps = process(event.parent_pid).maps;
  process_index_.erase(event.pid);  // whoever had the number before is gone
  Process& child = process(event.pid);
  child.fork_time = event.time;
  child.maps = maps;
  child.comm = comm_at(event.tid, event.time);
}

void TaskHistory::add_exit(const TaskEvent& event) {
  // The name and the mappings stay: samples of the exit itself may still come. A process ends
  // with its last thread, and the records say so of each.
  process(event.pid).exit_time = event.time;
}

void TaskHistory::add_jit_dump(std::uint32_t pid, const std::string& path) {
  jit_dumps_[pid] = path;
  for (MappedBinary& binary : binaries_)
    if (binary.jit_pid == pid) binary.jit_dump = path;
}

TaskHistory::Root TaskHistory::space_at(std::uint32_t pid, std::uint64_t time) const {
  return space_span(pid, time).value;
}

TaskHistory::Root TaskHistory::kernel_space_at(std::uint64_t time) const {
  return span_in(kernel_, time).value;
}

TaskHistory::Span TaskHistory::space_span(std::uint32_t pid, std::uint64_t time) const {
  const auto found = space_versions_.find(pid);
  return found == space_versions_.end() ? Span{0, 0, ~std::uint64_t{0}}
                                        : span_in(found->second, time);
}

TaskHistory::Span TaskHistory::comm_span(std::uint32_t tid, std::uint64_t time) const {
  const auto found = comm_versions_.find(tid);
  return found == comm_versions_.end() ? Span{kNoName, 0, ~std::uint64_t{0}}
                                       : span_in(found->second, time);
}

std::uint32_t TaskHistory::comm_at(std::uint32_t tid, std::uint64_t time) const {
  return comm_span(tid, time).value;
}

std::vector<std::uint32_t> TaskHistory::tids() const {
  std::vector<std::uint32_t> tids;
  for (const auto& [tid, pid] : pid_of_tid_) tids.push_back(tid);
  std::sort(tids.begin(), tids.end());
  return tids;
}

std::optional<std::uint32_t> TaskHistory::pid_of(std::uint32_t tid) const {
  const auto found = pid_of_tid_.find(tid);
  if (found == pid_of_tid_.end()) return std::nullopt;
  return found->second;
}

}  // namespace loft::sample
