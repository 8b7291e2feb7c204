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
      is_by_function_(context.options.by == std::vector{Dimension::function}),
      by_function_(context.events.size()),
      event_weights_(context.events.size()),
      timeline_(context.options.most_timeline),
      filtered_out_(context.events.size()) {
  recent_tids_.fill(kUnknownKey);
  const ProfileOptions& options = context.options;
  lets_all_ = options.filter.lets_all();
  is_flat_ = options.rows && is_by_function_ && lets_all_ && !options.inclusive && !options.tree;
}

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
  return locate_in(mode == CpuMode::kernel ? kernel_space(sample.time) : user_space(sample), mode,
                   ip);
}

std::uint32_t ProfileWorker::locate_in(TaskHistory::Root space, CpuMode mode, std::uint64_t ip) {
  switch (mode) {
    case CpuMode::kernel:
      return resolver_.kernel(space, ip);
    case CpuMode::hypervisor:
      return Locations::kHypervisor;
    case CpuMode::guest_kernel:
    case CpuMode::guest_user:
      return Locations::kGuest;
    case CpuMode::user:
    case CpuMode::unknown:
      break;
  }
  return resolver_.user(space, ip);
}

TaskHistory::Root ProfileWorker::space_of(const Sample& sample) {
  return sample.mode == CpuMode::kernel ? kernel_space(sample.time) : user_space(sample);
}

std::uint32_t ProfileWorker::innermost_function(std::uint32_t id) {
  if (id < plain_functions_.size() && plain_functions_[id] != kNotPlain) [[likely]]
    return plain_functions_[id];
  functions_.clear();
  push_location(id);
  return functions_.front();
}

const Location& ProfileWorker::location(std::uint32_t id) {
  if (id >= locations_.size()) locations_.resize(id + 1024, Location{kUnknownKey, 0, 0, 0, 0});
  if (locations_[id].function == kUnknownKey) {
    Location copy = context_.locations.at(id);
    const auto first = static_cast<std::uint32_t>(inlined_.size());
    for (std::uint32_t i = 0; i < copy.inlined_count; ++i)
      inlined_.push_back(context_.locations.inlined_function(copy, i));
    copy.inlined = first;
    locations_[id] = copy;
  }
  return locations_[id];
}

void ProfileWorker::push_location(std::uint32_t id) {
  if (id < plain_functions_.size() && plain_functions_[id] != kNotPlain) [[likely]]
    return functions_.push_back(plain_functions_[id]);
  const Location& found = location(id);
  if (found.inlined_count == 0) {
    if (id >= plain_functions_.size()) plain_functions_.resize(id + 1024, kNotPlain);
    plain_functions_[id] = found.function;
  }
  for (std::uint32_t i = found.inlined_count; i-- > 0;)
    functions_.push_back(inlined_[found.inlined + i]);
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
    push_location(locate(CpuMode::user, unwound_[i].lookup_address(), sample));
}

// The chain starts with the sampled instruction itself; the sample knows it more exactly. A chain
// of another mode (user frames of a sample in the kernel) starts with a caller.
CallerMemo::Key ProfileWorker::callers_in(const Sample& sample) {
  const auto& chain = sample.call_chain;
  CpuMode mode = sample.mode;
  std::size_t first = 0;
  for (; first < chain.size(); ++first) {
    if (chain[first] >= perf_data::kContextLowest) {
      mode = mode_of_mark(chain[first]);
      first += chain[first] == perf_data::kContextUserDeferred ? 1 : 0;  // a cookie, no address
    } else if (chain[first] != 0) {
      break;
    }
  }
  first = std::min(first, chain.size());
  if (first < chain.size() && mode == sample.mode) ++first;
  return CallerMemo::key_of(chain, first, mode, user_space(sample), kernel_space(sample.time));
}

void ProfileWorker::collect_callers(const Sample& sample, const CallerMemo::Key& key) {
  CpuMode mode = key.mode;
  for (std::size_t i = key.first; i < key.chain.size(); ++i) {
    const std::uint64_t address = key.chain[i];
    if (address >= perf_data::kContextLowest) {
      mode = mode_of_mark(address);
      if (address == perf_data::kContextUserDeferred) ++i;  // what follows is a cookie
      continue;
    }
    if (address == 0) continue;  // where a chain of frame pointers ends
    if (mode == CpuMode::user && sample.user_registers != nullptr) break;  // the stack knows better
    push_location(locate(mode, address - 1, sample));  // a return address: its call is before it
  }
}

bool ProfileWorker::passes(const Sample& sample) {
  const ProfileFilter& filter = context_.options.filter;
  const auto lets = [](const std::set<std::uint32_t>& wanted, std::uint32_t value) {
    return wanted.empty() || wanted.contains(value);
  };
  if (sample.time < filter.from || sample.time > filter.until) return false;
  const std::uint64_t carried = context_.events[sample.event].attr.sample_type;
  const auto known = [&](std::uint64_t bit, std::uint32_t value) {
    return (carried & bit) != 0 ? value : kUnknownKey;  // 0 is a CPU, not the lack of one
  };
  if (!lets(filter.events, sample.event) || !lets(filter.pids, known(kSampleTid, sample.pid)) ||
      !lets(filter.tids, known(kSampleTid, sample.tid)) ||
      !lets(filter.cpus, known(kSampleCpu, sample.cpu)))
    return false;
  return context_.comm_passes.empty() || context_.comm_passes[comm_of(sample)];
}

bool ProfileWorker::passes_binary(std::uint32_t leaf) {
  if (context_.options.filter.binaries.empty()) return true;
  const auto binary = context_.locations.binary_of(location(leaf));
  return binary != Function::kNoBinary && context_.binary_passes[binary];
}

bool ProfileWorker::passes_symbol(std::uint32_t function) {
  const ProfileFilter& filter = context_.options.filter;
  if (filter.symbols.empty()) return true;
  if (function >= symbol_passes_.size()) symbol_passes_.resize(function + 1024);
  Passes& passes = symbol_passes_[function];
  if (passes == Passes::unknown)
    passes = filter.passes_symbol(context_.locations.name_of(function)) ? Passes::yes : Passes::no;
  return passes == Passes::yes;
}

std::uint32_t ProfileWorker::key_of(Dimension dimension, const Collected& collected) {
  const Sample& sample = *collected.sample;
  const std::uint64_t carried = context_.events[sample.event].attr.sample_type;
  switch (dimension) {
    case Dimension::function:
      return functions_[collected.first];
    case Dimension::line:
      return collected.leaf;
    case Dimension::thread:
      return (carried & kSampleTid) != 0 ? sample.tid : kUnknownKey;
    case Dimension::process:
      return (carried & kSampleTid) != 0 ? sample.pid : kUnknownKey;
    case Dimension::cpu:
      return (carried & kSampleCpu) != 0 ? sample.cpu : kUnknownKey;
    case Dimension::comm:
      return comm_of(sample);
    case Dimension::binary:
      return context_.locations.binary_of(location(collected.leaf));
  }
  return kUnknownKey;
}

void ProfileWorker::add_inclusive(Trie::NodeId parent, std::span<const std::uint32_t> functions,
                                  const Weight& weight) {
  for (const std::uint32_t function : functions) {
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

void ProfileWorker::add_inclusive(std::vector<FunctionCount>& counts,
                                  std::span<const std::uint32_t> functions, const Weight& weight) {
  for (const std::uint32_t function : functions) {
    FunctionCount& count = counts[function];
    if (count.last_counted == sample_number_) continue;  // a recursive function counts once
    count.last_counted = sample_number_;
    count.inclusive += weight;
  }
}

void ProfileWorker::add_row(const Collected& collected, const Weight& weight) {
  auto row = rows_.child(Trie::kRoot, collected.sample->event);
  const auto& by = context_.options.by;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (context_.options.inclusive && i + 1 == by.size()) {
      add_inclusive(row, own_frames(collected), weight);
      add_inclusive(row, known_callers(collected), weight);
    }
    row = rows_.child(row, key_of(by[i], collected));
  }
  rows_.add(row, weight);
}

void ProfileWorker::add_function(const Collected& collected, const Weight& weight) {
  auto& counts = by_function_[collected.sample->event];
  counts[functions_[collected.first]].self += weight;
  if (!context_.options.inclusive) return;
  add_inclusive(counts, own_frames(collected), weight);
  add_inclusive(counts, known_callers(collected), weight);
}

Trie::NodeId ProfileWorker::node_of_callers(const Collected& collected) {
  const std::uint32_t event = collected.sample->event;
  const bool by_process = context_.options.tree_by_process;
  const std::uint32_t process = by_process ? key_of(Dimension::process, collected) : 0;
  const auto first = [&] {
    const auto node = tree_.child(Trie::kRoot, event);
    return by_process ? tree_.child(node, process) : node;
  };
  if (collected.callers == CallerMemo::kNone) return first();
  CallerMemo::Callers& callers = callers_[collected.callers];
  if (callers.event == event && callers.process == process) return callers.node;
  callers.event = event;
  callers.process = process;
  callers.callee = CallerMemo::kNone;
  callers.node = first();
  const auto path = callers_.functions_of(collected.callers);
  for (std::size_t i = path.size(); i-- > 0;) callers.node = tree_.child(callers.node, path[i]);
  return callers.node;
}

// Most often callers call the function again that they called last.
void ProfileWorker::find_node(Collected& collected) {
  const auto path = own_frames(collected);
  const bool is_plain = path.size() == 1 && collected.callers != CallerMemo::kNone &&
                        callers_[collected.callers].event == collected.sample->event;
  if (is_plain && callers_[collected.callers].callee == path[0]) {
    collected.node = callers_[collected.callers].callee_node;
  } else {
    for (std::size_t i = path.size(); i-- > 0;)
      collected.node = tree_.child(collected.node, path[i]);
    if (is_plain) {
      callers_[collected.callers].callee = path[0];
      callers_[collected.callers].callee_node = collected.node;
    }
  }
  tree_.prefetch(collected.node);
}

void ProfileWorker::prefetch(const Sample& sample) {
  own_spaces_.push_back(space_of(sample));
  resolver_.prefetch(own_spaces_.back(), sample.ip);
  if (!context_.needs_chain) return;
  keys_.push_back(callers_in(sample));
  callers_.prefetch(keys_.back());
}

void ProfileWorker::collect(const Sample& sample, TaskHistory::Root space,
                            const CallerMemo::Key& key) {
  const auto leave_out = [&] { filtered_out_[sample.event] += {1, sample.period}; };
  if (!lets_all_ && !passes(sample)) return leave_out();
  Collected collected{&sample, functions_.size(), 0, locate_in(space, sample.mode, sample.ip)};
  if (!passes_binary(collected.leaf)) return leave_out();
  push_location(collected.leaf);
  if (!passes_symbol(functions_[collected.first])) {
    functions_.resize(collected.first);
    return leave_out();
  }
  collected.count = functions_.size() - collected.first;
  if (context_.needs_chain) collect_chain(key, collected);
  if (context_.options.tree) {
    collected.node = node_of_callers(collected);
    tree_.prefetch_child(collected.node, own_frames(collected).back());
  }
  collected_.push_back(collected);
  if (!is_by_function_ || !context_.options.rows) return;
  auto& counts = by_function_[sample.event];
  const auto make_room = [&](std::span<const std::uint32_t> functions) {
    for (const std::uint32_t function : functions) {
      if (function >= counts.size()) counts.resize(function + 1024);
      __builtin_prefetch(&counts[function]);
    }
  };
  make_room(own_frames(collected));
  if (context_.options.inclusive) make_room(known_callers(collected));
}

void ProfileWorker::collect_chain(const CallerMemo::Key& key, Collected& collected) {
  const Sample& sample = *collected.sample;
  if (sample.user_registers != nullptr) {  // callers are on a stack that no other sample has
    collect_callers(sample, key);
    collect_unwound(sample);
    collected.count = functions_.size() - collected.first;
    return;
  }
  if (key.size() == 0) return;
  collected.callers = callers_.find(key);
  if (collected.callers != CallerMemo::kNone) return;
  const std::size_t first = functions_.size();
  collect_callers(sample, key);
  collected.callers = callers_.add(key, std::span(functions_).subspan(first));
  functions_.resize(first);
}

void ProfileWorker::count_sample(const Sample& sample, const Weight& weight) {
  event_weights_[sample.event] += weight;
  if ((context_.events[sample.event].attr.sample_type & kSampleTime) != 0) {
    first_time_ = std::min(first_time_, sample.time);
    last_time_ = std::max(last_time_, sample.time);
  }
  if (std::uint32_t& recent = recent_tids_[sample.tid % kSpans]; recent != sample.tid) {
    tids_.insert(sample.tid);
    recent = sample.tid;
  }
  const ProcessEvent key{sample.pid, sample.event};
  ProcessCache& process = recent_processes_[(sample.pid + sample.event) % kSpans];
  if (process.weight == nullptr || process.key != key) process = {key, &processes_[key]};
  *process.weight += weight;
}

void ProfileWorker::count(const Collected& collected) {
  const Sample& sample = *collected.sample;
  ++sample_number_;
  const Weight weight{1, sample.period};
  count_sample(sample, weight);
  if (context_.options.rows)
    is_by_function_ ? add_function(collected, weight) : add_row(collected, weight);
  if (!context_.options.tree) return;
  tree_.add(collected.node, weight);
  if (context_.options.timeline)
    timeline_.add({sample.time, sample.period, sample.event, sample.pid, sample.tid, sample.cpu,
                   collected.node, Timeline::dice_of(sample.place)});
}

void ProfileWorker::add_flat(std::span<const Sample> samples) {
  flat_.clear();
  for (const Sample& sample : samples) {
    flat_.push_back(space_of(sample));
    resolver_.prefetch(flat_.back(), sample.ip);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    flat_[i] = innermost_function(locate_in(flat_[i], sample.mode, sample.ip));
    auto& counts = by_function_[sample.event];
    if (flat_[i] >= counts.size()) counts.resize(flat_[i] + 1024);
    __builtin_prefetch(&counts[flat_[i]]);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Weight weight{1, samples[i].period};
    count_sample(samples[i], weight);
    by_function_[samples[i].event][flat_[i]].self += weight;
  }
}

void ProfileWorker::add_all(std::span<const Sample> samples) {
  if (is_flat_) return add_flat(samples);
  functions_.clear();
  collected_.clear();
  keys_.clear();
  own_spaces_.clear();
  if (callers_.is_full()) callers_.clear();
  for (const Sample& sample : samples) prefetch(sample);
  for (const CallerMemo::Key& key : keys_) callers_.prefetch_callers(key);
  keys_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) collect(samples[i], own_spaces_[i], keys_[i]);
  if (context_.options.tree)
    for (Collected& collected : collected_) find_node(collected);
  for (const Collected& collected : collected_) count(collected);
}

void ProfileWorker::move_functions(ProfileResult& result) const {
  for (std::uint32_t event = 0; event < by_function_.size(); ++event) {
    const auto& counts = by_function_[event];
    for (std::uint32_t function = 0; function < counts.size(); ++function) {
      const FunctionCount& count = counts[function];
      if (count.self.samples + count.inclusive.samples == 0) continue;
      const auto row = result.rows.child(result.rows.child(Trie::kRoot, event), function);
      result.rows.add(row, count.self);
      if (!context_.options.inclusive) continue;
      if (row >= result.inclusive.size()) result.inclusive.resize(row + 1);
      result.inclusive[row] += count.inclusive;
    }
  }
}

void ProfileWorker::move_into(ProfileResult& result,
                              std::map<ProcessEvent, Weight>& processes) const {
  const auto rows = result.rows.merge(rows_);
  move_functions(result);
  if (context_.options.inclusive) {
    result.inclusive.resize(result.rows.nodes().size());
    for (std::size_t row = 0; row < rows.size() && row < inclusive_.size(); ++row)
      result.inclusive[rows[row]] += inclusive_[row];
  }
  const auto nodes = result.tree.merge(tree_);
  result.timeline.merge(timeline_, nodes);
  for (std::size_t event = 0; event < event_weights_.size(); ++event)
    result.events[event] += event_weights_[event];
  for (const auto& [key, weight] : processes_) processes[key] += weight;
  result.tids.insert(tids_.begin(), tids_.end());
  if (first_time_ <= last_time_) {
    result.first_time = std::min(result.first_time.value_or(first_time_), first_time_);
    result.last_time = std::max(result.last_time.value_or(last_time_), last_time_);
  }
  result.unreadable += unreadable_;
  for (std::size_t event = 0; event < filtered_out_.size(); ++event)
    result.filtered_out[event] += filtered_out_[event];
}

}  // namespace loft::sample
