#include "sample/profile_worker.hpp"

#include <algorithm>

namespace loft::sample {
namespace {

constexpr std::uint64_t kSampleTid = 1u << 1;
constexpr std::uint64_t kSampleTime = 1u << 2;
constexpr std::uint64_t kSampleCpu = 1u << 7;

// Whose addresses follow a mark in a call chain.
CpuMode mode_of_mark(std::uint64_t mark) {
  switch (mark) {
    case perf_data::kContextKernel:
      return CpuMode::kernel;
    case perf_data::kContextUser:
    case perf_data::kContextUserDeferred:
      return CpuMode::user;
    case perf_data::kContextHypervisor:
      return CpuMode::hypervisor;
    case perf_data::kContextGuestKernel:
      return CpuMode::guest_kernel;
    case perf_data::kContextGuest:
    case perf_data::kContextGuestUser:
      return CpuMode::guest_user;
    default:
      return CpuMode::unknown;
  }
}

}  // namespace

ProfileWorker::ProfileWorker(const Profile::Context& context)
    : context_(context),
      resolver_(context.locations, context.history),
      event_weights_(context.events.size()) {}

TaskHistory::Root ProfileWorker::user_space(const Sample& sample) {
  SpanCache& cache = spaces_[sample.pid % kSpans];
  if (!cache.holds(sample.pid, sample.time))
    cache = {sample.pid, true, context_.history.space_span(sample.pid, sample.time)};
  return cache.span.value;
}

TaskHistory::Root ProfileWorker::kernel_space(std::uint64_t time) {
  if (!kernel_.holds(0, time)) kernel_ = {0, true, context_.history.kernel_span(time)};
  return kernel_.span.value;
}

std::uint32_t ProfileWorker::comm_of(const Sample& sample) {
  SpanCache& cache = comms_[sample.tid % kSpans];
  if (!cache.holds(sample.tid, sample.time))
    cache = {sample.tid, true, context_.history.comm_span(sample.tid, sample.time)};
  return cache.span.value;
}

std::uint32_t ProfileWorker::locate(CpuMode mode, std::uint64_t ip, const Sample& sample) {
  switch (mode) {
    case CpuMode::kernel:
      return resolver_.kernel(kernel_space(sample.time), ip);
    case CpuMode::hypervisor:
      return Locations::kHypervisor;
    case CpuMode::guest_kernel:
    case CpuMode::guest_user:
      return Locations::kGuest;
    case CpuMode::user:
    case CpuMode::unknown:
      break;
  }
  return resolver_.user(user_space(sample), ip);
}

const Location& ProfileWorker::location(std::uint32_t id) {
  if (id >= locations_.size()) {
    locations_.resize(id + 1024);
    location_known_.resize(id + 1024);
  }
  if (!location_known_[id]) {
    locations_[id] = context_.locations.at(id);
    location_known_[id] = true;
  }
  return locations_[id];
}

void ProfileWorker::push_location(std::uint32_t id) {
  const Location& found = location(id);
  for (std::uint32_t i = found.inlined_count; i-- > 0;)
    functions_.push_back(context_.locations.inlined_function(found, i));
  functions_.push_back(found.function);
}

const symbols::MappedFile* ProfileWorker::mapped_file(TaskHistory::Root space,
                                                      std::uint64_t address) {
  const Mapping* mapping = context_.history.find(space, address);
  if (mapping == nullptr) return nullptr;
  const auto [entry, is_new] = mapped_files_.try_emplace(mapping);
  if (is_new)
    entry->second = {context_.locations.shared_table_of(mapping->binary), mapping->start,
                     mapping->end, mapping->file_offset};
  return &entry->second;
}

void ProfileWorker::collect_unwound(const Sample& sample) {
  if (!context_.architecture || sample.user_registers == nullptr || sample.user_stack.empty() ||
      sample.user_registers->abi != perf_data::Registers::Abi::bits64)
    return;
  std::array<std::uint64_t, 64> values;
  const auto& recorded = sample.user_registers->values;
  for (std::size_t i = 0; i < recorded.size(); ++i) values[i] = recorded[i];
  const auto registers =
      symbols::from_perf_registers(*context_.architecture, sample.user_registers->mask,
                                   std::span(values).first(recorded.size()));
  if (!registers) return;
  const TaskHistory::Root space = user_space(sample);
  unwinder_.unwind(
      {*context_.architecture, *registers, sample.user_stack},
      [&](std::uint64_t address) { return mapped_file(space, address); }, unwound_);
  const bool starts_at_sample = sample.mode == CpuMode::user;
  for (std::size_t i = starts_at_sample ? 1 : 0; i < unwound_.size(); ++i)
    push_location(locate(CpuMode::user, i == 0 ? unwound_[i] : unwound_[i] - 1, sample));
}

void ProfileWorker::collect_chain(const Sample& sample) {
  CpuMode mode = sample.mode;
  bool is_first = true;
  for (std::size_t i = 0; i < sample.call_chain.size(); ++i) {
    const std::uint64_t address = sample.call_chain[i];
    if (address >= perf_data::kContextLowest) {
      mode = mode_of_mark(address);
      continue;
    }
    if (address == 0) continue;  // where a chain of frame pointers ends
    if (mode == CpuMode::user && sample.user_registers != nullptr) break;  // the stack knows better
    // The chain starts with the sampled instruction itself; the sample knows it more exactly. A
    // chain of another mode (user frames of a sample in the kernel) starts with a caller.
    if (is_first && mode == sample.mode) {
      is_first = false;
      continue;
    }
    is_first = false;
    push_location(locate(mode, address - 1, sample));  // a return address: its call is before it
  }
  if (sample.user_registers != nullptr) collect_unwound(sample);
}

void ProfileWorker::collect_frames(const Sample& sample) {
  functions_.clear();
  leaf_ = locate(sample.mode, sample.ip, sample);
  push_location(leaf_);
  if (context_.needs_chain) collect_chain(sample);
}

bool ProfileWorker::passes(const Sample& sample) {
  const ProfileFilter& filter = context_.options.filter;
  const auto lets = [](const std::set<std::uint32_t>& wanted, std::uint32_t value) {
    return wanted.empty() || wanted.contains(value);
  };
  if (sample.time < filter.from || sample.time > filter.until) return false;
  if (!lets(filter.events, sample.event) || !lets(filter.pids, sample.pid) ||
      !lets(filter.tids, sample.tid) || !lets(filter.cpus, sample.cpu))
    return false;
  return context_.comm_passes.empty() || context_.comm_passes[comm_of(sample)];
}

std::uint32_t ProfileWorker::key_of(Dimension dimension, const Sample& sample) {
  const std::uint64_t carried = context_.events[sample.event].attr.sample_type;
  switch (dimension) {
    case Dimension::function:
      return functions_.front();
    case Dimension::line:
      return leaf_;
    case Dimension::thread:
      return (carried & kSampleTid) != 0 ? sample.tid : kUnknownKey;
    case Dimension::process:
      return (carried & kSampleTid) != 0 ? sample.pid : kUnknownKey;
    case Dimension::cpu:
      return (carried & kSampleCpu) != 0 ? sample.cpu : kUnknownKey;
    case Dimension::comm:
      return comm_of(sample);
    case Dimension::binary: {
      const auto binary = context_.locations.binary_of(location(leaf_));
      return binary;
    }
  }
  return kUnknownKey;
}

void ProfileWorker::add_inclusive(Trie::NodeId parent, const Weight& weight) {
  for (const std::uint32_t function : functions_) {
    const auto row = rows_.child(parent, function);
    if (row >= inclusive_.size()) {
      inclusive_.resize(row + 1024);
      last_counted_.resize(row + 1024);
    }
    if (last_counted_[row] == sample_number_) continue;  // a recursive function counts once
    last_counted_[row] = sample_number_;
    inclusive_[row] += weight;
  }
}

void ProfileWorker::add_row(const Sample& sample, const Weight& weight) {
  auto row = rows_.child(Trie::kRoot, sample.event);
  const auto& by = context_.options.by;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (context_.options.inclusive && i + 1 == by.size()) add_inclusive(row, weight);
    row = rows_.child(row, key_of(by[i], sample));
  }
  rows_.add(row, weight);
}

Trie::NodeId ProfileWorker::add_to_tree(const Sample& sample, const Weight& weight) {
  auto node = tree_.child(Trie::kRoot, sample.event);
  for (std::size_t i = functions_.size(); i-- > 0;) node = tree_.child(node, functions_[i]);
  tree_.add(node, weight);
  return node;
}

void ProfileWorker::add(const Sample& sample) {
  if (!passes(sample)) {
    ++filtered_out_;
    return;
  }
  collect_frames(sample);
  if (!context_.binary_passes.empty()) {
    const auto binary = context_.locations.binary_of(location(leaf_));
    if (binary == Function::kNoBinary || !context_.binary_passes[binary]) {
      ++filtered_out_;
      return;
    }
  }
  ++sample_number_;
  const Weight weight{1, sample.period};
  event_weights_[sample.event] += weight;
  if ((context_.events[sample.event].attr.sample_type & kSampleTime) != 0) {
    first_time_ = std::min(first_time_, sample.time);
    last_time_ = std::max(last_time_, sample.time);
  }
  if (sample.tid != last_tid_) {
    tids_.insert(sample.tid);
    last_tid_ = sample.tid;
  }
  processes_[sample.pid] += weight;
  add_row(sample, weight);
  if (!context_.options.tree) return;
  const auto node = add_to_tree(sample, weight);
  if (context_.options.timeline)
    timeline_.push_back(
        {sample.time, sample.period, sample.event, sample.pid, sample.tid, sample.cpu, node});
}

void ProfileWorker::move_into(ProfileResult& result,
                              std::unordered_map<std::uint32_t, Weight>& processes) const {
  const auto rows = result.rows.merge(rows_);
  if (context_.options.inclusive) {
    result.inclusive.resize(result.rows.nodes().size());
    for (std::size_t row = 0; row < rows.size() && row < inclusive_.size(); ++row)
      result.inclusive[rows[row]] += inclusive_[row];
  }
  const auto nodes = result.tree.merge(tree_);
  for (TimelineEntry entry : timeline_) {
    entry.node = nodes[entry.node];
    result.timeline.push_back(entry);
  }
  for (std::size_t event = 0; event < event_weights_.size(); ++event)
    result.events[event] += event_weights_[event];
  for (const auto& [pid, weight] : processes_) processes[pid] += weight;
  result.tids.insert(tids_.begin(), tids_.end());
  if (first_time_ <= last_time_) {
    result.first_time = std::min(result.first_time.value_or(first_time_), first_time_);
    result.last_time = std::max(result.last_time.value_or(last_time_), last_time_);
  }
  result.unreadable += unreadable_;
  result.filtered_out += filtered_out_;
}

}  // namespace loft::sample
