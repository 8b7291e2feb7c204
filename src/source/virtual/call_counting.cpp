#ifdef LOFT_HAS_ENGINE
#include "source/virtual/call_counting.hpp"

#include <fmt/format.h>

#include "engine/classify/events.hpp"
#include "sample/unwatchable.hpp"

namespace loft::source::virtual_pmu {
namespace {

using sample::CallValue;

Result<engine::EventIndex> find_event(const std::string& name) {
  const auto refuse = [&](const char* why) {
    return failure(ErrorKind::invalid_input, "count '" + name + "' per call", why,
                   "'loft list virtual' shows what the virtual PMU counts");
  };
  const auto event = engine::find_event(name);
  if (!event) return refuse("the virtual PMU counts no such event exactly");
  const engine::Measure measure = engine::event_table()[*event].measure;
  if (measure == engine::Measure::taken || measure == engine::Measure::not_taken)
    return refuse("which way branches go is known at the end of a run alone");
  return *event;
}

}  // namespace

Result<void> CallCounting::start(BlockCounts blocks) {
  engine::CallOrder order{};
  std::vector<std::string> events = request_.events;
  if (events.empty()) events.emplace_back("instructions");
  if (events.size() > engine::kMaxCallEvents)
    return failure(ErrorKind::invalid_input, "count events per call",
                   fmt::format("{} are too many", events.size()),
                   fmt::format("ask for at most {}", engine::kMaxCallEvents));
  for (const std::string& name : events) {
    LOFT_TRY(const engine::EventIndex event, find_event(name));
    order.event[order.events++] = engine::event_table()[event];
    result_.quantities.push_back(
        {.name = name, .unit = engine::event_table()[event].unit, .scale = 1});
    places_.push_back(order.events - 1);
  }
  result_.quantities.push_back({.name = "time", .unit = "ns", .scale = 1, .is_time = true});
  places_.push_back(engine::kTicks);
  order.skips_blocks = blocks == BlockCounts::none ? 1 : 0;
  order.keeps_calls = request_.keeps_calls ? 1 : 0;
  order.depth = request_.depth;
  order.most_kept = request_.most_kept;
  order.least_ticks = clock_.ticks_of(request_.longer);
  shared_.ask_for_calls(order);
  answers_.emplace(shared_, [this](const auto& mapping) { return guide_.starts_in(mapping); });
  return {};
}

Result<sample::CallRun> CallCounting::finish() {
  answers_.reset();
  result_.route = sample::kVirtualRoute;
  result_.functions = guide_.take_functions();
  result_.statistics.resize(result_.functions.size());
  for (auto& statistics : result_.statistics) statistics.of.resize(result_.quantities.size());
  result_.clock = {clock_.nanoseconds_per_tick(), clock_.start_tick(), clock_.start_time()};
  result_.quantities.back().scale = result_.clock.nanoseconds_per_tick;
  result_.has_all_calls = request_.keeps_calls;
  const auto slots = shared_.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) LOFT_CHECK(add_thread(i, slots[i]));
  result_.seen = result_.calls.size() + result_.lost;
  sample::add_unwatchable(result_, request_, guide_.paths());
  add_notes();
  return std::move(result_);
}

// When the thread was last seen to run.
std::uint64_t CallCounting::last_tick(const engine::SlotEntry& slot) const {
  const Nanoseconds end =
      slot.ended_ns != 0 ? Nanoseconds(static_cast<std::int64_t>(slot.ended_ns)) : now();
  const double ticks =
      static_cast<double>((end - clock_.start_time()).count()) / result_.clock.nanoseconds_per_tick;
  return clock_.start_tick() + static_cast<std::uint64_t>(std::max(0.0, ticks));
}

Result<void> CallCounting::add_thread(std::uint32_t number, const engine::SlotEntry& slot) {
  const auto functions = static_cast<std::uint32_t>(result_.functions.size());
  LOFT_TRY(const engine::CallArea area,
           engine::read_calls(shared_, number, functions, last_tick(slot)));
  thread_ = static_cast<std::uint32_t>(result_.threads.size());
  result_.threads.push_back(
      {static_cast<pid_t>(slot.process), static_cast<pid_t>(slot.thread), slot.name});
  for (const auto& [function, entry] : area.functions) add_function(function, entry);
  add_nodes(area);
  for (const engine::CallRecord& record : area.records) add_call(record, 0);
  for (const engine::OpenCall& open : area.open) add_open(open);
  result_.lost += area.lost;
  lost_nodes_ += area.lost_nodes;
  return {};
}

void CallCounting::add_function(std::uint32_t number, const engine::CallFunctionEntry& entry) {
  sample::CallStatistics& statistics = result_.statistics[number];
  statistics.calls += entry.calls;
  statistics.ended_early += entry.ended_early;
  statistics.unmeasured += entry.unmeasured;
  for (std::size_t q = 0; q < places_.size(); ++q) {
    const engine::CallSums& sums = entry.sums[places_[q]];
    sample::CallDistribution of;
    of.calls = entry.calls;
    of.total = sums.total;
    of.self = sums.self;
    of.sum = sums.sum;
    if (entry.calls != 0) of.min = ~sums.inverse_min;
    of.max = sums.max;
    if (q == 0) of.histogram = sample::CallHistogram(entry.histogram);
    statistics.of[q] += of;
  }
  if (!request_.keeps_calls)
    for (std::uint32_t i = 0; i < entry.slowest_count; ++i) add_call(entry.slowest[i], 0);
}

void CallCounting::add_nodes(const engine::CallArea& area) {
  nodes_.assign(1, sample::kNoCallNode);
  for (const engine::CallNodeEntry& node : area.nodes) {
    const std::uint32_t parent = nodes_[node.parent];
    const auto [known, is_new] =
        node_numbers_.try_emplace(std::uint64_t{parent} << 32 | node.function,
                                  static_cast<std::uint32_t>(result_.nodes.size()));
    if (is_new) {
      result_.nodes.push_back({parent, node.function, 0});
      result_.node_values.resize(result_.node_values.size() + places_.size());
    }
    nodes_.push_back(known->second);
    result_.nodes[known->second].calls += node.calls;
    add_to_node(known->second, node.value, node.self);
  }
}

void CallCounting::add_to_node(std::uint32_t node, const std::uint64_t* value,
                               const std::uint64_t* self) {
  for (std::size_t q = 0; q < places_.size(); ++q) {
    CallValue& sum = result_.node_values[node * places_.size() + q];
    sum.value += value[places_[q]];
    sum.self += self[places_[q]];
  }
}

void CallCounting::add_call(const engine::CallRecord& record, std::uint16_t flags) {
  if ((record.flags & engine::kFrameEndedEarly) != 0) flags |= sample::kEndedEarly;
  if ((record.flags & engine::kFrameRecursive) != 0) flags |= sample::kRecursive;
  result_.calls.push_back({record.function, thread_, record.begin, record.value[engine::kTicks],
                           record.depth,
                           record.caller == 0 ? sample::kNoFunction : record.caller - 1, flags});
  for (const std::uint32_t place : places_)
    result_.values.push_back({record.value[place], record.self[place]});
}

void CallCounting::add_open(const engine::OpenCall& open) {
  const engine::CallRecord& record = open.record;
  sample::CallStatistics& statistics = result_.statistics[record.function];
  ++statistics.open;
  const bool is_outermost = (record.flags & engine::kFrameRecursive) == 0;
  for (std::size_t q = 0; q < places_.size(); ++q) {
    if (is_outermost) statistics.of[q].total += record.value[places_[q]];
    statistics.of[q].self += record.self[places_[q]];
  }
  if (open.node != 0) add_to_node(nodes_[open.node], record.value, record.self);
  if (request_.keeps_calls) add_call(record, sample::kOpen);
}

void CallCounting::add_notes() {
  if (lost_nodes_ != 0)
    result_.notes.push_back(
        fmt::format("the tree lacks {} calls: there are more paths than {} per thread", lost_nodes_,
                    engine::kMaxCallNodes));
  if (guide_.left_out() != 0)
    result_.notes.push_back(
        fmt::format("functions that were not watched, since {1} are the most: {0}",
                    guide_.left_out(), engine::kMaxCallFunctions));
}

}  // namespace loft::source::virtual_pmu
#endif
